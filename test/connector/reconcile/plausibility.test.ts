/** Lists that cannot be right: nothing is ended, removed or asked for again because of them, and a person is told. */
import { describe, expect, it } from 'vitest';
import { implausibilitiesOf, type KnownNumbers } from '../../../src/connector/reconcile/plausibility.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Comparison, MATCH, numberAt, setComparison } from './comparison.ts';

const TEN = Array.from({ length: 10 }, (_, at) => at);

const agreeing = async (options: Parameters<typeof setComparison>[0] = {}): Promise<Comparison> => {
  const fixture = await setComparison(options);
  for (const at of TEN) await fixture.agree(String(at), numberAt(at));
  await fixture.reconcile();
  return fixture;
};

const untouched = async (fixture: Comparison): Promise<void> => {
  expect(await fixture.lanes('heal:crm')).toEqual([]);
  expect(await fixture.lanes('monitoring')).toEqual([]);
  expect(fixture.service.changes).toEqual([]);
  const links = await fixture.store.db.selectFrom('link').select(['state', 'observed']).distinct().execute();
  expect(links).toEqual([{ state: 'active', observed: 'on' }]);
};

describe.each(SUITE_ENGINES)('on %s nothing is concluded', (engine) => {
  it('from a CRM that lists nothing', async () => {
    const fixture = await agreeing({ engine });
    fixture.records.clear();
    const { found } = await fixture.reconcile({ person: true });
    expect(found.doubts).toEqual([{ basis: 'records', reason: 'crm lists no company at all, and 10 are linked' }]);
    await untouched(fixture);
  });

  it('from a CRM that lists fewer than half of the links, or of its previous list', async () => {
    const fixture = await agreeing({ engine });
    for (const at of TEN.slice(4)) fixture.records.delete(String(at));
    const few = await fixture.reconcile({ person: true });
    expect(few.found.doubts.map(({ basis }) => basis)).toEqual(['records']);
    expect(few.found.counts.absent).toBe(6);
    await untouched(fixture);
  });

  it('from a service that lists nothing, or far fewer items than it had confirmed', async () => {
    const fixture = await agreeing({ engine });
    const items = fixture.service.items('crm').map((item) => item.split(' '));
    for (const [entity = '', record = ''] of items.slice(0, 6)) fixture.service.take('crm', entity, record);
    const few = await fixture.reconcile({ person: true });
    expect(few.found.doubts).toEqual([
      { basis: 'items', reason: 'the service lists 4 items for crm, and listed 10 the last time' },
    ]);
    for (const [entity = '', record = ''] of items) fixture.service.take('crm', entity, record);
    const none = await fixture.reconcile({ person: true });
    expect(none.found.doubts).toMatchObject([{ basis: 'items', reason: expect.stringContaining('lists nothing') }]);
    await untouched(fixture);
  });

  it('from far fewer links than items of the service, because the store may have lost them', async () => {
    const fixture = await agreeing({ engine });
    for (let at = 100; at < 130; at += 1) fixture.service.put('crm', `CVR-1-${numberAt(at)}`, String(at));
    const { found } = await fixture.reconcile({ person: true });
    expect(found.doubts).toEqual([
      { basis: 'deletions', reason: '30 of the 40 items that the service lists for crm have no link here' },
    ]);
    await untouched(fixture);
  });

  it('from numbers that disappeared from many records at once', async () => {
    const fixture = await setComparison({ engine });
    for (let at = 0; at < 30; at += 1) await fixture.agree(String(at), numberAt(at));
    for (let at = 0; at < 25; at += 1) fixture.records.set(String(at), { [MATCH]: '' });
    const { found } = await fixture.reconcile({ person: true });
    expect(found.doubts).toEqual([
      { basis: 'numbers', reason: 'in 25 of 30 linked records of crm the CVR number is gone or another one' },
    ]);
    await untouched(fixture);
  });

  it('from a missing property', async () => {
    const fixture = await agreeing({ engine, crm: { schema: async () => new Map() } });
    const { found } = await fixture.reconcile({ person: true });
    expect(found.doubts).toMatchObject([{ basis: 'numbers', reason: expect.stringContaining(`no property ${MATCH}`) }]);
    await untouched(fixture);
  });

  it('unless a person confirms the lists, which then are the measure of the next ones', async () => {
    const fixture = await agreeing({ engine });
    for (const at of TEN.slice(4)) fixture.records.delete(String(at));
    const { repaired } = await fixture.reconcile({ person: true, implausible: true });
    expect(repaired.counts).toEqual({ absent: 6 });
    expect(await fixture.lanes('heal:crm')).toEqual(['4', '5', '6', '7', '8', '9']);
    await fixture.store.write((tx) => tx.deleteFrom('link').where('record_id', '>=', '4').execute());
    expect((await fixture.survey()).doubts).toEqual([]);
  });
});

it('decides certain cases although another list is implausible', async () => {
  const fixture = await agreeing();
  fixture.records.delete('0');
  for (const item of fixture.service.items('crm').map((one) => one.split(' ')))
    fixture.service.take('crm', item[0] ?? '', item[1] ?? '');
  const { repaired } = await fixture.reconcile();
  expect(repaired.counts).toEqual({ absent: 1 });
});

describe('mismatch', () => {
  const fine: KnownNumbers = {
    provider: 'crm',
    records: { now: 100, last: 100 },
    links: { all: 80, seen: 80 },
    numbers: { all: 80, differ: 0, unreadable: undefined },
    items: { now: 80, last: 80 },
    confirmed: { all: 80, seen: 80 },
    deletions: 0,
  };
  const basesOf = (more: Partial<KnownNumbers>): readonly string[] =>
    implausibilitiesOf({ ...fine, ...more }).map(({ basis }) => basis);

  it('is absent if the list is unchanged, or halved', () => {
    expect(basesOf({})).toEqual([]);
    expect(basesOf({ records: { now: 50, last: 100 }, links: { all: 80, seen: 40 } })).toEqual([]);
    expect(basesOf({ items: { now: 40, last: 80 }, confirmed: { all: 80, seen: 40 } })).toEqual([]);
  });

  it('begins below half', () => {
    expect(basesOf({ records: { now: 49, last: 100 } })).toEqual(['records']);
    expect(basesOf({ links: { all: 80, seen: 39 } })).toEqual(['records']);
    expect(basesOf({ items: { now: 39, last: 80 } })).toEqual(['items']);
    expect(basesOf({ confirmed: { all: 80, seen: 39 } })).toEqual(['items']);
  });

  it('ignores the share of a few records, but not an empty list', () => {
    expect(basesOf({ records: { now: 9, last: undefined }, links: { all: 4, seen: 0 } })).toEqual([]);
    expect(basesOf({ records: { now: 0, last: undefined }, links: { all: 1, seen: 0 } })).toEqual(['records']);
    expect(basesOf({ items: { now: 0, last: undefined }, confirmed: { all: 1, seen: 0 } })).toEqual(['items']);
  });

  it('ignores items without a service', () => {
    expect(basesOf({ items: undefined, confirmed: { all: 80, seen: 0 }, deletions: 99 })).toEqual([]);
  });

  it('allows a tenth to change at once, and some in any case', () => {
    expect(basesOf({ deletions: 20 })).toEqual([]);
    expect(basesOf({ deletions: 21 })).toEqual(['deletions']);
    for (const [all, allowed] of [
      [10, 20],
      [200, 20],
      [5_000, 500],
    ] as const) {
      expect(basesOf({ numbers: { all, differ: allowed, unreadable: undefined } })).toEqual([]);
      expect(basesOf({ numbers: { all, differ: allowed + 1, unreadable: undefined } })).toEqual(['numbers']);
    }
  });
});
