import { describe, expect, it } from 'vitest';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { itemsAt, openHarness, problemsIn } from './harness.ts';

const NOBODY = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const item = { entityId: 'CVR-1-10000001', id: '7' };

describe.each(SUITE_ENGINES)('keys and jobs on %s', (engine) => {
  it('are created, used, handed over and ended', async () => {
    const harness = await openHarness(engine);
    const make = async (body: object) => (await harness.call('POST', '/admin/api/keys', { body })).json;
    const first = (await make({ name: 'One' })) as { id: string; key: string };
    harness.clock.forward(1);
    const second = (await make({ name: 'Two', scopes: ['monitoring'] })) as { id: string; key: string };
    const made = await harness.call('POST', '/admin/api/jobs', {
      body: { provider: 'HubSpot', key: first.id, url: 'https://hooks.example.com/a', emails: ['anna@example.com'] },
    });
    expect(made.status).toBe(201);
    const { id, signingSecret } = made.json as { id: string; signingSecret: string };
    expect(signingSecret).toMatch(/^whsec_/);
    const add = async (key: string) =>
      (await harness.call('POST', itemsAt('hubspot', { ...item, accesskey: key }))).status;
    expect([await add(first.key), await add(second.key)]).toEqual([204, 404]);
    for (let time = 0; time < 2; time++) {
      const moved = await harness.call('PATCH', `/admin/api/jobs/${id}`, { body: { key: second.id } });
      expect(moved.status).toBe(204);
    }
    expect([await add(first.key), await add(second.key)]).toEqual([404, 204]);

    for (let time = 0; time < 2; time++)
      expect((await harness.call('DELETE', `/admin/api/keys/${first.id}`)).status).toBe(204);
    const keys = await harness.call('GET', '/admin/api/keys');
    expect(keys.json).toEqual([
      expect.objectContaining({
        id: first.id,
        name: 'One',
        scopes: ['monitoring', 'news', 'testwebhook'],
        revokedAt: expect.any(String),
      }),
      expect.objectContaining({ id: second.id, scopes: ['monitoring'], revokedAt: null }),
    ]);
    expect(keys.text).not.toContain('cvrsync_');
    const jobs = await harness.call('GET', '/admin/api/jobs');
    expect(jobs.json).toEqual([
      expect.objectContaining({ id, provider: 'HubSpot', owner: second.id, target: 'items' }),
    ]);
    expect(jobs.text).not.toContain(signingSecret);
    expect((await harness.call('DELETE', `/admin/api/jobs/${id}`)).status).toBe(204);
    expect(await add(second.key)).toBe(404);
  });
});

describe('a revoked key', () => {
  it('has its jobs disabled, and no job of another key', async () => {
    const harness = await openHarness();
    const [ended, other] = [await harness.key(), await harness.key()];
    const jobs = [await harness.job(ended.id, 'hubspot'), await harness.job(other.id, 'hubspot')];
    expect((await harness.call('DELETE', `/admin/api/keys/${ended.id}`)).status).toBe(204);
    const rows = await harness.store.db.selectFrom('monitor').select(['id', 'enabled']).execute();
    expect(jobs.map((job) => rows.find(({ id }) => id === job)?.enabled)).toEqual([0, 1]);
  });
});

describe('an invalid job', () => {
  it.each([
    ['for a key that is none', { key: NOBODY }, 'body.key is no API key'],
    ['for a provider that has one, in another case', { provider: 'HUBSPOT' }, 'body.provider has a job of this key'],
    ['for a provider with a blank', { provider: 'hub spot' }, 'body.provider should be'],
    ['for no provider', { provider: undefined }, 'body.provider is missing'],
    ['with a target', { provider: 'crm', target: 'all' }, 'body.target is not known'],
  ])('answers 422 and names the place: %s', async (_what, more, problem) => {
    const harness = await openHarness();
    const { id: key } = await harness.key();
    await harness.job(key, 'hubspot');
    const body = { provider: 'hubspot', key, url: 'https://hooks.example.com/a', ...more };
    const answer = await harness.call('POST', '/admin/api/jobs', { body });
    expect(answer.status).toBe(422);
    expect(problemsIn(answer)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });

  it('answers 404 if it does not exist, or is a monitor', async () => {
    const harness = await openHarness();
    const { id: key } = await harness.key();
    const made = await harness.call('POST', '/admin/api/monitors', { body: { name: 'List' } });
    const { id } = made.json as { id: string };
    for (const job of [NOBODY, id]) {
      expect((await harness.call('DELETE', `/admin/api/jobs/${job}`)).status).toBe(404);
      expect((await harness.call('PATCH', `/admin/api/jobs/${job}`, { body: { key } })).status).toBe(404);
    }
    expect((await harness.call('DELETE', `/admin/api/keys/${NOBODY}`)).status).toBe(404);
  });

  it('is not created for a key that may not have one, or handed to it', async () => {
    const harness = await openHarness();
    const [{ id: key }, { id: news }] = [await harness.key(), await harness.key(['news'])];
    const id = await harness.job(key, 'hubspot');
    const moved = await harness.call('PATCH', `/admin/api/jobs/${id}`, { body: { key: news } });
    expect(moved.status).toBe(422);
    expect(problemsIn(moved)).toEqual(['body.key does not have the scope monitoring']);
  });
});

describe('an invalid key', () => {
  it.each([
    {},
    { name: '' },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['everything'] },
    { name: 'x', key: 'mine' },
  ])('answers 422: %j', async (body) => {
    const harness = await openHarness();
    expect((await harness.call('POST', '/admin/api/keys', { body })).status).toBe(422);
    expect((await harness.call('GET', '/admin/api/keys')).json).toEqual([]);
  });
});
