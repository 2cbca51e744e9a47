import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { converse } from '../../support/sockets.ts';
import { type House, openHouse } from './house.ts';

const TOKEN = 'a-token-of-some-length';
const MONITORS = '/admin/api/monitors';

/** As `fetch`, which does not let one set `Host`. */
const raw = (house: House, headers: Record<string, string>, host = '127.0.0.1'): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request({ host, port: house.port, path: MONITORS, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('error', reject).end();
  });

describe('with a token', () => {
  it.each([
    ['none', undefined],
    ['a wrong one', 'Bearer another-token-of-length'],
    ['the beginning of it', `Bearer ${TOKEN.slice(0, -1)}`],
    ['more than it', `Bearer ${TOKEN}x`],
    ['another scheme', `Basic ${Buffer.from(`admin:${TOKEN}`).toString('base64')}`],
    ['it in another case', `Bearer ${TOKEN.toUpperCase()}`],
    ['nothing after the scheme', 'Bearer '],
  ])('administration refuses %s, even from this machine', async (_what, authorization) => {
    const house = await openHouse('sqlite', { adminToken: TOKEN });
    const answer = await house.call('GET', MONITORS, { headers: authorization === undefined ? {} : { authorization } });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ httpStatusCode: 401, errorCode: 401 });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.text).not.toContain(TOKEN);
  });

  it.each([`Bearer ${TOKEN}`, `bearer  ${TOKEN}`])('administration lets in who has it: %s', async (authorization) => {
    const house = await openHouse('sqlite', { adminToken: TOKEN });
    expect((await house.call('GET', MONITORS, { headers: { authorization } })).status).toBe(200);
    expect(
      (await house.call('GET', MONITORS, { headers: { authorization, 'x-forwarded-for': '192.0.2.1' } })).status,
    ).toBe(200);
  });

  it('is no access key, and an access key is no token but for the scope admin', async () => {
    const house = await openHouse('sqlite', { adminToken: TOKEN });
    const usual = await house.key();
    const admin = await house.key(['admin']);
    const status = async (key: string) =>
      (await house.call('GET', MONITORS, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status(usual.key)).toBe(403);
    expect(await status(admin.key)).toBe(200);
    expect((await house.call('GET', `${MONITORS}?accesskey=${admin.key}`)).status).toBe(401);
    expect((await house.call('GET', `/apps/monitoring/jobs?accesskey=${TOKEN}`)).status).toBe(401);
  });
});

describe('without a token', () => {
  it('administration answers this machine, under its own names', async () => {
    const house = await openHouse();
    expect(await raw(house, {})).toBe(200);
    expect(await raw(house, { host: `localhost:${house.port}` })).toBe(200);
    expect(await raw(house, { origin: house.url, host: new URL(house.url).host })).toBe(200);
  });

  it.each([
    ['a proxy passed on', { 'x-forwarded-for': '127.0.0.1' }],
    ['was posted from here as a webhook', { 'webhook-id': 'msg_1' }],
    ['a proxy named', { forwarded: 'for=127.0.0.1' }],
    ['another proxy passed on', { 'X-Forwarded-Proto': 'https' }],
    ['a page of another origin sent', { origin: 'https://evil.example' }],
    ['a page of no origin sent', { origin: 'null' }],
    ['was sent to a name of somebody else', { host: 'evil.example' }],
    ['was sent to a name that begins like ours', { host: 'localhost.evil.example' }],
  ])('administration refuses what %s', async (_what, headers) => {
    const house = await openHouse();
    expect(await raw(house, headers)).toBe(403);
  });

  it('administration refuses what speaks the HTTP of a proxy that adds nothing', async () => {
    const house = await openHouse();
    const said = await converse(house.port, `GET ${MONITORS} HTTP/1.0\r\nHost: 127.0.0.1:${house.port}\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1.1 403 /);
  });

  it('administration refuses everybody where a proxy stands before us', async () => {
    const house = await openHouse('sqlite', { isProxied: true });
    expect(await raw(house, {})).toBe(403);
    const { key } = await house.key(['admin']);
    expect(await raw(house, { authorization: `Bearer ${key}` })).toBe(200);
  });

  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

  it.skipIf(outside === undefined)('administration refuses another machine, whatever it calls itself', async () => {
    const house = await openHouse('sqlite', { host: '0.0.0.0' });
    expect(await raw(house, {}, outside)).toBe(403);
    expect(await raw(house, { host: 'localhost' }, outside)).toBe(403);
    expect(await raw(house, { host: 'localhost' }, '127.0.0.1')).toBe(200);
  });

  it('administration refuses a token: there is none to be right', async () => {
    const house = await openHouse();
    expect(await raw(house, { authorization: 'Bearer undefined' })).toBe(401);
  });
});
