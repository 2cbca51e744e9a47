/** The small pure parts: ids, values, SOQL, grants, hosts. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { grantOf } from '../../../providers/salesforce/client/grant.ts';
import {
  canonicalId,
  idInAddress,
  isAccountId,
  permissionSetsAddress,
  recordAddress,
  toLongId,
} from '../../../providers/salesforce/client/ids.ts';
import { trustedInstance } from '../../../providers/salesforce/client/instance.ts';
import { quote, scanQuery, whereaboutsQuery } from '../../../providers/salesforce/read/soql.ts';
import { fromSalesforce, toSalesforce } from '../../../providers/salesforce/read/values.ts';
import { settingsOf } from './setup.ts';

describe('ids', () => {
  it('of 15 characters get the three that make them safe to compare', () => {
    expect(toLongId('001D000000IqhSL')).toBe('001D000000IqhSLIAZ');
    expect(toLongId('001D000000IqhSLIAZ')).toBe('001D000000IqhSLIAZ');
    expect(toLongId('001D000000IqhSl')).not.toBe(toLongId('001D000000IqhSL'));
  });

  it('of accounts are distinguished from others', () => {
    expect(isAccountId('001D000000IqhSL')).toBe(true);
    expect(isAccountId('001D000000IqhSLiaz')).toBe(true);
    for (const id of ['001D000000IqhSLIAA', '003D000000IqhSL', '001D000000IqhS', "001D000000Iqh'L", ''])
      expect(isAccountId(id)).toBe(false);
  });
});

describe('the account in an address', () => {
  const id = '001D000000IqhSLIAZ';
  it.each([
    [`https://birk.lightning.force.com/lightning/r/Account/${id}/view?x=1`, id],
    [`https://birk.lightning.force.com/lightning/r/${id}/related/Contacts/view`, id],
    ['https://birk.my.salesforce.com/001D000000IqhSL', '001D000000IqhSL'],
    [`https://other.lightning.force.com/lightning/r/Account/${id}/view`, undefined],
    ['https://birk.lightning.force.com/lightning/r/Contact/003D000000IqhSLIAZ/view', undefined],
    [`https://birk.lightning.force.com.example.com/lightning/r/Account/${id}/view`, undefined],
  ])('%s is %s', (address, found) => {
    expect(idInAddress(new URL(address), { loginUrl: 'https://birk.my.salesforce.com' })).toBe(found);
  });
});

describe('the address of an account', () => {
  const id = '001D000000IqhSLIAZ';
  it.each([
    ['https://birk.my.salesforce.com', 'https://birk.lightning.force.com'],
    ['https://birk--test.sandbox.my.salesforce.com', 'https://birk--test.sandbox.lightning.force.com'],
  ])('in the org of %s is on %s', (loginUrl, site) => {
    const address = recordAddress(id, '00D000000000001EAA', { loginUrl });
    expect(address).toBe(`${site}/lightning/r/Account/${id}/view`);
    expect(idInAddress(new URL(address ?? ''), { loginUrl })).toBe(id);
    expect(permissionSetsAddress({ loginUrl })).toBe(`${site}/lightning/setup/PermSets/home`);
  });

  it('is unknown if the settings name no My Domain', () => {
    const loginUrl = 'https://login.salesforce.com';
    expect(recordAddress(id, '00D000000000001EAA', { loginUrl })).toBeUndefined();
    expect(permissionSetsAddress({ loginUrl })).toBeUndefined();
  });
});

describe('the canonical form of a Salesforce id in 15 and in 18 characters', () => {
  it('is the same, however the account was named', () => {
    const id = '001D000000IqhSLIAZ';
    for (const text of ['001D000000IqhSL', id, '001D000000IqhSLiaz'])
      expect(canonicalId(text)).toEqual({ kind: 'id', id });
  });

  it.each([
    ['003D000000IqhSL', 'begins with 003'],
    ['001D000000IqhSLIAA', 'last three characters'],
    ['001d000000iqhsliaz', 'last three characters'],
    ['Nordlys', '15 or 18'],
    ['001D000000IqhS/view', '15 or 18'],
  ])('is refused to %s with a reason', (text, reason) => {
    expect(canonicalId(text)).toEqual({ kind: 'none', reason: expect.stringContaining(reason) });
  });
});

describe('values', () => {
  it.each([
    ['  a b ', 'string', 'a b'],
    ['   ', 'string', null],
    [null, 'boolean', false],
    [null, 'double', null],
    [0, 'double', 0],
    [false, 'boolean', false],
  ])('%j of type %s is sent as %j', (value, type, sent) => expect(toSalesforce(value, type)).toBe(sent));

  it.each([
    ['2026-08-01T10:00:00.000+0000', 'datetime', '2026-08-01T10:00:00.000Z'],
    ['2026-08-01', 'date', '2026-08-01'],
    ['a\r\nb', 'textarea', 'a\nb'],
    [{ city: 'Aarhus' }, 'address', null],
    [undefined, undefined, null],
  ])('%j of type %s is read as %j', (value, type, read) => expect(fromSalesforce(value, type)).toBe(read));
});

describe('SOQL', () => {
  it('escapes quotes and backslashes, a backslash at the end too', () => {
    expect(quote("O'Neill \\")).toBe("'O\\'Neill \\\\'");
  });

  it('keeps 60 ids under 2,000 characters of address', () => {
    const soql = whereaboutsQuery(Array.from({ length: 60 }, () => '001D000000IqhSLIAZ'));
    expect(
      `https://a-long-company-name--sandbox.sandbox.my.salesforce.com/services/data/v67.0/queryAll?q=${encodeURIComponent(soql)}`
        .length,
    ).toBeLessThan(2_000);
  });

  it('rejects a field that is not a name', () => {
    expect(scanQuery(['Name'], undefined, 10)).toBe('SELECT Id, Name FROM Account ORDER BY Id LIMIT 10');
    expect(() => scanQuery(['Name FROM User'], undefined, 10)).toThrow();
  });
});

describe('the host of an org', () => {
  const login = 'https://login.salesforce.com';
  it.each([
    'https://birk.my.salesforce.com',
    'https://birk--dev.sandbox.my.salesforce.com/',
    'https://na1.salesforce.com',
  ])('%s is trusted', (url) => expect(trustedInstance(url, login)).toBe(url.replace(/\/$/, '')));

  it.each([
    'https://evil.example/x.salesforce.com',
    'https://salesforce.com.evil.example',
    'https://evilsalesforce.com',
    'http://birk.my.salesforce.com',
    'https://user@birk.my.salesforce.com',
    'https://birk.lightning.force.com',
    'http://127.0.0.1:8080',
    'junk',
  ])('%s is not', (url) => expect(trustedInstance(url, login)).toBeUndefined());

  it('may be the one tokens come from', () => {
    expect(trustedInstance('http://127.0.0.1:8080/org', 'http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080/org');
    expect(trustedInstance('http://127.0.0.1:8081', 'http://127.0.0.1:8080')).toBeUndefined();
  });
});

describe('a JWT bearer grant', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const jwt = (key: string, more: object = {}) =>
    settingsOf({ auth: { flow: 'jwt-bearer', clientId: 'app', username: 'a@b.example', privateKey: key, ...more } });
  const now = Date.parse('2026-10-01T08:00:00Z');

  it('is signed with RS256, for the login host, and ends within three minutes', () => {
    const { assertion = '' } = grantOf(jwt(pem), undefined, now);
    const [head = '', body = '', signature = ''] = assertion.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(head)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(read(body)).toEqual({
      iss: 'app',
      sub: 'a@b.example',
      aud: 'https://login.salesforce.com',
      exp: now / 1_000 + 180,
    });
    const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }));
    expect(verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  it('accepts another audience, and a key on one line', () => {
    const { assertion = '' } = grantOf(
      jwt(pem.replaceAll('\n', '\\n'), { audience: 'https://test.salesforce.com' }),
      undefined,
      now,
    );
    expect(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString()).toContain(
      '"aud":"https://test.salesforce.com"',
    );
  });

  it('with a key that cannot be read is an auth fault that reveals nothing of it', () => {
    const broken = `-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----`;
    expect(() => grantOf(jwt(broken), undefined, now)).toThrow(ProviderError);
    expect(() => grantOf(jwt(broken), undefined, now)).toThrow(/^auth\.privateKey is not an RSA private key in PEM$/);
  });
});
