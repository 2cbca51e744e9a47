import { describe, expect, it } from 'vitest';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { type Answer, type Harness, itemsAt, openHarness, problemsIn } from './harness.ts';

const JOBS = '/apps/monitoring/jobs';
const company = (index: number): string => `CVR-1-${10_000_000 + index}`;

interface Page {
  readonly results: readonly { readonly entityId: string; readonly id: string }[];
  readonly continuationToken?: string;
}
// What the test reads of an answer is then held against what was added.
const pageOf = ({ json }: Answer): Page => json as Page;

const furnished = async (engine: (typeof ENGINES)[number] = 'sqlite', items = 0) => {
  const harness = await openHarness(engine);
  const { id: keyId, key } = await harness.key();
  const jobId = await harness.job(keyId, 'hubspot');
  for (let i = 0; i < items; i++) await add(harness, key, i);
  const list = (query: Record<string, string> = {}, job = jobId) =>
    harness.call('GET', `${JOBS}/${job}/items?${new URLSearchParams(query)}`, { headers: { 'x-access-key': key } });
  return { harness, keyId, key, jobId, list };
};
const change = async (harness: Harness, method: string, key: string, index: number): Promise<void> => {
  const path = itemsAt('hubspot', { entityId: company(index), id: String(index) });
  expect((await harness.call(method, path, { headers: { 'x-access-key': key } })).status).toBe(204);
};
const add = (harness: Harness, key: string, index: number) => change(harness, 'POST', key, index);

describe.each(SUITE_ENGINES)('jobs on %s', (engine) => {
  it('are those of the key alone, in a bare array', async () => {
    const { harness, keyId, key, jobId } = await furnished(engine);
    const second = await harness.job(keyId, 'Salesforce', { name: 'Sales' });
    const stranger = await harness.key();
    await harness.job(stranger.id, 'hubspot');
    const answer = await harness.call('GET', JOBS, { headers: { 'x-access-key': key } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json).toEqual([
      { id: second, name: 'Sales', provider: 'Salesforce' },
      { id: jobId, name: 'hubspot', provider: 'hubspot' },
    ]);
    const nobody = await harness.key();
    expect((await harness.call('GET', JOBS, { headers: { 'x-access-key': nobody.key } })).json).toEqual([]);
  });

  it('list their items in the order of adding, with company, id, provider and time', async () => {
    const { list } = await furnished(engine, 2);
    const answer = await list();
    expect(answer.json).toEqual({
      results: [0, 1].map((index) => ({
        entityId: company(index),
        id: String(index),
        provider: 'hubspot',
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      })),
    });
  });

  it('begin at the first page for an empty continuationToken=, which counts as absent', async () => {
    const { list } = await furnished(engine, 2);
    expect((await list({ continuationToken: '' })).json).toEqual((await list()).json);
  });

  it('page through every item once while others come and go', async () => {
    const { harness, key, list } = await furnished(engine, 6);
    const seen: string[] = [];
    let token: string | undefined;
    for (let round = 0; round < 10; round++) {
      const page = pageOf(await list({ take: '2', ...(token !== undefined && { continuationToken: token }) }));
      seen.push(...page.results.map(({ id }) => id));
      token = page.continuationToken;
      if (token === undefined) break;
      if (round === 0) {
        await change(harness, 'DELETE', key, 1);
        await change(harness, 'DELETE', key, 3);
        await add(harness, key, 6);
      }
    }
    expect(seen).toEqual(['0', '1', '2', '4', '5', '6']);
  });
});

describe('a job', () => {
  it.each([
    ['no id of ours', 'nothing'],
    ['a GUID of nobody', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
    ['what cannot be an id', "%00'%22--"],
  ])('under %s answers 404', async (_what, id) => {
    const { list } = await furnished();
    const answer = await list({}, id);
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ httpStatusCode: 404, errorCode: 404 });
  });

  it('of another key answers like a missing one', async () => {
    const { harness, jobId, list } = await furnished('sqlite', 1);
    const stranger = await harness.key();
    const theirs = await harness.call('GET', `${JOBS}/${jobId}/items?accesskey=${stranger.key}`);
    const none = await list({}, '3f2504e0-4f89-41d3-9a0c-0305e82c3301');
    expect([theirs.status, theirs.json]).toEqual([404, none.json]);
  });

  it('is found under its id in capitals', async () => {
    const { jobId, list } = await furnished('sqlite', 1);
    expect((await list({}, jobId.toUpperCase())).status).toBe(200);
  });
});

describe('a page', () => {
  it('holds 100 items by default, and 1,000 at most', async () => {
    const { harness, jobId, list } = await furnished();
    const rows = Array.from({ length: 1_001 }, (_, index) => {
      return { monitor: jobId, entity: company(index), record_id: String(index), added_at: 1_700_000_000_000 };
    });
    await harness.store.write((tx) => tx.insertInto('item').values(rows).execute());
    expect(pageOf(await list()).results).toHaveLength(100);
    const longest = pageOf(await list({ take: '1000' }));
    expect(longest.results).toHaveLength(1_000);
    const last = pageOf(await list({ take: '1000', continuationToken: longest.continuationToken ?? '' }));
    expect(last).toEqual({ results: [expect.objectContaining({ id: '1000' })] });
  });

  it('holds 100 items for an empty take=, which counts as absent', async () => {
    const { list } = await furnished('sqlite', 101);
    expect(pageOf(await list({ take: '' })).results).toHaveLength(100);
  });

  it.each([
    '1.5',
    '2.0',
    '1e1',
    ' 5',
    '0x10',
    '0',
    '-1',
    '-9007199254740993',
    '1001',
    '1e9',
    '99999999999999999999999',
    'many',
    '1&take=2',
    'NaN',
  ])('of %s items is refused with 422', async (take) => {
    const { harness, key, jobId } = await furnished();
    const answer = await harness.call('GET', `${JOBS}/${jobId}/items?accesskey=${key}&take=${take}`);
    expect(answer.status).toBe(422);
    expect(problemsIn(answer)).toEqual([expect.stringMatching(/^querystring\.take /)]);
  });

  it('is refused with 422 for a token that was changed, made up, or given for another job', async () => {
    const { harness, keyId, key, list } = await furnished('sqlite', 3);
    const token = pageOf(await list({ take: '1' })).continuationToken ?? '';
    const [body = '', mac = ''] = token.split('.');
    const other = await harness.job(keyId, 'salesforce');
    const forged = [
      'x',
      '1',
      'null',
      body,
      `.${mac}`,
      `${body}.`,
      `${body}.${mac}.${mac}`,
      `${body}.${mac.slice(0, -2)}AA`,
      `${Buffer.from(JSON.stringify([other, 0])).toString('base64url')}.${mac}`,
      `${token}\0`.repeat(20),
      'é'.repeat(400),
    ];
    for (const continuationToken of forged) {
      const answer = await list({ continuationToken });
      expect([continuationToken, answer.status]).toEqual([continuationToken, 422]);
      expect(problemsIn(answer)).toEqual([expect.stringMatching(/^querystring\.continuationToken /)]);
    }
    expect((await list({ continuationToken: token }, other)).status).toBe(422);
    expect((await list({ continuationToken: token })).status).toBe(200);
    const twice = `${JOBS}/${other}/items?accesskey=${key}&continuationToken=${token}&continuationToken=${token}`;
    expect((await harness.call('GET', twice)).status).toBe(422);
  });
});
