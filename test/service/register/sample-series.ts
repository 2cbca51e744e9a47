/**
 * The series in `samples/register`: invented companies, and what happens to them in the order of its files.
 *
 * `node test/service/register/sample-series.ts` writes the files anew; a test holds them to this.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOf } from '../../../src/commands/emulate/sample/document.ts';
import { unitDocumentOf } from '../../../src/commands/emulate/sample/unit.ts';
import type { SampleRun, Version } from '../../../src/commands/emulate/sample/value-runs.ts';
import type { Entity } from '../../../src/protocol/formats.ts';
import { type SampleCompany, sampleCompany } from '../../../src/protocol/sample/company.ts';

export const SERIES_FOLDER = join(import.meta.dirname, '../../../samples/register');

export interface Sample {
  readonly file: string;
  readonly document: unknown;
}

const FORMS = {
  ApS: { companyFormCode: 80, shortDescription: 'ApS', longDescription: 'Anpartsselskab' },
  'A/S': { companyFormCode: 60, shortDescription: 'A/S', longDescription: 'Aktieselskab' },
  'I/S': { companyFormCode: 30, shortDescription: 'I/S', longDescription: 'Interessentskab' },
} as const;

/** A company with few people, so that its document stays small. */
function company(seed: number, name: string, form: keyof typeof FORMS, changes: Partial<SampleCompany>): SampleCompany {
  const sample = sampleCompany(seed);
  return {
    ...sample,
    name,
    altNames: [],
    form: { ...sample.form, ...FORMS[form] },
    fax: null,
    trueOwnership: [],
    trueVoteRights: [],
    accountant: [],
    board: [],
    commercialProtection: false,
    ...changes,
  };
}

const asOwner = ({ entityId, name }: SampleCompany, ownership: string) => ({
  entityId,
  name,
  type: 'Company',
  ownership,
});
const person = (number: number, name: string): Entity => ({
  entityId: `CVR-3-${4_999_900_000 + number}`,
  name,
  type: 'Person',
});

/** Hours after the first document, when the register loads one. */
const START = Date.UTC(2026, 1, 2, 8);
const at = (day: string): number => Date.parse(`${day}T09:00:00Z`);

type Past = [Version, ...Version[]];
const begun = (is: SampleCompany): Past => {
  const from = is.started.slice(0, 10);
  return [{ company: is, from, at: at(from) }];
};
const then = (past: Past, from: string, changes: Partial<SampleCompany>): Past => {
  const { company: last } = past.at(-1) ?? past[0];
  return [...past, { company: { ...last, ...changes }, from, at: at(from) }];
};

export function sampleSeries(): readonly Sample[] {
  const people = {
    baker: person(1, 'Eksempla Blankær'),
    chair: person(2, 'Attrap Nulrup'),
    member: person(3, 'Skitse Mønstergaard'),
    newcomer: person(4, 'Prøve Pladsholder'),
    partner: person(5, 'Øvelse Skinhøj'),
  };
  const auditor: Entity = { entityId: sampleCompany(15).entityId, name: 'Kladde Revisorer ApS', type: 'Company' };
  const bakery = begun(
    company(11, 'Demodal Bageri ApS', 'ApS', {
      started: '2019-05-01T00:00:00',
      ownership: [{ ...people.baker, ownership: '100' }],
      management: [people.baker],
    }),
  );
  const wind = begun(
    company(12, 'Skinbjerg Vindteknik A/S', 'A/S', {
      started: '2012-09-03T00:00:00',
      ownership: [],
      board: [people.chair, people.member],
      management: [],
      accountant: [auditor],
    }),
  );
  const partners = begun(
    company(13, 'Fiktivby Fiskeri I/S', 'I/S', {
      started: '2016-01-15T00:00:00',
      ownership: [],
      management: [],
      stakeholders: [people.partner, people.newcomer],
    }),
  );
  const holding = begun(
    company(14, 'Luftkastel Holding ApS', 'ApS', {
      started: '2021-11-08T00:00:00',
      ownership: [{ ...people.baker, ownership: '100' }],
      management: [people.baker],
      purpose: 'Selskabets formål er at eje kapitalandele i andre selskaber.',
    }),
  );
  const founded = begun(
    company(16, 'Papirtiger Software ApS', 'ApS', {
      started: '2026-02-05T00:00:00',
      ownership: [asOwner(holding[0].company, '100')],
      management: [people.newcomer],
    }),
  );
  const [unit = people.baker] = wind[0].company.pUnits;
  const named = (...names: readonly (readonly [string, string, string | null])[]): readonly SampleRun<string>[] =>
    names.map(([value, from, to]) => ({ value, from, to, at: at(from) }));
  const units = named([unit.name ?? '', '2012-09-03', null]);
  const renamedUnit = named([unit.name ?? '', '2012-09-03', '2026-02-09'], ['Vingeværkstedet', '2026-02-10', null]);

  const bakeryMoved = then(bakery, '2026-02-03', {
    name: 'Demodal Brød og Kage ApS',
    address: sampleCompany(21).address,
  });
  const bakerySold = then(bakeryMoved, '2026-02-11', {
    ownership: [
      { ...people.baker, ownership: '50-66.67' },
      { ...people.newcomer, ownership: '33.33-50' },
    ],
    phoneNumber: '10203040',
  });
  const windBoard = then(wind, '2026-02-04', { board: [people.chair, people.newcomer] });
  const windGrown = then(windBoard, '2026-02-12', {
    capital: { ...wind[0].company.capital, value: 1_500_000 },
    monthly: { year: 2025, month: 12, count: 64 },
    pUnits: [unit, { entityId: 'CVR-2-1999000017', name: 'Skinbjerg Vindteknik, lager', type: 'Place' }],
  });
  const windBroke = then(windGrown, '2026-02-20', { status: 'UNDER KONKURS' });
  const partnerGone = then(partners, '2026-02-13', { stakeholders: [people.partner] });
  const merger = { entity: asOwner(founded[0].company, '100'), dissolved: true };
  const dissolved = then(founded, '2026-02-18', {
    merger,
    status: 'OPLØST EFTER FUSION',
    ended: '2026-02-18T00:00:00',
  });
  const survived = then(holding, '2026-02-18', { merger: { ...merger, dissolved: false } });

  const documents: readonly ((loadedAt: number) => unknown)[] = [
    (loadedAt) => documentOf(bakery, { loadedAt }),
    (loadedAt) => documentOf(wind, { loadedAt }),
    (loadedAt) => unitDocumentOf(unit, wind, { loadedAt, names: units }),
    (loadedAt) => documentOf(partners, { loadedAt }),
    (loadedAt) => documentOf(holding, { loadedAt }),
    (loadedAt) => documentOf(bakeryMoved, { loadedAt }),
    (loadedAt) => documentOf(windBoard, { loadedAt }),
    (loadedAt) => documentOf(founded, { loadedAt }),
    (loadedAt) => unitDocumentOf(unit, wind, { loadedAt, names: renamedUnit }),
    (loadedAt) => documentOf(bakerySold, { loadedAt }),
    (loadedAt) => documentOf(windGrown, { loadedAt }),
    (loadedAt) => documentOf(partnerGone, { loadedAt }),
    (loadedAt) => documentOf(dissolved, { loadedAt }),
    (loadedAt) => documentOf(survived, { loadedAt }),
    (loadedAt) => documentOf(windBroke, { loadedAt }),
  ];
  const STEP = 36 * 3_600_000;
  return documents.map((make, index) => ({
    file: `${String(index + 1).padStart(4, '0')}.json`,
    document: make(START + index * STEP),
  }));
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(SERIES_FOLDER, { recursive: true });
  for (const { file, document } of sampleSeries()) writeFileSync(join(SERIES_FOLDER, file), JSON.stringify(document));
}
