/** Value, empty, and unreadable are three states: an unreadable value keeps the known one, is not sent, and is in review. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { readCopy } from '../../../src/connector/review/unreadable-entries.ts';
import { readFullStates } from '../../../src/service/items/full-state.ts';
import { stateOf } from '../../../src/service/register/diff/state.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';
import { SAMPLE_FOLDERS } from '../../support/outside.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import {
  address,
  attribute,
  contact,
  document,
  ENTITY,
  entry,
  industry,
  type Json,
  name,
  OPTIONS,
  owns,
  person,
  relation,
  value,
} from './documents.ts';
import { START, setWatch } from './watch-fixture.ts';

const ANNA = person(4_999_000_002, 'Anna Testesen');
const BO = person(4_999_000_003, 'Bo Opdigtsen');
const attributes = (...attributter: readonly Json[]): Json => ({ attributter });
const bylaws = (day: string) => attributes(attribute('VEDTÆGT_SENESTE', value(day)));
const capital = (amount: string) =>
  attributes(attribute('KAPITAL', value(amount)), attribute('KAPITALVALUTA', value('DKK')));
const owned = (share: string) => ({ deltagerRelation: [relation(ANNA, owns(share))] });
const monthly = (...figures: readonly (readonly [aar: unknown, maaned: unknown, antalAnsatte: unknown])[]): Json => ({
  erstMaanedsbeskaeftigelse: figures.map(([aar, maaned, antalAnsatte], at) => ({
    ...{ aar, maaned, antalAnsatte },
    sidstOpdateret: `2026-04-0${at + 1}T09:00:00.000+02:00`,
  })),
});

/** Documents come one after the other; what was sent, and what stands in review. */
async function tellOn(engine: (typeof ENGINES)[number], ...versions: readonly Json[]) {
  const fixture = await setWatch(await newStore(engine));
  const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
  await fixture.tell(...versions.map((fields, n) => document({ ...fields, sidstIndlaest: at(n) })));
  await fixture.run();
  const { db } = fixture.store;
  return {
    told: (await fixture.changes()).filter(({ entity }) => entity === ENTITY).map(({ updates }) => updates),
    review: await Promise.all(
      (await readReview(db, START, { kinds: ['document'] })).map(
        async ({ id, reason }) => `${reason} | ${await readCopy(db, id)}`,
      ),
    ),
    state: stateOf((await readFullStates(db, [ENTITY])).get(ENTITY)?.company ?? raise(), OPTIONS),
  };
}
const raise = (): never => {
  throw new Error('the company is not known');
};

describe.each(SUITE_ENGINES)('an unreadable value, on %s', (engine) => {
  it.each<[what: string, known: Json, unreadable: Json, next: Json, part: string, text: string]>([
    [
      'a day that cannot be',
      bylaws('2025-06-01'),
      bylaws('2026-02-30'),
      bylaws('2026-03-01'),
      'bylawsChangedDate',
      '2026-02-30',
    ],
    ['an amount', capital('40000.00'), capital('1.250.000,00'), capital('1250000.00'), 'capital', '1.250.000,00'],
    ['a share', owned('0.25'), owned('33.33'), owned('0.3333'), 'ownership', '33.33'],
    [
      'an empty purpose',
      attributes(attribute('FORMÅL', value('Rav'))),
      attributes(attribute('FORMÅL', value(' '))),
      attributes(attribute('FORMÅL', value('Rugbrød'))),
      'purpose',
      '" "',
    ],
    [
      'an empty phone number',
      { telefonNummer: [contact('70121212')] },
      { telefonNummer: [contact('')] },
      { telefonNummer: [contact('70131313')] },
      'phoneNumber',
      '"kontaktoplysning":""',
    ],
    [
      'an industry without a code',
      { hovedbranche: [industry('107120')] },
      { hovedbranche: [industry('')] },
      { hovedbranche: [industry('472400')] },
      'industry',
      '"branchekode":""',
    ],
    [
      'an address of nothing',
      { beliggenhedsadresse: [address({ vejnavn: 'Ravvej' })] },
      { beliggenhedsadresse: [entry({ vejnavn: '' })] },
      { beliggenhedsadresse: [address({ vejnavn: 'Rugvej' })] },
      'address',
      '"vejnavn":""',
    ],
    [
      'a secondary name',
      { binavne: [name('Bi ApS')] },
      { binavne: [name('')] },
      { binavne: [name('Andet Bi ApS')] },
      'altNames',
      '"navn":""',
    ],
  ])(
    '(%s) keeps the known value, and is in review with its text',
    async (_, ...[known, unreadable, next, part, text]) => {
      const { told, review, state } = await tellOn(engine, known, unreadable);
      expect(told).toEqual([]);
      expect(state).toHaveProperty(part);
      expect(state).toEqual((await tellOn(engine, known)).state);
      expect(review).toEqual([expect.stringContaining(text)]);
      expect(review[0]).toContain(part);
      const later = await tellOn(engine, known, unreadable, next);
      expect(later.told).toEqual((await tellOn(engine, known, next)).told);
      expect(later.told.flatMap(Object.keys)).toEqual([part]);
    },
  );

  it('is not sent at the first version either, and is no change once it is readable', async () => {
    const first = await tellOn(engine, { ...capital('1.250.000,00'), ...owned('33.33') });
    expect([first.state.capital, first.state.ownership]).toEqual([undefined, undefined]);
    const { told, state } = await tellOn(engine, owned('33.33'), owned('0.3333'));
    expect(told).toEqual([]);
    expect(state.ownership?.added).toMatchObject([{ name: 'Anna Testesen', ownership: '33.33-50' }]);
  });

  it('does not hold back another owner, and a new one has the readable share', async () => {
    const both = (share: string, bos: string) => ({
      deltagerRelation: [relation(ANNA, owns(share)), relation(BO, owns(bos))],
    });
    const { told } = await tellOn(engine, owned('0.25'), both('0.5', '33.33'), both('0.5', '0.25'));
    expect(told.map(({ ownership }) => ownership)).toMatchObject([
      { added: [], removed: [], changed: [{ name: 'Anna Testesen', ownership: '50-66.67' }] },
      { added: [{ name: 'Bo Opdigtsen', ownership: '25-33.33' }], removed: [], changed: [] },
    ]);
  });

  it.each([
    ['a month 13', [2026, 13, 9]],
    ['a year 0', [0, 1, 9]],
    ['a year that is to come', [2206, 2, 9]],
    ['a month that is to come', [2026, 12, 9]],
    ['a number of nothing', [2026, 3, 'mange']],
  ] as const)('is a figure of %s: it is skipped, and the next one counts', async (_, wrong) => {
    const { told, review, state } = await tellOn(
      engine,
      monthly([2026, 1, 4]),
      monthly([2026, 1, 4], wrong),
      monthly([2026, 1, 4], wrong, [2026, 2, 5]),
    );
    expect(told).toEqual([{ monthlyEmployeeCount: { year: 2026, month: 2, before: 4, after: 5 } }]);
    expect(state.monthlyEmployeeCount).toMatchObject({ after: 5 });
    expect(review.join()).toContain(JSON.stringify(wrong[0]));
  });

  it('is a quarter 5', async () => {
    const quarter = (kvartal: number, antalAnsatte: number): Json => ({
      kvartalsbeskaeftigelse: [{ aar: 2025, kvartal, antalAnsatte }],
    });
    const { told, review } = await tellOn(engine, quarter(4, 3), quarter(5, 30));
    expect([told, review]).toEqual([[], [expect.stringContaining('"kvartal":5')]]);
  });
});

describe.each(SUITE_ENGINES)('figures that the register takes back, on %s', (engine) => {
  const [april, may] = [[2025, 4, 4] as const, [2025, 5, 5] as const];
  const sentOf = async (...versions: readonly Json[]) =>
    (await tellOn(engine, ...versions)).told.map(({ monthlyEmployeeCount }) => monthlyEmployeeCount);
  const first = [monthly(april), monthly(april, may), monthly(april)];

  const sent = { year: 2025, month: 5, before: 4, after: 5 };

  it('are reported as gone at once, with the remaining one', async () => {
    const back = { year: 2025, month: 4, before: 5, after: 4 };
    expect(await sentOf(...first)).toEqual([sent, back]);
    expect(await sentOf(...first, monthly(april, [2025, 5, 4]))).toEqual([sent, back]);
    expect(await sentOf(...first, monthly(april, may))).toEqual([sent, back, sent]);
    expect(await sentOf(...first, monthly(april, [2025, 6, 7]))).toEqual([sent, back, { ...sent, month: 6, after: 7 }]);
  });

  it('are not gone if their own entry is unreadable, or the list of months is missing', async () => {
    const told = first.slice(0, 2);
    expect(await sentOf(...told, monthly(april, [2025, 5, 'mange']))).toEqual([sent]);
    expect(await sentOf(...told, { maanedsbeskaeftigelse: [{ aar: 2025, maaned: 4, antalAnsatte: 4 }] })).toEqual([
      sent,
    ]);
  });

  it('are gone even if none remained for a while', async () => {
    expect(await sentOf(monthly(may), monthly([2025, 4, null]), monthly([2025, 5, 4]))).toEqual([
      { year: 2025, month: 5, before: 5, after: 4 },
    ]);
  });
});

describe.each(SAMPLE_FOLDERS)('documents of the register, $kind', ({ folder }) => {
  it('state nothing unreadable', () => {
    const place = join(folder, 'cvr-es');
    const files = readdirSync(place).filter((file) => file.endsWith('.json'));
    const found = files.flatMap((file) => {
      const answer = JSON.parse(readFileSync(join(place, file), 'utf8'));
      return answer.hits.hits.flatMap(({ _source }: { _source: unknown }) => {
        const reading = readDocument(_source, '2026-11-27');
        return reading.kind === 'unreadable'
          ? []
          : [...reading.unread].map(([part, text]) => `${file} ${part} ${text}`);
      });
    });
    expect(found).toEqual([]);
  });
});
