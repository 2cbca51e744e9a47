/** Rules that two daemons of a store map differently: what only a person may change. */
import { setImmediate as turn } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Connection, PresetRow, Property } from '../../../providers/provider.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { readCounted } from '../../../src/connector/proposals/proposals.ts';
import { watchRules } from '../../../src/connector/proposals/watch.ts';
import { acceptAtStart, acceptRemoval, acceptRules, readAllAccepted } from '../../../src/connector/rules/accepted.ts';
import { mappingPart } from '../../../src/runtime/config-versions.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const NAME: Property = { name: 'name', label: 'Name', type: 'string', writable: true };
const row = (policy: PresetRow['policy']): PresetRow => ({ field: 'name', property: 'name', policy });
const rules = (policy: PresetRow['policy']) => ({
  ...{ name: 'crm', values: {}, hold: undefined, persons: false },
  mapping: [row(policy)],
});

/** A daemon that runs, with this digest of the mapping; without one, its file does not name the connection. */
async function join(store: Store, id: string, mapping?: string): Promise<void> {
  const connector = mapping === undefined ? {} : { [mappingPart('crm')]: mapping };
  const digests = JSON.stringify({ connector });
  const row = { id, name: id, started_at: 1, seen_at: 1, digests, roles: 'ingest sync' };
  await store.write((tx) => tx.insertInto('daemon').values(row).execute());
}

/** A store with one linked record, decided by `tracked`, and the daemon `own`. */
async function scene(engine: (typeof SUITE_ENGINES)[number]) {
  const store = await newStore(engine);
  const link = { provider: 'crm', recordId: '1', entity: ENTITY, sendUpdate: false, now: 1 };
  await store.write(async (tx) => {
    await acceptAtStart(tx, [rules('tracked')], { now: 1 });
    await linkRecord(tx, link);
  });
  await join(store, 'own', 'mine');
  return store;
}

it.each(SUITE_ENGINES)('a harmless change waits if a dispute begins during its count (%s)', async (engine) => {
  const countedWith = async (joins: boolean) => {
    const store = await scene(engine);
    const connection: Connection = {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => [NAME],
      async read(ids) {
        if (joins) await join(store, 'other', 'theirs');
        return ids.map((id) => ({ kind: 'found', id, properties: { name: null } }));
      },
      update: async () => Promise.reject(new Error('nothing is written')),
      scan: async () => ({ records: [] }),
    };
    const crm = crmOf({ store, connection, mapping: [row('tracked')], properties: [NAME], now: () => 1 });
    const log = { info: () => undefined, warn: () => undefined };
    const deps = { store, wakeUp: createWakeUp(), now: () => 1, log, daemon: 'own' };
    const watch = watchRules(deps, { crms: [crm], configured: [rules('always')], counts: true });
    await watch.checked;
    await watch.stop();
    const accepted = (await readAllAccepted(store.db)).get('crm');
    return [accepted?.rules.mapping, (await readCounted(store.db, 'crm'))?.preview?.read];
  };
  expect(await countedWith(false)).toEqual([[row('always')], undefined]);
  expect(await countedWith(true)).toEqual([[row('tracked')], 1]);
});

it.each(SUITE_ENGINES)('a removal that a person accepted stays while only one file has it (%s)', async (engine) => {
  const store = await scene(engine);
  await join(store, 'other');
  await store.write((tx) => acceptRemoval(tx, 'crm', { by: 'ida', now: 2 }));
  const start = async () => {
    await store.write((tx) => tx.deleteFrom('lane').execute());
    await store.write((tx) => acceptAtStart(tx, [rules('tracked')], { now: 3, daemon: 'own' }));
    const { isRemoved = false } = (await readAllAccepted(store.db)).get('crm') ?? {};
    const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:crm').execute();
    return [isRemoved, lanes.length];
  };
  expect(await start()).toEqual([true, 0]);
  await store.write((tx) => tx.deleteFrom('daemon').where('id', '=', 'other').execute());
  expect(await start()).toEqual([false, 1]);
});

it('a daemon reads the stored rules with one statement while nothing changes', async () => {
  const store = await scene('sqlite');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      asked += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [NAME],
    read: async () => [],
    update: async () => [],
    scan: async () => ({ records: [] }),
  };
  const crm = crmOf({ store, connection, mapping: [row('tracked')], properties: [NAME], now: () => 1 });
  const said: string[] = [];
  const log = { info: (...given: readonly unknown[]) => void said.push(String(given.at(-1))), warn: () => undefined };
  const counted: Store = { ...store, db: store.db.withPlugin(counting) };
  const deps = { store: counted, wakeUp: createWakeUp(), now: () => 1, log, daemon: 'own' };
  const watch = watchRules(deps, { crms: [crm], configured: [rules('tracked')], counts: true });
  await watch.checked;
  const look = async (): Promise<number> => {
    asked = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    return asked;
  };
  await look();
  expect([await look(), await look()]).toEqual([1, 1]);
  await store.write((tx) => acceptRules(tx, rules('always'), { by: 'ida', now: 2 }));
  expect(await look()).toBeGreaterThan(1);
  expect(said).toEqual(['rules were accepted that differ from this file: this daemon decides by them']);
  await watch.stop();
});
