import { describe, expect, it } from 'vitest';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { endLink, linkRecord } from '../../../src/connector/links/links.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { REVIEW_KINDS, type ReviewVerb, VERBS } from '../../../src/connector/review/review-kinds.ts';
import { measureReview, readReview } from '../../../src/connector/review/review-list.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim, mark, settle } from '../../../src/runtime/lanes/lanes.ts';

import { createRateLimiter } from '../../../src/runtime/limits/rate-limiter.ts';
import { setAside } from '../../../src/store/erasure/quarantine.ts';
import type { Store } from '../../../src/store/store.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';

const NOW = 1_000_000;
const COMPANY = 'CVR-1-10000001';

/** A store with one of each kind, besides a healthy link, lane and value that need nobody. */
async function troubled(engine: (typeof ENGINES)[number]): Promise<Store> {
  const store = await newStore(engine);
  await store.write(async (tx) => {
    for (const recordId of ['1', '2', '3'])
      await linkRecord(tx, { provider: 'crm', recordId, entity: COMPANY, sendUpdate: false, now: NOW });
    await tx.deleteFrom('lane').execute();
    await tx
      .updateTable('link')
      .set({ state: 'conflict', reason: 'merged twice' })
      .where('record_id', '=', '2')
      .execute();
    await tx
      .updateTable('link')
      .set({ observed: 'refused', observed_error: 'no add-on' })
      .where('record_id', '=', '3')
      .execute();
    const value = { provider: 'crm', record_id: '1' };
    await tx
      .insertInto('property_state')
      .values([
        {
          ...value,
          property: 'industry/kind',
          refused: '"Bogs"',
          refused_reason: 'no such option',
          refused_schema: 'x',
        },
        { ...value, property: 'name', refused: null, refused_reason: null, refused_schema: null },
      ])
      .execute();
    await setAside(tx, { source: 'webhook', reason: 'entityId is missing', body: Buffer.from('{}'), now: NOW });
    await mark(tx, 'sync:crm', ['a/b'], NOW);
  });
  const [taken] = await claim(store, 'sync:crm', { limit: 1, now: NOW, leaseMs: 1_000 });
  if (taken === undefined) throw new Error('nothing to claim');
  await store.write((tx) => settle(tx, taken, { kind: 'parked', at: NOW, error: 'refused: locked' }));
  await store.write((tx) => mark(tx, 'apply', ['healthy'], NOW));
  return store;
}

const ids = async (store: Store) => (await readReview(store.db, NOW)).map(({ id }) => id);
const lanes = async (store: Store) =>
  (
    await store.db
      .selectFrom('lane')
      .select(['queue', 'key'])
      .where('due_at', 'is not', null)
      .orderBy('queue')
      .orderBy('key')
      .execute()
  ).map(({ queue, key }) => `${queue} ${key}`);
/** Gives everything that takes one of these answers that one; what became of it. */
async function answerAll(store: Store, verbs: readonly ReviewVerb[]): Promise<readonly string[]> {
  const found = await readReview(store.db, NOW);
  return store.write(async (tx) => {
    const kinds: string[] = [];
    for (const each of found) {
      const verb = verbs.find((one) => each.verbs.includes(one));
      if (verb !== undefined) kinds.push((await resolveReview(tx, verb, each.id, NOW)).kind);
    }
    return kinds;
  });
}
const ALL = ['lane/sync:crm/a%2Fb', 'link/crm/2', 'link/crm/3', 'value/crm/1/industry%2Fkind', 'body/1'];

describe.each(SUITE_ENGINES)('a review entry, on %s', (engine) => {
  it('is listed with its reason', async () => {
    const store = await troubled(engine);
    const found = await readReview(store.db, NOW);
    expect(found.map(({ id }) => id)).toEqual(ALL);
    expect(found.map(({ reason }) => reason)).toEqual([
      'refused: locked',
      'in conflict: merged twice',
      'the monitoring service refused it: no add-on',
      'no such option',
      'entityId is missing',
    ]);
  });

  it('is counted by kind in the metrics, with 0 for an empty kind', async () => {
    const store = await troubled(engine);
    const { reviewItems } = createMetrics();
    const measured = async (): Promise<unknown> => {
      await measureReview(store.db, reviewItems, NOW);
      return Object.fromEntries((await reviewItems.get()).values.map(({ labels, value }) => [labels.kind, value]));
    };
    const none = Object.fromEntries(REVIEW_KINDS.map((kind) => [kind, 0]));
    expect(await measured()).toEqual({ ...none, lane: 1, link: 2, value: 1, body: 1 });
    await answerAll(store, ['drop', 'keep']);
    await store.write((tx) =>
      tx
        .updateTable('property_state')
        .set({ kept: '"A"', offered: '"B"', kept_at: NOW })
        .where('property', '=', 'name')
        .execute(),
    );
    expect(await measured()).toEqual({ ...none, difference: 1 });
  });

  it('names the answers that it accepts, and refuses others without a change', async () => {
    const store = await troubled(engine);
    const found = await readReview(store.db, NOW);
    expect(found.map(({ verbs }) => verbs)).toEqual([
      ['retry', 'drop'],
      ['accept', 'keep'],
      ['retry', 'drop'],
      ['retry', 'drop'],
      ['drop'],
    ]);
    const before = await lanes(store);
    for (const { id, verbs } of found)
      for (const verb of VERBS.filter((each) => !verbs.includes(each)))
        expect(await store.write((tx) => resolveReview(tx, verb, id, NOW))).toMatchObject({ kind: 'impossible' });
    expect([await ids(store), await lanes(store)]).toEqual([ALL, before]);
  });

  it('is due again after a retry or an accept, except a body', async () => {
    const store = await troubled(engine);
    expect(await answerAll(store, ['retry', 'accept'])).toEqual(['done', 'done', 'done', 'done']);
    expect(await ids(store)).toEqual(['body/1']);
    expect(await lanes(store)).toEqual([
      'apply CVR-1-10000001',
      'apply healthy',
      'monitoring crm:2',
      'monitoring crm:3',
      'sync:crm 1',
      'sync:crm 2',
      'sync:crm 3',
      'sync:crm a/b',
    ]);
    const links = await store.db
      .selectFrom('link')
      .select(['state', 'desired', 'observed'])
      .orderBy('record_id')
      .execute();
    expect(links.slice(1)).toEqual([
      { state: 'active', desired: 'on', observed: 'unknown' },
      { state: 'active', desired: 'on', observed: 'unknown' },
    ]);
  });

  it('disappears after a drop or a keep, and monitoring ends for the links', async () => {
    const store = await troubled(engine);
    expect(await answerAll(store, ['drop', 'keep'])).toEqual(['done', 'done', 'done', 'done', 'done']);
    expect(await ids(store)).toEqual([]);
    expect(await lanes(store)).toEqual([
      'apply CVR-1-10000001',
      'apply healthy',
      'monitoring crm:2',
      'monitoring crm:3',
    ]);
    const links = await store.db.selectFrom('link').select(['state', 'desired']).orderBy('record_id').execute();
    expect(links).toEqual([
      { state: 'active', desired: 'on' },
      { state: 'removed', desired: 'off' },
      { state: 'removed', desired: 'off' },
    ]);
  });
});

describe('an id without a review entry', () => {
  it.each([
    'link/crm/1',
    'lane/apply/healthy',
    'value/crm/1/name',
    'body/99',
    'body/x',
    'lane/x',
    'other/1',
    '',
    'lane/%E0/%A4',
  ])('%j is unknown, and nothing happens', async (id) => {
    const store = await troubled('sqlite');
    const before = await lanes(store);
    for (const verb of ['retry', 'drop'] as const)
      expect(await store.write((tx) => resolveReview(tx, verb, id, NOW))).toEqual({ kind: 'unknown' });
    expect([await ids(store), await lanes(store)]).toEqual([ALL, before]);
  });
});

describe.each(SUITE_ENGINES)('review of records that changed on %s', (engine) => {
  it('explains how to keep the link of a record that was merged into one of another company', async () => {
    const store = await newStore(engine);
    const desired = { provider: 'crm', sendUpdate: false, now: NOW };
    await store.write(async (tx) => {
      await linkRecord(tx, { ...desired, recordId: '1', entity: COMPANY });
      await linkRecord(tx, { ...desired, recordId: '2', entity: 'CVR-1-10000002' });
      await moveLink(tx, { provider: 'crm', from: '1', to: '2', now: NOW });
    });
    const [first] = await readReview(store.db, NOW);
    expect(first?.reason).toContain(
      'into record 2, which stands for CVR-1-10000002: to move this link there, remove the one of 2 first with cvrsync review keep',
    );
  });

  it('lists no values of a record that is no longer linked', async () => {
    const store = await troubled(engine);
    await store.write((tx) => endLink(tx, { provider: 'crm', recordId: '1', state: 'gone', reason: 'x', now: NOW }));
    expect((await readReview(store.db, NOW)).filter(({ kind }) => kind === 'value')).toEqual([]);
  });
});

describe.each(SUITE_ENGINES)('the review list, on %s', (engine) => {
  it('shows an unreadable register document as such, not as a webhook body', async () => {
    const store = await newStore(engine);
    const document = { source: 'register', subject: '10000001', reason: 'it has no CVR number' } as const;
    await store.write((tx) => setAside(tx, { ...document, body: Buffer.from('{"Vrvirksomhed":{}}'), now: NOW }));
    const [found] = await readReview(store.db, NOW);
    expect(found).toMatchObject({ id: 'document/1', about: 'register document 10000001', verbs: ['drop'] });
    expect(found?.reason).toMatch(/^cvrsync could not read it.*it has no CVR number$/u);
    expect(found?.advice).not.toContain('receive');
    const answered = (verb: ReviewVerb, id: string) => store.write((tx) => resolveReview(tx, verb, id, NOW));
    expect(await answered('drop', 'body/1')).toEqual({ kind: 'unknown' });
    expect(await answered('retry', 'document/1')).toMatchObject({ kind: 'impossible' });
    expect(await answered('drop', 'document/1')).toMatchObject({ kind: 'done' });
    expect(await readReview(store.db, NOW)).toEqual([]);
  });

  it('keeps the newest of each source, so that bad webhooks displace no register document', async () => {
    const store = await newStore(engine);
    const one = (source: 'webhook' | 'register', text: string) => ({
      source,
      reason: 'x',
      body: Buffer.from(text),
      now: NOW,
    });
    await store.write(async (tx) => {
      await setAside(tx, one('register', 'a document'));
      for (let at = 0; at < 205; at += 1) await setAside(tx, one('webhook', `body ${at}`));
    });
    const kinds = Map.groupBy(await readReview(store.db, NOW), ({ kind }) => kind);
    expect([kinds.get('document')?.length, kinds.get('body')?.length]).toEqual([1, 200]);
  });

  it('names the value that the CRM keeps when it refuses a new one', async () => {
    const store = await troubled(engine);
    const reasonOf = async (over: string | null): Promise<string | undefined> => {
      const refused = store.write((tx) =>
        tx.updateTable('property_state').set({ refused_over: over }).where('refused', 'is not', null).execute(),
      );
      await refused;
      return (await readReview(store.db, NOW)).find(({ kind }) => kind === 'value')?.reason;
    };
    expect(await reasonOf('"Tryk"')).toBe('no such option; "Tryk" stays in the CRM');
    expect(await reasonOf('null')).toBe('no such option; the property stays blank in the CRM');
    expect(await reasonOf(null)).toBe('no such option');
  });

  it('lists an account whose key is refused, since its first refusal, until it is called again', async () => {
    const store = await newStore(engine);
    let at = NOW;
    const rateLimiter = createRateLimiter({ store, key: 'crm', budgets: {}, now: () => at });
    await rateLimiter.block(at + 60_000, 'the token is not accepted', 'auth');
    at += 61_000;
    expect(await readReview(store.db, at)).toEqual([]);
    await rateLimiter.block(at + 60_000, 'the token is not accepted', 'auth');
    expect(await readReview(store.db, at)).toMatchObject([
      { id: 'account/crm', since: NOW, reason: expect.stringContaining('the token is not accepted'), verbs: ['retry'] },
    ]);
    expect(await store.write((tx) => resolveReview(tx, 'retry', 'account/crm', at))).toMatchObject({ kind: 'done' });
    expect([await readReview(store.db, at), await rateLimiter.blockedUntil()]).toEqual([[], undefined]);
  });

  it('lists a long pause that a CRM requests, but not a short one', async () => {
    const store = await newStore(engine);
    const rateLimiter = createRateLimiter({ store, key: 'crm', budgets: {}, now: () => NOW });
    await rateLimiter.block(NOW + 60_000, 'too many calls', 'rate');
    expect(await readReview(store.db, NOW)).toEqual([]);
    await rateLimiter.block(NOW + 3_600_000, 'the daily limit is spent', 'rate');
    expect(await readReview(store.db, NOW)).toMatchObject([{ id: 'account/crm' }]);
  });
});
