/** The list of holds: by facets, page by page, with who placed each, however many there are. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { countHoldsByPart } from '../../../src/connector/overrides/hold-counts.ts';
import {
  countHolds,
  endHoldsIn,
  type HoldFilter,
  type HoldPlace,
  listHolds,
} from '../../../src/connector/overrides/hold-list.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { holdRestored } from '../../../src/connector/undo/undo-record.ts';
import type { Db, Store, Tx } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { plansOf } from '../query-plans.ts';

const NOW = 1_000;
const IDA = { actor: { kind: 'operator', name: 'Ida' }, via: 'page' } as const;
const OLE = { actor: { kind: 'user', name: 'ole' }, via: 'command' } as const;
const hold = (until: number | null = null) => ({ kind: 'hold', once: false, until, reason: null }) as const;

/** Holds of two connections, by all who place some. */
async function fill(tx: Tx): Promise<void> {
  for (const provider of ['hubspot', 'salesforce'])
    for (const recordId of ['1', '2', '3']) {
      const place = (property: string, override: Parameters<typeof setOverride>[2]): Promise<void> =>
        setOverride(tx, { provider, recordId, property }, override, NOW);
      await place('name', { ...hold(), by: IDA });
      await place('phone', { ...hold(NOW + Number(recordId) * 100), origin: 'undo', by: OLE });
      await place('zip', { ...hold(), origin: 'review' });
      await place('city', { kind: 'release', once: false, until: null, reason: null });
      await place('street', hold(NOW));
    }
}

/** All holds of a filter, in pages of two. */
async function walked(db: Db, filter: HoldFilter): Promise<readonly string[]> {
  const found: string[] = [];
  let after: HoldPlace | undefined;
  do {
    const page = await listHolds(db, NOW, { ...filter, after }, 2);
    found.push(...page.map(({ provider, recordId, property }) => `${provider} ${recordId} ${property}`));
    after = page.length < 2 ? undefined : page.at(-1);
  } while (after !== undefined);
  return found;
}

describe.each(SUITE_ENGINES)('holds on %s', (engine) => {
  it('are listed page by page under each facet, and counted', async () => {
    const store = await newStore(engine);
    await store.write(fill);
    const all = await walked(store.db, {});
    expect([all.length, all]).toEqual([18, all.toSorted()]);
    const filters: readonly HoldFilter[] = [
      {},
      { provider: 'hubspot' },
      { property: 'name' },
      { origin: 'undo' },
      { provider: 'salesforce', origin: 'review', property: 'zip' },
      { provider: 'hubspot', origin: 'person', property: 'zip' },
      { endsBefore: NOW + 250 },
      { endsBefore: NOW + 250, provider: 'hubspot', origin: 'undo', property: 'phone' },
      { before: NOW },
      {
        chosen: [
          { provider: 'hubspot', recordId: '1', property: 'name' },
          { provider: 'hubspot', recordId: '1', property: 'city' },
        ],
      },
    ];
    const counts: number[] = [];
    for (const filter of filters) {
      const found = await walked(store.db, filter);
      expect(await countHolds(store.db, NOW, filter)).toBe(found.length);
      counts.push(found.length);
    }
    expect(counts).toEqual([18, 9, 6, 6, 3, 0, 4, 2, 0, 1]);
    expect(await walked(store.db, { endsBefore: NOW + 400 })).toEqual([
      'hubspot 1 phone',
      'salesforce 1 phone',
      'hubspot 2 phone',
      'salesforce 2 phone',
      'hubspot 3 phone',
      'salesforce 3 phone',
    ]);
  });

  it('are counted by connection, property and origin as they are listed, up to a limit', async () => {
    const store = await newStore(engine);
    await store.write(fill);
    // A word for whole records comes first.
    await store.write((tx) => setOverride(tx, { provider: 'left', recordId: '9', property: '*' }, hold(NOW + 1), NOW));
    for (const endsBefore of [NOW + 250, NOW + 400]) {
      const counts = await countHoldsByPart(store.db, NOW, { endsBefore, most: 9, isWhole: true });
      const parts = counts.map(({ provider, property, origin }) => ({ provider, property, origin }));
      const listed = async (filter: HoldFilter) => (await walked(store.db, filter)).length;
      expect(counts).toEqual(
        await Promise.all(
          parts.map(async (part) => ({
            ...part,
            count: await listed(part),
            ending: await listed({ ...part, endsBefore }),
          })),
        ),
      );
      expect(counts.map(({ provider, property, count }) => `${provider} ${property} ${count}`)).toEqual([
        ...['left * 1', 'hubspot name 3', 'salesforce name 3', 'hubspot phone 3', 'salesforce phone 3'],
        ...['hubspot zip 3', 'salesforce zip 3'],
      ]);
      const ending = await countHoldsByPart(store.db, NOW, { endsBefore, most: 2, isWhole: false });
      expect(ending.map(({ provider, count, ending: soon }) => [provider, count, soon])).toEqual([
        ['left', 0, 1],
        ['hubspot', 0, 2],
        ['salesforce', 0, 2],
      ]);
    }
  });

  it('end only where they were selected', async () => {
    const store = await newStore(engine);
    await store.write(fill);
    const chosen = ['1', '2'].map((recordId) => ({ provider: 'hubspot', recordId, property: 'name' }));
    const { signal } = new AbortController();
    expect(await endHoldsIn({ store, recorded: async () => 1 }, { chosen }, NOW, signal)).toBe(2);
    expect(await walked(store.db, { property: 'name' })).not.toContain('hubspot 1 name');
    expect(await countHolds(store.db, NOW)).toBe(16);
  });

  it('name their author and interface, also after a merge and under an undo', async () => {
    const store = await newStore(engine);
    const one = { provider: 'hubspot', recordId: '1', property: 'name' };
    await store.write(async (tx) => {
      await linkRecord(tx, { ...one, entity: 'CVR-1-10000001', sendUpdate: false, now: NOW });
      await setOverride(tx, one, { ...hold(), by: IDA }, NOW);
      await setOverride(tx, { ...one, property: 'phone' }, { ...hold(NOW + 9), by: IDA }, NOW);
      await restore(tx, ['name', 'phone', 'zip']);
    });
    const all = ['name person Ida page', 'phone person Ida page', 'zip undo ole command'];
    expect(await placed(store)).toEqual(all);
    await store.write((tx) => moveLink(tx, { provider: 'hubspot', from: '1', to: '2', now: NOW }));
    expect(await placed(store)).toEqual(all);
  });
});

/** Places the holds of an undo by Ole. */
async function restore(tx: Tx, properties: readonly string[]): Promise<void> {
  const restored = properties.map((property) => ({ last: { recordId: '1', property, rule: 'register' } }));
  await holdRestored(tx, 'hubspot', restored as never, { at: NOW, until: NOW + 500, by: OLE });
}

const placed = async ({ db }: Store): Promise<readonly string[]> =>
  (await listHolds(db, NOW, {}, 9)).map(
    ({ property, origin, placedBy, placedVia }) => `${property} ${origin} ${placedBy} ${placedVia}`,
  );

const END = { endsBefore: NOW + 1 };

const PLACE = { provider: 'hubspot', recordId: '1', property: 'name', until: NOW };
const FILTERS = [undefined, END.endsBefore].flatMap((endsBefore) =>
  [undefined, 'hubspot'].flatMap((provider) =>
    ([undefined, 'undo'] as const).flatMap((origin) =>
      [undefined, 'name'].flatMap((property) =>
        [undefined, PLACE].map((after) => ({ endsBefore, provider, origin, property, after })),
      ),
    ),
  ),
);

it('no list of holds reads more than its page, with any filter', async () => {
  for (const filter of FILTERS) {
    const plans = await plansOf((db) => listHolds(db, NOW, filter, 100));
    const [holds = ''] = plans.filter((plan) => plan.includes(' override ') && !KEY.test(plan));
    // From a place on, along the index.
    expect(holds, JSON.stringify(filter)).toMatch(/^SEARCH override USING .*(?:\)>\(|until>\?)/u);
    // What little is found by its end, in the index alone, is sorted once more.
    const { endsBefore, provider, origin, property } = filter;
    const isThinned = endsBefore !== undefined && [provider, origin, property].some(Boolean);
    expect(plans.join().includes('TEMP B-TREE')).toBe(isThinned);
    expect(plans.join().includes('COVERING INDEX override_until')).toBe(isThinned);
  }
});

const KEY = /PRIMARY KEY \(provider=\? AND record_id=\? AND property=\?\)/u;

it('ended holds, and the counts of all, use an index', async () => {
  const plans = await plansOf((db) => sql`select 1 from override where kind = 'hold' and until <= 5`.execute(db));
  expect(plans.join()).toContain('override_until');
  const counts = await plansOf((db) => countHoldsByPart(db, NOW, { ...END, most: 9, isWhole: true }));
  const reads = counts.filter((plan) => plan.includes(' override '));
  expect(reads.filter((plan) => !/^SEARCH override USING COVERING INDEX override_\w+/u.test(plan))).toEqual([]);
  expect(reads.filter((plan) => plan.includes('override_part (property=? AND provider=? AND origin=?')).length).toBe(2);
});
