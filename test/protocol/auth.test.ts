import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { type Auth, authSchema, type Headers, signRequest, verifyAuth } from '../../src/protocol/auth.ts';

// The example of https://github.com/standard-webhooks/standard-webhooks: secret, id, time, body and signature.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const KNOWN = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampMs: 1_614_265_330_000, body: '{"test": 2432232314}' };
const KNOWN_SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

const header: Auth = { method: 'Header', key: 'X-Webhook-Key', value: 'open sesame' };
const basic: Auth = { method: 'BasicAuth', key: 'monitor', value: 'pæ:ss' };
const signature: Auth = { method: 'Signature', secret: SECRET };
const other: Auth = { method: 'Signature', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
const body = Buffer.from(KNOWN.body);
const NOW = KNOWN.timestampMs;

const verify = (auths: readonly Auth[], headers: Headers, bytes = body, now = NOW) =>
  verifyAuth(auths, headers, bytes, now);

describe('signatures', () => {
  it('are those of Standard Webhooks', () => {
    expect(signRequest(signature, KNOWN)).toEqual({
      'webhook-id': KNOWN.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': KNOWN_SIGNATURE,
    });
  });

  it('hold for the very bytes, id and time only', () => {
    const headers = signRequest(signature, KNOWN);
    expect(verify([signature], headers)).toEqual({ ok: true, signed: true });
    expect(verify([signature], headers, Buffer.from(`${KNOWN.body} `)).ok).toBe(false);
    expect(verify([signature], { ...headers, 'webhook-id': 'msg_2' }).ok).toBe(false);
    expect(verify([signature], { ...headers, 'webhook-timestamp': '1614265331' }).ok).toBe(false);
    expect(verify([other], headers).ok).toBe(false);
  });

  it('hold for five minutes, both ways', () => {
    const headers = signRequest(signature, KNOWN);
    const at = (offSeconds: number) => verify([signature], headers, body, NOW + offSeconds * 1000).ok;
    expect([at(-301), at(-300), at(300), at(301)]).toEqual([false, true, true, false]);
  });

  it('may come in several, of which one must match', () => {
    const headers = signRequest(signature, KNOWN);
    const several = `v1a,AAAA v1,${Buffer.alloc(32).toString('base64')} ${KNOWN_SIGNATURE}`;
    expect(verify([signature], { ...headers, 'webhook-signature': several }).ok).toBe(true);
    expect(verify([signature], { ...headers, 'webhook-signature': KNOWN_SIGNATURE.replace('v1,', 'v2,') }).ok).toBe(
      false,
    );
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('need the header %s', (name) => {
    const headers: Headers = { ...signRequest(signature, KNOWN), [name]: undefined };
    expect(verify([signature], headers)).toMatchObject({ ok: false, reason: expect.stringContaining(name) });
  });

  it.each(['soon', '1614265330.5', '-1', '1e9', ''])('need a time in seconds, not %j', (time) => {
    expect(verify([signature], { ...signRequest(signature, KNOWN), 'webhook-timestamp': time }).ok).toBe(false);
  });
});

describe('a shared header', () => {
  it('is found in any case of its name', () => {
    expect(verify([header], { 'x-webhook-key': 'open sesame' })).toEqual({ ok: true });
    expect(verify([header], signRequest(header, KNOWN))).toEqual({ ok: true });
  });

  it.each<[string, Headers]>([
    ['missing', {}],
    ['empty', { 'x-webhook-key': '' }],
    ['another', { 'x-webhook-key': 'open sesam' }],
    ['in another case', { 'x-webhook-key': 'Open Sesame' }],
    ['repeated with another value', { 'x-webhook-key': ['open sesame', 'guess'] }],
    ['repeated under two spellings', { 'x-webhook-key': 'open sesame', 'X-Webhook-Key': 'guess' }],
    ['repeated and joined', { 'x-webhook-key': 'guess, open sesame' }],
  ])('is refused when it is %s', (_, headers) => {
    expect(verify([header], headers).ok).toBe(false);
  });
});

describe('Basic', () => {
  it('takes what a sender sends, with any case of the scheme and any text as password', () => {
    const headers = signRequest(basic, KNOWN);
    expect(verify([basic], headers)).toEqual({ ok: true });
    expect(verify([basic], { Authorization: headers['authorization']?.replace('Basic', 'bAsIc') })).toEqual({
      ok: true,
    });
  });

  it.each([
    'Basic',
    'Bearer abc',
    'Basic !!!',
    `Basic ${Buffer.from('monitor:pæ').toString('base64')}`,
    `Basic ${Buffer.from('pæ:ss').toString('base64')}`,
  ])('refuses %j', (authorization) => {
    expect(verify([basic], { authorization }).ok).toBe(false);
  });
});

describe('several secrets', () => {
  it('are all good while both are active, also of different methods', () => {
    const headers = signRequest(signature, KNOWN);
    expect(verify([other, signature], headers)).toEqual({ ok: true, signed: true });
    expect(verify([signature, other], headers)).toEqual({ ok: true, signed: true });
    expect(verify([signature, header], { 'x-webhook-key': 'open sesame' })).toEqual({ ok: true });
  });

  it('let nobody in when there is none, and everybody when the method is None', () => {
    expect(verify([], {})).toMatchObject({ ok: false });
    expect(verify([{ method: 'None' }], {})).toEqual({ ok: true });
    expect(signRequest({ method: 'None' }, KNOWN)).toEqual({});
  });

  it('never show in a reason', () => {
    for (const auth of [header, basic, signature]) {
      const verdict = verify([auth], {
        authorization: 'Basic Z3Vlc3M6Z3Vlc3M=',
        'x-webhook-key': 'my guess',
        ...signRequest(other, KNOWN),
      });
      const reason = verdict.ok ? '' : verdict.reason;
      expect(reason).not.toBe('');
      for (const secret of ['open sesame', 'pæ:ss', SECRET.slice(6), 'guess', 'Z3Vlc3M'])
        expect(reason).not.toContain(secret);
    }
  });
});

describe('the configuration', () => {
  it.each([header, basic, signature, { method: 'None' }])('takes %j', (auth) => {
    expect(Value.Check(authSchema, auth)).toBe(true);
  });

  it.each([
    { method: 'Header', key: 'X Webhook', value: 'a' },
    { method: 'Header', key: 'X-Webhook', value: 'a\r\nX-Other: b' },
    { method: 'Header', key: 'X-Webhook', value: '' },
    { method: 'BasicAuth', key: 'a:b', value: 'c' },
    { method: 'Signature', secret: 'whsec_c2hvcnQ=' },
    { method: 'Kerberos', key: 'a', value: 'b' },
    { method: 'None', value: 'x' },
  ])('refuses %j', (auth) => {
    expect(Value.Check(authSchema, auth)).toBe(false);
  });

  it('marks every secret', () => {
    const secrets = authSchema.anyOf.map((option) =>
      Object.entries(option.properties)
        .filter(([, schema]) => 'secret' in schema && schema.secret === true)
        .map(([name]) => name),
    );
    expect(secrets).toEqual([[], ['value'], ['value'], ['secret']]);
  });
});
