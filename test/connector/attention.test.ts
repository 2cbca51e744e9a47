import { describe, expect, it } from 'vitest';
import { readAttention, VERBS, type Verb } from '../../src/connector/attention.ts';
import { endLink, linkRecord } from '../../src/connector/links.ts';
import { moveLink } from '../../src/connector/move-link.ts';
import { resolveAttention } from '../../src/connector/resolve-attention.ts';
import { claim, mark, settle } from '../../src/runtime/lanes.ts';
import type { Store } from '../../src/store/open.ts';
import { setAside } from '../../src/store/quarantine.ts';
import { ENGINES, newStore } from '../support/stores.ts';

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
      .set({ monitored: 'refused', monitored_error: 'no add-on' })
      .where('record_id', '=', '3')
      .execute();
    const value = { provider: 'crm', record_id: '1', written: null, written_at: null };
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
    await setAside(tx, { reason: 'entityId is missing', body: Buffer.from('{}'), now: NOW });
    await mark(tx, 'sync:crm', ['a/b'], NOW);
  });
  const [taken] = await claim(store, 'sync:crm', { limit: 1, now: NOW, leaseMs: 1_000 });
  if (taken === undefined) throw new Error('nothing to claim');
  await store.write((tx) => settle(tx, taken, { kind: 'parked', at: NOW, error: 'refused: locked' }));
  await store.write((tx) => mark(tx, 'apply', ['healthy'], NOW));
  return store;
}

const ids = async (store: Store) => (await readAttention(store.db)).map(({ id }) => id);
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
async function answerAll(store: Store, verbs: readonly Verb[]): Promise<readonly string[]> {
  const found = await readAttention(store.db);
  return store.write(async (tx) => {
    const kinds: string[] = [];
    for (const each of found) {
      const verb = verbs.find((one) => each.verbs.includes(one));
      if (verb !== undefined) kinds.push((await resolveAttention(tx, verb, each.id, NOW)).kind);
    }
    return kinds;
  });
}
const ALL = ['lane/sync:crm/a%2Fb', 'link/crm/2', 'link/crm/3', 'value/crm/1/industry%2Fkind', 'body/1'];

describe.each(ENGINES)('what needs a person, on %s', (engine) => {
  it('is listed with its reason, and nothing else is', async () => {
    const store = await troubled(engine);
    const found = await readAttention(store.db);
    expect(found.map(({ id }) => id)).toEqual(ALL);
    expect(found.map(({ reason }) => reason)).toEqual([
      'refused: locked',
      'in conflict: merged twice',
      'the monitoring service refused it: no add-on',
      'no such option',
      'entityId is missing',
    ]);
  });

  it('names the answers it takes, and refuses any other one without a change', async () => {
    const store = await troubled(engine);
    const found = await readAttention(store.db);
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
        expect(await store.write((tx) => resolveAttention(tx, verb, id, NOW))).toMatchObject({ kind: 'impossible' });
    expect([await ids(store), await lanes(store)]).toEqual([ALL, before]);
  });

  it('is due again after a retry or an accept, but for a body', async () => {
    const store = await troubled(engine);
    expect(await answerAll(store, ['retry', 'accept'])).toEqual(['done', 'done', 'done', 'done']);
    expect(await ids(store)).toEqual(['body/1']);
    expect(await lanes(store)).toEqual([
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
      .select(['state', 'wish', 'monitored'])
      .orderBy('record_id')
      .execute();
    expect(links.slice(1)).toEqual([
      { state: 'active', wish: 'on', monitored: 'unknown' },
      { state: 'active', wish: 'on', monitored: 'unknown' },
    ]);
  });

  it('is gone after a drop or a keep, and monitoring ends for the links', async () => {
    const store = await troubled(engine);
    expect(await answerAll(store, ['drop', 'keep'])).toEqual(['done', 'done', 'done', 'done', 'done']);
    expect(await ids(store)).toEqual([]);
    expect(await lanes(store)).toEqual(['apply healthy', 'monitoring crm:2', 'monitoring crm:3']);
    const links = await store.db.selectFrom('link').select(['state', 'wish']).orderBy('record_id').execute();
    expect(links).toEqual([
      { state: 'active', wish: 'on' },
      { state: 'removed', wish: 'off' },
      { state: 'removed', wish: 'off' },
    ]);
  });
});

describe('an id that names nothing in need', () => {
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
      expect(await store.write((tx) => resolveAttention(tx, verb, id, NOW))).toEqual({ kind: 'unknown' });
    expect([await ids(store), await lanes(store)]).toEqual([ALL, before]);
  });
});

describe.each(ENGINES)('records that are not what they were on %s', (engine) => {
  it('says how to keep the link of a record that was merged into one of another company', async () => {
    const store = await newStore(engine);
    const wish = { provider: 'crm', sendUpdate: false, now: NOW };
    await store.write(async (tx) => {
      await linkRecord(tx, { ...wish, recordId: '1', entity: COMPANY });
      await linkRecord(tx, { ...wish, recordId: '2', entity: 'CVR-1-10000002' });
      await moveLink(tx, { provider: 'crm', from: '1', to: '2', now: NOW });
    });
    const [first] = await readAttention(store.db);
    expect(first?.reason).toContain(
      'into record 2, which stands for CVR-1-10000002: to move this link there, remove the one of 2 first with cvrsync review keep',
    );
  });

  it('asks nobody about values of a record that is linked no longer', async () => {
    const store = await troubled(engine);
    await store.write((tx) => endLink(tx, { provider: 'crm', recordId: '1', state: 'gone', reason: 'x', now: NOW }));
    expect((await readAttention(store.db)).filter(({ kind }) => kind === 'value')).toEqual([]);
  });
});
