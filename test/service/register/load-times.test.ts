/** Documents with an impossible loading time: changes are still reported, and none has that time. */
import { describe, expect, it } from 'vitest';
import { readFullStates } from '../../../src/service/items/full-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { document, ENTITY, entry, type Json, name } from './documents.ts';
import { DAY, START, setWatch } from './watch-fixture.ts';

const at = (time: number): string => new Date(time).toISOString();
const HOUR = 3_600_000;

const companyIn = (document: Json): object => {
  const { Vrvirksomhed: company } = document;
  if (typeof company !== 'object' || company === null) throw new Error('it holds no company');
  return company;
};

/** The company under a name; null takes its time of loading, or of the last update, away. */
const named = (text: string, times: { readonly loaded: number | null; readonly updated?: number | null }) => {
  const company = companyIn(document({ navne: [name(text, '2026-01-01', null, at(START - DAY))] }));
  const { loaded, updated = START - DAY } = times;
  const [sidstIndlaest, sidstOpdateret] = [loaded, updated].map((time) => (time === null ? null : at(time)));
  return { Vrvirksomhed: { ...company, sidstIndlaest, sidstOpdateret } };
};

const timesIn = async ({ db }: Store): Promise<readonly string[]> =>
  (await db.selectFrom('change').select('timestamp').orderBy('seq').execute()).map(({ timestamp }) => timestamp);

const namesToldOf = async ({ changes }: Awaited<ReturnType<typeof setWatch>>) =>
  (await changes()).map(({ updates }) => updates.name?.after);

describe.each(SUITE_ENGINES)('changes of a company are still reported, on %s,', (engine) => {
  it('after a document with a future loading time', async () => {
    const fixture = await setWatch(await newStore(engine));
    const versions = [
      named('A ApS', { loaded: START - HOUR }),
      named('B ApS', { loaded: START + 40_000 * DAY }),
      named('C ApS', { loaded: START + 2 * HOUR }),
      named('D ApS', { loaded: START + 3 * HOUR }),
    ];
    for (const version of versions) {
      await fixture.tell(version);
      await fixture.run();
      fixture.forward(HOUR);
    }
    expect(await namesToldOf(fixture)).toEqual(['B ApS', 'C ApS', 'D ApS']);
    for (const time of await timesIn(fixture.store)) expect(time < at(fixture.now())).toBe(true);
  });

  it('from documents that do not state when they were loaded', async () => {
    const fixture = await setWatch(await newStore(engine));
    for (const version of [
      named('A ApS', { loaded: START - HOUR }),
      named('B ApS', { loaded: null }),
      named('C ApS', { loaded: null, updated: null }),
      named('D ApS', { loaded: START + 5 * HOUR }),
    ]) {
      await fixture.tell(version);
      await fixture.run();
      fixture.forward(2 * HOUR);
    }
    expect(await namesToldOf(fixture)).toEqual(['B ApS', 'C ApS', 'D ApS']);
    const times = await timesIn(fixture.store);
    expect([...times].sort()).toEqual(times);
    expect(times.every((time) => time > at(START - HOUR))).toBe(true);
    const state = (await readFullStates(fixture.store.db, [ENTITY])).get(ENTITY);
    expect((state?.timestamp ?? '') >= (times.at(-1) ?? '?')).toBe(true);
  });
});

describe.each(SUITE_ENGINES)('a company that is seen for the first time on %s', (engine) => {
  it('is new at the latest when its document was loaded, whatever its entries say', async () => {
    const fixture = await setWatch(await newStore(engine));
    const [today, late] = [at(START).slice(0, 10), at(START + 40_000 * DAY)];
    const company = companyIn(named('A ApS', { loaded: START, updated: START + 40_000 * DAY }));
    const livsforloeb = [entry({}, today, null, late)];
    await fixture.tell({ Vrvirksomhed: { ...company, livsforloeb, navne: [name('A ApS', today, null, late)] } });
    await fixture.run();
    expect(await fixture.events()).toEqual([`${ENTITY} newCompany`]);
    const [timestamp] = await timesIn(fixture.store);
    expect(timestamp).toBe(at(START));
    const state = (await readFullStates(fixture.store.db, [ENTITY])).get(ENTITY);
    expect(state?.timestamp).toBe(at(START));
  });
});
