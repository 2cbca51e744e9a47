/** Overrides and trust when the store alone decides: merges, ends, and a process that dies between a write and its record. */
import { describe, expect, test } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { readDifferences } from '../../../src/connector/history/differences.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { endHoldsIn } from '../../../src/connector/overrides/hold-list.ts';
import { clearOverride, deleteEnded, readOverrides, setOverride } from '../../../src/connector/overrides/override.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { historyLines } from '../../support/history.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';

const now = () => Date.UTC(2026, 5, 1);
const LATER = now() + 1_000;
const NAME = propertyOf('string', { name: 'name' });
const ONE = { provider: 'crm', recordId: '1', property: 'name' } as const;
const hold = (until: number | null) => ({ kind: 'hold', once: false, until, reason: null }) as const;
const release = { kind: 'release', once: false, until: null, reason: null } as const;
type RuleRow = readonly [property: string, override: Parameters<typeof setOverride>[2]];

/** Record 1 stands for the company, trusts the register, and the register says B. */
async function trusting(store: Store): Promise<void> {
  const desired = { provider: 'crm', recordId: '1', entity: ENTITY, sendUpdate: false, now: now() };
  await store.write((tx) => linkRecord(tx, { ...desired, origin: 'number', trust: 'register' }));
  const body = JSON.stringify(writePayload(renamed('A ApS', 'B ApS')));
  const event = { key: '1', entity: ENTITY, timestamp: '2026-03-02T08:00:00.000Z', body };
  await store.write((tx) => insertReceipts(tx, [event], now()));
  const claims = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
  const deps = { store, wakeUp: createWakeUp(), metrics: createMetrics(), now, emailEvent: 'email', mapped: new Map() };
  await applyReceipts(deps, claims);
}

/** A CRM of one value for every record; `dies` after a write, before anybody hears of it. */
function crmWith(store: Store, held: { name: PropertyValue }, dies: { yes: boolean }) {
  return crmOf({
    store,
    now,
    properties: [NAME],
    mapping: [{ field: 'name', property: 'name', policy: 'tracked' }],
    connection: {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => [NAME],
      read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: { ...held } })),
      async update(patches) {
        for (const { properties } of patches) Object.assign(held, properties);
        if (dies.yes) throw new Error('the process ends here');
        return patches.map(({ id }) => ({ kind: 'written', id }));
      },
      scan: async () => ({ records: [] }),
    },
  });
}

async function sync(store: Store, crm: ReturnType<typeof crmWith>): Promise<void> {
  await store.write((tx) => tx.updateTable('lane').set({ due_at: 0, fence: null }).execute());
  const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 9_000 });
  await syncRecords({ store, metrics: createMetrics(), now }, crm, claims, AbortSignal.timeout(60_000));
}

const lines = (store: Store) => historyLines(store.db);

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  test("a process that dies right after it overwrote a person's value leaves a record of it", async () => {
    const store = await newStore(engine);
    await trusting(store);
    const held = { name: 'Mine ApS' };
    const dies = { yes: true };
    const crm = crmWith(store, held, dies);
    await expect(sync(store, crm)).rejects.toThrow('the process ends here');
    expect([held, await lines(store)]).toEqual([{ name: 'B ApS' }, []]);
    dies.yes = false;
    await sync(store, crm);
    expect(await lines(store)).toMatchObject([
      { rule: 'ours-after-all', old: 'Mine ApS', now: 'B ApS', outcome: 'written' },
      { rule: 'same' },
    ]);
    held.name = 'Mine again ApS';
    await store.write((tx) => setOverride(tx, ONE, hold(1), now()));
    await sync(store, crm);
    expect(held).toEqual({ name: 'Mine again ApS' });
    expect((await lines(store)).length).toBe(3);
  });

  test("the survivor of a merge is not overwritten a second time for the link's trust", async () => {
    const store = await newStore(engine);
    await trusting(store);
    const held = { name: 'Mine ApS' };
    const crm = crmWith(store, held, { yes: false });
    await sync(store, crm);
    expect(held).toEqual({ name: 'B ApS' });
    held.name = 'Survivor ApS';
    await store.write((tx) => moveLink(tx, { provider: 'crm', from: '1', to: '2', now: now() }));
    await sync(store, crm);
    expect(held).toEqual({ name: 'Survivor ApS' });
    const kept = await store.db.selectFrom('property_state').selectAll().where('record_id', '=', '2').execute();
    expect(kept).toMatchObject([{ kept: '"Survivor ApS"', offered: '"B ApS"' }]);
  });

  test('a difference is forgotten once its property is no longer mapped', async () => {
    const store = await newStore(engine);
    await trusting(store);
    const held = { name: 'Mine ApS' };
    const crm = crmWith(store, held, { yes: false });
    await sync(store, crm);
    held.name = 'Mine again ApS';
    await store.write((tx) => clearOverride(tx, ONE, 'hold', now()));
    await sync(store, crm);
    expect(await readDifferences(store.db, Date.now(), {}, 9)).toMatchObject([
      { crm: '"Mine again ApS"', register: '"B ApS"' },
    ]);
    await store.write((tx) => clearOverride(tx, ONE, 'hold', now()));
    await sync(store, { ...crm, mapping: [] });
    expect(await readDifferences(store.db, Date.now(), {}, 9)).toEqual([]);
  });

  test('an override applies until its end, and is deleted afterwards', async () => {
    const store = await newStore(engine);
    await store.write((tx) => setOverride(tx, ONE, hold(LATER), now()));
    const at = async (time: number) => (await readOverrides(store.db, 'crm', ['1'], time)).get('1')?.get('name')?.kind;
    expect([await at(LATER - 1), await at(LATER)]).toEqual(['hold', undefined]);
    await store.write((tx) => deleteEnded(tx, LATER));
    expect(await at(1)).toBeUndefined();
  });

  test('the holds of an undo are cleared together, for one property or all, without other overrides', async () => {
    const store = await newStore(engine);
    const undone = { ...hold(null), origin: 'undo' } as const;
    const release = { kind: 'release', once: false, until: null, reason: null, origin: 'undo' } as const;
    await store.write(async (tx) => {
      await setOverride(tx, ONE, undone, now());
      await setOverride(tx, { ...ONE, recordId: '2' }, undone, now());
      await setOverride(tx, { ...ONE, recordId: '2', property: 'phone' }, undone, now());
      await setOverride(tx, { ...ONE, property: 'phone' }, hold(null), now());
      await setOverride(tx, { ...ONE, property: 'zip' }, release, now());
      await setOverride(tx, { ...ONE, provider: 'other' }, undone, now());
      await tx.deleteFrom('lane').execute();
    });
    const left = async (): Promise<readonly string[]> =>
      (await store.db.selectFrom('override').selectAll().execute())
        .map(({ provider, record_id, property }) => `${provider} ${record_id} ${property}`)
        .toSorted();
    const recorded = async () => 1;
    const ended = (property?: string) =>
      endHoldsIn(
        { store, recorded },
        { provider: 'crm', property, origin: 'undo' },
        now(),
        new AbortController().signal,
      );
    expect(await ended('phone')).toBe(1);
    expect(await left()).toEqual(['crm 1 name', 'crm 1 phone', 'crm 1 zip', 'crm 2 name', 'other 1 name']);
    expect(await ended()).toBe(2);
    expect(await left()).toEqual(['crm 1 phone', 'crm 1 zip', 'other 1 name']);
    const lanes = await store.db.selectFrom('lane').select(['queue', 'key']).orderBy('key').execute();
    expect(lanes.map(({ queue, key }) => `${queue} ${key}`)).toEqual(['sync:crm 1', 'sync:crm 2']);
  });

  test.each<[string, readonly RuleRow[], readonly RuleRow[], readonly string[]]>([
    ['a hold and a release', [['name', hold(null)]], [['name', release]], ['name hold null']],
    ['a hold on all and a release', [['*', hold(null)]], [['name', release]], ['* hold null']],
    ['two holds', [['name', hold(LATER)]], [['name', hold(null)]], ['name hold null']],
    [
      'a hold on all with its own release, and others',
      [
        ['*', hold(null)],
        ['name', release],
      ],
      [
        ['phone', release],
        ['fax', hold(LATER)],
      ],
      ['* hold null', `fax hold ${LATER}`, 'name release null'],
    ],
  ])('two records with %s become one with the same overrides, whichever comes first', async (_, one, two, kept) => {
    for (const order of [
      ['1', '2'],
      ['2', '1'],
    ]) {
      const store = await newStore(engine);
      await store.write(async (tx) => {
        for (const [recordId, overrides] of [['1', one] as const, ['2', two] as const]) {
          await linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: now() });
          for (const [property, override] of overrides)
            await setOverride(tx, { provider: 'crm', recordId, property }, override, now());
        }
        for (const from of order) await moveLink(tx, { provider: 'crm', from, to: '3', now: now() });
      });
      const overrides = (await readOverrides(store.db, 'crm', ['3'], now())).get('3') ?? [];
      expect([...overrides].map(([property, { kind, until }]) => `${property} ${kind} ${until}`)).toEqual(kept);
    }
  });
});
