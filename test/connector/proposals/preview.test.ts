/** What other rules would write, counted on scripted records. */
import { expect, it } from 'vitest';
import type { Connection, Property, PropertyValue } from '../../../providers/provider.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { previewRules, totalsOf, totalsText } from '../../../src/connector/proposals/preview.ts';
import { companyEntityId } from '../../../src/protocol/entity-id.ts';
import { crmOf } from '../../support/crm.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';

const NAME: Property = { name: 'name', label: 'Name', type: 'string', writable: true };
const HELD: Property = { name: 'held', label: 'Held', type: 'boolean', writable: true };
const never = new AbortController().signal;

/** Companies called `Birk`, in records that hold these names. */
async function world(engine: (typeof ENGINES)[number], names: readonly PropertyValue[], held: readonly number[] = []) {
  const store = await newStore(engine);
  const calls: number[] = [];
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [NAME, HELD],
    async read(ids) {
      calls.push(ids.length);
      return ids.map((id) => {
        return { kind: 'found', id, properties: { name: names[Number(id)] ?? null, held: held.includes(Number(id)) } };
      });
    },
    update: async () => Promise.reject(new Error('nothing is written')),
    scan: async () => ({ records: [] }),
  };
  const before = {
    mapping: [{ field: 'name', property: 'name', policy: 'tracked' }],
    values: {},
    persons: false,
  } as const;
  const rules = { before: { ...before, hold: undefined }, after: { ...before, hold: undefined } };
  const crm = crmOf({ store, connection, mapping: before.mapping, properties: [NAME, HELD], now: () => 1, batch: 2 });
  await store.write(async (tx) => {
    for (const [at] of names.entries()) {
      const entity = companyEntityId(cvrNumber(at));
      await linkRecord(tx, { provider: 'crm', recordId: `${at}`, entity, sendUpdate: false, now: 1 });
      await tx
        .insertInto('fact')
        .values({ entity, field: 'name', value: JSON.stringify({ scalar: 'Birk' }), clock: '1', seq: 1 })
        .execute();
    }
  });
  return { store, crm, rules, calls };
}

const ALWAYS = [{ field: 'name', property: 'name', policy: 'always' }] as const;

it.each(SUITE_ENGINES)(
  'counts the writes of the new rules by author of the old values, with one read for each batch (%s)',
  async (engine) => {
    const { store, crm, rules, calls } = await world(engine, ['Kunde', 'Birk', null, 'Anden']);
    const pair = { ...rules, after: { ...rules.after, mapping: ALWAYS } };
    const preview = await previewRules({ store, now: () => 1 }, { ...pair, crm }, never);
    expect(preview).toMatchObject({ linked: 4, read: 4, unread: 0 });
    // The blank one is written by the rules before, too.
    expect(preview.properties).toEqual([{ property: 'name', writes: 2, replaced: 2, edits: 2, later: 0 }]);
    expect(preview.examples.map(({ record, before, after }) => [record, before, after])).toEqual([
      ['0', 'Kunde', 'Birk'],
      ['3', 'Anden', 'Birk'],
    ]);
    expect(calls).toEqual([2, 2]);
  },
);

it('counts the writes that a removed hold delayed', async () => {
  const { store, crm, rules } = await world('sqlite', [null, null, null], [0, 2]);
  const pair = { ...rules, before: { ...rules.before, hold: 'held' } };
  const preview = await previewRules({ store, now: () => 1 }, { ...pair, crm }, never);
  expect(preview.properties).toEqual([{ property: 'name', writes: 2, replaced: 0, edits: 0, later: 0 }]);
  // What would be filled is shown, too.
  expect(preview.examples.map(({ record, before, after, isEdit }) => [record, before, after, isEdit])).toEqual([
    ['0', null, 'Birk', false],
    ['2', null, 'Birk', false],
  ]);
});

it('shows ten examples, edits of people first, then other replaced values, then filled blanks', async () => {
  const filled = Array.from({ length: 9 }, () => null);
  const { store, crm, rules } = await world('sqlite', [...filled, 'Kunde', 'Anden']);
  const mapping = [{ field: 'name', property: 'name', policy: 'never' }] as const;
  const pair = { before: { ...rules.before, mapping }, after: { ...rules.after, mapping: ALWAYS } };
  const { examples } = await previewRules({ store, now: () => 1 }, { ...pair, crm }, never);
  expect(examples.map(({ before, isEdit }) => [before, isEdit])).toEqual([
    ['Anden', true],
    ['Kunde', true],
    ...filled.slice(1).map((blank) => [blank, false]),
  ]);
});

it('treats only an unticked checkbox as blank while the register has no value', async () => {
  const { store, crm, rules } = await world('sqlite', ['Birk', 'Birk'], [1]);
  const row = { field: 'advertisingProtected', property: 'held', policy: 'always' } as const;
  const pair = { ...rules, after: { ...rules.after, mapping: [...rules.before.mapping, row] } };
  const preview = await previewRules({ store, now: () => 1 }, { ...pair, crm }, never);
  expect(preview.properties).toEqual([{ property: 'held', writes: 0, replaced: 0, edits: 0, later: 1 }]);
});

it('reads a sample of many records, says so, and reads all if the sample has no effect', async () => {
  const names = Array.from({ length: 9 }, (_, at) => (at === 4 ? 'Kunde' : 'Birk'));
  const { store, crm, rules } = await world('sqlite', names);
  const pair = { ...rules, after: { ...rules.after, mapping: ALWAYS } };
  const deps = { store, now: () => 1 };
  const sampled = await previewRules(deps, { ...pair, crm, sample: 3 }, never);
  expect(sampled).toMatchObject({ linked: 9, read: 3, properties: [] });
  expect(totalsOf(sampled)).toMatchObject({ writes: 0, isAbout: true });
  const whole = await previewRules(deps, { ...pair, crm, sample: 3, whole: true }, never);
  expect(whole).toMatchObject({ linked: 9, read: 9, properties: [{ property: 'name', edits: 1 }] });
  const half = await world('sqlite', ['Kunde', 'x', 'Kunde', 'x', 'Kunde', 'x']);
  const some = await previewRules({ ...deps, store: half.store }, { ...pair, crm: half.crm, sample: 3 }, never);
  expect(totalsText(some)).toBe(
    'it would write about 6 values, replace about 6, about 6 of them written by people (a sample of 3 of 6 linked records was read)',
  );
});
