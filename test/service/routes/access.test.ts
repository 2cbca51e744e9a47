import { describe, expect, it } from 'vitest';
import { listKeys, revokeKey } from '../../../src/service/keys/keys.ts';
import { ENGINES } from '../../support/stores.ts';
import { openHarness } from './harness.ts';

const JOBS = '/apps/monitoring/jobs';
const body = (status: number, errorCode = status) => ({
  errorMessage: expect.any(String),
  httpStatusCode: status,
  errorCode,
});

describe.each(ENGINES)('a key on %s', (engine) => {
  it('gives access, in the query under a name in any case, or in the header', async () => {
    const harness = await openHarness(engine);
    const { key } = await harness.key();
    for (const name of ['accesskey', 'accessKey', 'ACCESSKEY', 'AccessKey'])
      expect((await harness.call('GET', `${JOBS}?${name}=${key}`)).status).toBe(200);
    for (const name of ['x-access-key', 'X-Access-Key'])
      expect((await harness.call('GET', JOBS, { headers: { [name]: key } })).status).toBe(200);
    expect((await harness.call('GET', `${JOBS}?accesskey=${key}`, { headers: { 'x-access-key': key } })).status).toBe(
      200,
    );
  });

  it('is refused once it is revoked', async () => {
    const harness = await openHarness(engine);
    const { id, key } = await harness.key();
    expect((await harness.call('GET', `${JOBS}?accesskey=${key}`)).status).toBe(200);
    expect(await harness.store.write((tx) => revokeKey(tx, id, harness.clock.now()))).toBe(true);
    harness.clock.forward(1_000);
    const answer = await harness.call('GET', `${JOBS}?accesskey=${key}`);
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(body(401));
    const [revoked] = await listKeys(harness.store.db);
    harness.clock.forward(60_000);
    expect(await harness.store.write((tx) => revokeKey(tx, id, harness.clock.now()))).toBe(true);
    expect(await listKeys(harness.store.db)).toEqual([revoked]);
  });

  it('is stored as a digest, with its last use to the minute', async () => {
    const harness = await openHarness(engine);
    const { id, key } = await harness.key();
    expect(key).toMatch(/^cvrsync_[\w-]{43}$/);
    const usedAt = async () => (await listKeys(harness.store.db))[0]?.usedAt;
    expect(await usedAt()).toBeNull();
    const call = () => harness.call('GET', `${JOBS}?accesskey=${key}`);
    await call();
    await expect.poll(usedAt).not.toBeNull();
    const first = await usedAt();
    harness.clock.forward(30_000);
    await call();
    harness.clock.forward(31_000);
    expect(await usedAt()).toBe(first);
    await call();
    await expect.poll(usedAt).toBeGreaterThan(Number(first) + 60_000);
    const row = await harness.store.db.selectFrom('api_key').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(key);
    expect(JSON.stringify(row)).not.toContain(key.slice(8));
  });
});

describe('access control', () => {
  it.each([
    ['no key', JOBS],
    ['an empty key', `${JOBS}?accesskey=`],
    ['a key that is none', `${JOBS}?accesskey=sesame`],
    ['a key that was never made', `${JOBS}?accesskey=cvrsync_${'A'.repeat(43)}`],
    ['a key under another name', `${JOBS}?apikey=cvrsync_${'A'.repeat(43)}`],
  ])('refuses %s with 401', async (_what, path) => {
    const harness = await openHarness();
    const answer = await harness.call('GET', path);
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(body(401));
  });

  it('refuses two keys that differ with 400, wherever they are, and accepts one that is repeated', async () => {
    const harness = await openHarness();
    const [{ key }, other] = [await harness.key(), await harness.key()];
    const two = await harness.call('GET', `${JOBS}?accesskey=${key}&accessKey=${other.key}`);
    expect(two.status).toBe(400);
    expect(two.json).toEqual(body(400));
    expect(two.text).not.toContain(key);
    expect((await harness.call('GET', `${JOBS}?accesskey=${key}&accesskey=${other.key}`)).status).toBe(400);
    const headers = { 'x-access-key': other.key };
    expect((await harness.call('GET', `${JOBS}?accesskey=${key}`, { headers })).status).toBe(400);
    expect((await harness.call('GET', `${JOBS}?accesskey=${key}&ACCESSKEY=${key}`)).status).toBe(200);
  });

  it('refuses a key without the scope with 403', async () => {
    const harness = await openHarness();
    const { key } = await harness.key(['news', 'testwebhook']);
    const answer = await harness.call('GET', `${JOBS}?accesskey=${key}`);
    expect(answer.status).toBe(403);
    expect(answer.json).toEqual(body(403));
  });

  it('requires a key before any other check', async () => {
    const harness = await openHarness();
    const answer = await harness.call('GET', `${JOBS}/no-job/items?take=-5`);
    expect(answer.status).toBe(401);
  });

  it('writes no key to the log or an answer, even if the call fails by our fault', async () => {
    const harness = await openHarness();
    const { key } = await harness.key();
    await harness.store.write((tx) => tx.schema.dropTable('monitor').execute());
    for (const method of ['GET', 'PATCH']) {
      const answer = await harness.call(method, `${JOBS}?accessKey=${key}`, { headers: { 'x-access-key': key } });
      expect(answer.status).toBe(method === 'GET' ? 500 : 405);
      expect(answer.text).not.toContain(key);
    }
    expect(harness.logged).toHaveLength(1);
    expect(JSON.stringify(harness.logged, Object.getOwnPropertyNames(new Error('x')))).not.toContain(key);
    expect(String(harness.logged.map((line) => JSON.stringify(line)))).not.toContain(key);
  });
});

describe('the limit', () => {
  it('refuses the 501st call of a minute that began with the first, and accepts calls of the next minute', async () => {
    const harness = await openHarness();
    const { key } = await harness.key();
    const other = await harness.key();
    const call = () => harness.call('GET', JOBS, { headers: { 'x-access-key': key } });
    await call();
    harness.clock.forward(45_000);
    const statuses = await Promise.all(Array.from({ length: 499 }, async () => (await call()).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const late = await call();
    expect(late.status).toBe(429);
    expect(late.json).toEqual(body(429, 26));
    const wait = Number(late.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(5);
    expect(wait).toBeLessThanOrEqual(15);
    expect((await harness.call('GET', `${JOBS}?accesskey=${other.key}`)).status).toBe(200);
    harness.clock.forward((wait - 4) * 1_000);
    expect((await call()).status).toBe(429);
    harness.clock.forward(4_000);
    expect((await call()).status).toBe(200);
  });

  it('counts calls that are refused for another reason too', async () => {
    const harness = await openHarness('sqlite', { requestsPerMinute: 3 });
    const { key } = await harness.key();
    const statuses: number[] = [];
    for (const path of ['/x/items', '/x/items?take=0', '', ''])
      statuses.push((await harness.call('GET', `${JOBS}${path}`, { headers: { 'x-access-key': key } })).status);
    expect(statuses).toEqual([404, 422, 200, 429]);
  });
});
