/** The connector folds what the service sends: in the end it knows the same as from the last full state alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldName } from '../../providers/fields.ts';
import { extract } from '../../src/connector/facts/extract.ts';
import { type Fact, fold, visible } from '../../src/connector/facts/fact.ts';
import type { Updates } from '../../src/protocol/payload.ts';
import { readPayload, writePayload } from '../../src/protocol/payload.ts';
import { normaliseTime } from '../../src/protocol/text/time.ts';
import { changesOf } from '../../src/service/register/diff/diff.ts';
import type { DiffOptions } from '../../src/service/register/diff/differ.ts';
import { stateOf } from '../../src/service/register/diff/state.ts';
import type { Company } from '../../src/service/register/document/company.ts';
import { readDocument } from '../../src/service/register/document/document.ts';
import { readDocuments } from '../../src/service/register/watch/read-page.ts';
import { SAMPLE_FOLDERS } from '../support/outside.ts';
import { sampleDocuments } from '../support/sample-documents.ts';
import { arbitraryDocument, DAYS } from './register/arbitrary.ts';
import { OPTIONS } from './register/documents.ts';

interface Connector {
  hear(entityId: string, timestamp: string, updates: Updates): void;
  knows(): Readonly<Record<string, unknown>>;
}

// Told of one at a time, so that no state holds them; and when the register last changed.
const ASIDE = new Set<FieldName>(['productionUnits', 'subsidiaries', 'mergedInto', 'registerChangedAt']);

function connector(): Connector {
  const facts = new Map<FieldName, Fact>();
  let seq = 0;
  return {
    hear(entityId, timestamp, updates) {
      const read = readPayload(JSON.parse(JSON.stringify(writePayload({ entityId, timestamp, updates }))));
      if (!read.ok) throw new Error('what was told cannot be read');
      expect(read.payload.malformed).toEqual([]);
      seq++;
      for (const said of extract(read.payload))
        facts.set(said.field, fold(facts.get(said.field), entityId, said, seq).fact);
    },
    knows: () =>
      Object.fromEntries(
        [...facts].sort().flatMap(([field, { value }]) => {
          const shown = 'scalar' in value ? value.scalar : visible(value.list).members;
          const isBlank = shown === null || (Array.isArray(shown) && shown.length === 0);
          return ASIDE.has(field) || isBlank ? [] : [[field, shown]];
        }),
      ),
  };
}

/** As `readStates` dates a state. */
function stateTime({ registeredAt, loadedAt }: Company, newest: string): string {
  const registered = normaliseTime(registeredAt ?? '') ?? loadedAt;
  const known = newest < loadedAt ? newest : loadedAt;
  return known > registered ? known : registered;
}

interface Look {
  readonly company: Company;
  /** Somebody asks for the whole state after it. */
  readonly asked: boolean;
}

/** The changes that are addressed to the company itself; none at its first look. */
const changesOfItsOwn = (before: Company | undefined, after: Company, options: DiffOptions) =>
  before === undefined ? [] : changesOf(before, after, options).filter(({ entity }) => entity === after.entity);

/** Tells a connector of a company from its first look on, and returns what it knows in the end. */
function toldOf(looks: readonly Look[], options: DiffOptions): readonly [told: unknown, stated: unknown] {
  const listener = connector();
  let newest = '';
  let before: Company | undefined;
  for (const { company, asked } of looks) {
    for (const { entity, timestamp, updates } of changesOfItsOwn(before, company, options)) {
      listener.hear(entity, timestamp, updates);
      if (timestamp > newest) newest = timestamp;
    }
    if (before === undefined || asked)
      listener.hear(company.entity, stateTime(company, newest), stateOf(company, options));
    before = company;
  }
  if (before === undefined) throw new Error('nobody looked');
  const fresh = connector();
  fresh.hear(before.entity, stateTime(before, ''), stateOf(before, options));
  return [listener.knows(), fresh.knows()];
}

const companyIn = (document: unknown, today: string): readonly Company[] => {
  const reading = readDocument(document, today);
  return reading.kind === 'company' ? [reading.company] : [];
};

/** The document read again on a day that it names. */
async function readAgain(document: unknown, today: string): Promise<readonly Company[]> {
  const { looks } = await readDocuments([document], {
    today,
    breathe: async () => undefined,
    again: true,
    beneficialOwners: true,
  });
  return looks.flatMap(({ snapshot }) => (snapshot.kind === 'company' ? [snapshot] : []));
}

/** The month of a number that stayed the same is not told. */
const withoutMonth = (known: unknown) => ({ ...Object(known), employeesMonth: null });

describe('what the connector knows of a company in the end', () => {
  test.each([1, 2, 3, 4, 5])('of series %i of sample documents, equals its last document', (seed) => {
    const companies = [...sampleDocuments(seed, 5, 200)].flatMap((document) => companyIn(document, '2026-03-10'));
    const byEntity = Map.groupBy(companies, ({ entity }) => entity);
    expect(byEntity.size).toBe(5);
    for (const looks of byEntity.values()) {
      const [told, stated] = toldOf(
        looks.map((company, at) => ({ company, asked: at % 7 === 3 })),
        OPTIONS,
      );
      expect(withoutMonth(told)).toEqual(withoutMonth(stated));
    }
  });

  test('of any documents, read on any days, equals the last document', async () => {
    const look = fc.record({ document: arbitraryDocument, asked: fc.boolean(), again: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(look, { minLength: 2, maxLength: DAYS.length }), async (series) => {
        const looks: Look[] = [];
        for (const [at, { document, asked, again }] of series.entries()) {
          const [today = '', tomorrow = today] = DAYS.slice(at);
          // Loaded a moment before it is read; its entries bear any times.
          const loaded = { sidstIndlaest: `${today}T08:00:00.000Z`, sidstOpdateret: `${today}T07:00:00.000Z` };
          const whole = { Vrvirksomhed: { ...Object(document['Vrvirksomhed']), ...loaded } };
          const read = [...companyIn(whole, today), ...(again ? await readAgain(whole, tomorrow) : [])];
          looks.push(...read.map((company) => ({ company, asked })));
        }
        const [told, stated] = toldOf(looks, OPTIONS);
        const untold = Object.fromEntries(TAKEN_BACK.map((field) => [field, null]));
        expect({ ...Object(told), ...untold }).toEqual({ ...Object(stated), ...untold });
      }),
      { numRuns: 500 },
    );
  });
});

/** Before the first entry of any company's. */
const BEFORE_ALL = '1900-01-01';

describe.each(SAMPLE_FOLDERS)(
  'a document of the register, $kind, that is read on every day that it names',
  ({ folder }) => {
    const documents = join(folder, 'cvr-es');
    const files = readdirSync(documents).filter((name) => name.startsWith('virksomhed'));

    test.each(files)('%s ends with its state of the last day', async (file) => {
      const [{ _source: source }] = JSON.parse(readFileSync(join(documents, file), 'utf8')).hits.hits;
      const loaded = { sidstIndlaest: `${BEFORE_ALL}T00:00:00.000Z`, sidstOpdateret: `${BEFORE_ALL}T00:00:00.000Z` };
      const document = { Vrvirksomhed: { ...source.Vrvirksomhed, ...loaded } };
      const looks: Look[] = [];
      for (let day: string | null = BEFORE_ALL; day !== null; ) {
        looks.push(...(await readAgain(document, day)).map((company) => ({ company, asked: looks.length % 5 === 3 })));
        const reading = readDocument(document, day);
        day = reading.kind === 'company' ? reading.aheadOn : null;
      }
      expect(looks.length).toBeGreaterThan(2);
      const [told, stated] = toldOf(looks, OPTIONS);
      expect(withoutMonth(told)).toEqual(withoutMonth(stated));
    });
  },
);

/** Figures that the register took back, and a life that never was, are not told of; what no company is without stays known. */
const TAKEN_BACK = [
  ...['employees', 'employeesMonth', 'employeesQuarterly', 'employeesYearly', 'startDate', 'endDate'],
  ...['name', 'formCode', 'form', 'formText', 'advertisingProtected'],
];
