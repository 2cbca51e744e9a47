/** The same stories, told by the register's documents and by the rows of Datafordeler. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { translated } from '../../../../../src/commands/emulate/datafordeler/from-document.ts';
import { changesOf, unitChanges } from '../../../../../src/service/register/diff/diff.ts';
import type { Company } from '../../../../../src/service/register/document/company.ts';
import { contentOf, readDocument } from '../../../../../src/service/register/document/document.ts';
import { ALL_FAMILIES, type Family, unspokenBy } from '../../../../../src/service/register/document/families.ts';
import { comparable, withKnown } from '../../../../../src/service/register/document/known.ts';
import { type DocumentStatement, statedBy } from '../../../../../src/service/register/document/stated.ts';
import type { Unit } from '../../../../../src/service/register/document/unit.ts';
import { compose } from '../../../../../src/service/register/source/datafordeler/compose.ts';
import { DATAFORDELER_FAMILIES } from '../../../../../src/service/register/source/datafordeler/families.ts';
import type { UnitRows } from '../../../../../src/service/register/source/datafordeler/rows.ts';
import { documentsIn } from '../../../../../src/service/register/source/source.ts';
import { SAMPLE_FOLDERS } from '../../../../support/outside.ts';
import { sampleDocuments } from '../../../../support/sample-documents.ts';
import { CARRIED } from '../../carried.ts';
import { document, entry, firm, industry, OPTIONS, organisation, person, relation, TODAY } from '../../documents.ts';

const PARTNERSHIP = organisation('FULDT_ANSVARLIG_DELTAGERE', 'Interessenter');

/** The document that Datafordeler's rows of the same unit compose. */
function recomposed(document: unknown): unknown {
  const units = translated(document);
  const own = units.at(-1)?.rows ?? {};
  const others = units.slice(0, -1).map(({ rows }) => rows);
  const of = (entity: string) => others.flatMap((rows) => rows[entity] ?? []);
  const isCompany = contentOf(document)?.['cvrNummer'] !== undefined;
  const members: UnitRows = isCompany
    ? { Produktionsenhed: of('Produktionsenhed'), partners: of('CVREnhed'), partnerNames: of('Navn') }
    : {};
  return compose({ ...own, ...members }, null);
}

interface Read {
  readonly snapshot: Company | Unit;
  readonly says: DocumentStatement;
}

function readOn(document: unknown, today: string, families: readonly Family[] = ALL_FAMILIES): Read {
  const reading = readDocument(document, today);
  if (reading.kind !== 'company' && reading.kind !== 'unit') throw new Error(`the document is ${reading.kind}`);
  const traces = reading.kind === 'company' ? reading.traces : new Map();
  const says = statedBy(contentOf(document) ?? {}, reading.kind, {
    unspoken: unspokenBy(families),
    traces,
    unread: reading.unread,
  });
  return { snapshot: reading.kind === 'company' ? reading.company : reading.unit, says };
}

// What Datafordeler leaves out, or says in its own words; the period of an entry is no content.
const ASIDE = new Set(['period', 'lastUpdated', 'shortDescription', 'responsibleDataProvider', 'isNow']);

const plain = (event: string, value: unknown): unknown => {
  if (event === 'status') return 'another status';
  // A person has no name there.
  const aside = event === 'stakeholders' ? new Set([...ASIDE, 'name', 'type']) : ASIDE;
  return JSON.parse(JSON.stringify(value, (key, each) => (aside.has(key) ? undefined : each)));
};

/** The carried events of one step of a story. */
function eventsOf(before: Read | undefined, after: Read, today: string): Record<string, unknown> {
  const options = { ...OPTIONS, today };
  const [was, is] = [before?.snapshot, after.snapshot];
  const changes =
    is.kind === 'unit'
      ? unitChanges(was?.kind === 'unit' ? was : undefined, is, options)
      : changesOf(was?.kind === 'company' ? was : undefined, is, options);
  const entries = changes.flatMap(({ updates }) => Object.entries(updates));
  return Object.fromEntries(
    entries.filter(([event]) => CARRIED.has(event)).map(([event, value]) => [event, plain(event, value)]),
  );
}

/** Days on which something in a document begins, or is over. */
const daysIn = (document: unknown): readonly string[] => {
  const text = JSON.stringify(document);
  const from = [...text.matchAll(/"gyldigFra":"(\d{4}-\d{2}-\d{2})/g)].map(([, day = '']) => day);
  const after = [...text.matchAll(/"gyldigTil":"(\d{4}-\d{2}-\d{2})/g)].map(([, day = '']) => dayAfter(day));
  return [...new Set([...from, ...after])].filter((day) => day > '1990' && day < '2030').sort();
};
const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

/** The coarse word that Datafordeler has for a status. */
const coarse = (status: string | null): string => {
  const text = status?.toUpperCase() ?? '';
  if (text === '') return text;
  if (text === 'UNDER KONKURS') return text;
  return /^(?:OPLØST|TVANGSOPLØST|SLETTET|OPHØRT|UDEN RETSVIRKNING)/.test(text) ? 'OPHØRT' : 'AKTIV';
};

/** Drops a change of status that the coarse words do not show. */
function withoutFineStatus(events: Readonly<Record<string, unknown>>, was: Read | undefined, is: Read) {
  const [before, after] = [was?.snapshot, is.snapshot];
  if (before?.kind !== 'company' || after.kind !== 'company') return events;
  if (coarse(before.status.value) !== coarse(after.status.value)) return events;
  const { status: _, ...rest } = events;
  return rest;
}

const label = (document: unknown): string =>
  String(contentOf(document)?.['cvrNummer'] ?? contentOf(document)?.['pNummer']);

describe.each(SAMPLE_FOLDERS)('the history in $kind documents', ({ folder }) => {
  const files = globSync('cvr-es/**/*.json', { cwd: folder }).filter(
    (file) => !file.includes('deltager') && !file.includes('reference'),
  );
  const documents = files.flatMap((file) => documentsIn(JSON.parse(readFileSync(join(folder, file), 'utf8'))));

  test.each(documents.map((document) => [label(document), document] as const))(
    'is the same from day to day: %s',
    (_, document) => {
      const other = recomposed(document);
      const statuses = contentOf(document)?.['virksomhedsstatus'];
      const hasStatuses = Array.isArray(statuses) && statuses.length > 0;
      let last: { readonly theirs: Read; readonly ours: Read } | undefined;
      for (const day of daysIn(document)) {
        const now = { theirs: readOn(document, day), ours: readOn(other, day, DATAFORDELER_FAMILIES) };
        if (last !== undefined) {
          const expected = withoutFineStatus(eventsOf(last.theirs, now.theirs, day), last.theirs, now.theirs);
          const events = eventsOf(last.ours, now.ours, day);
          // The register has no history of a composed status, and uses it for days before the first status.
          const { snapshot } = last.ours;
          if (!hasStatuses || (snapshot.kind === 'company' && snapshot.status.value === null)) delete events['status'];
          expect({ day, ...events }).toEqual({ day, ...expected });
        }
        last = now;
      }
    },
  );
});

test('a long series of changes is the same, and a change of sources reports none', () => {
  const known = new Map<string, { readonly theirs: Read; readonly ours: Read }>();
  const seen = new Set<string>();
  let today = '2025-01-06';
  for (const document of sampleDocuments(7, 6, 150)) {
    const stated = String(contentOf(document)?.['sidstIndlaest']).slice(0, 10);
    today = stated > today ? stated : today;
    const key = label(document);
    const before = known.get(key);
    const now = { theirs: readOn(document, today), ours: readOn(recomposed(document), today, DATAFORDELER_FAMILIES) };
    const expected = withoutFineStatus(eventsOf(before?.theirs, now.theirs, today), before?.theirs, now.theirs);
    const events = eventsOf(before?.ours, now.ours, today);
    expect({ key, ...events }).toEqual({ key, ...expected });
    for (const event of Object.keys(events)) seen.add(event);
    known.set(key, now);
    if (now.theirs.snapshot.kind !== 'company' || now.ours.snapshot.kind !== 'company') continue;
    const options = { ...OPTIONS, today };
    const [theirs, ours] = [now.theirs.snapshot, now.ours.snapshot];
    const change = (was: Company, read: Company, says: DocumentStatement): Company => {
      const is = withKnown(was, read, says);
      expect(changesOf(comparable(was, is), is, options)).toEqual([]);
      return is;
    };
    // From the register to Datafordeler and back; and the other way round.
    change(change(withKnown(undefined, theirs, now.theirs.says), ours, now.ours.says), theirs, now.theirs.says);
    change(change(withKnown(undefined, ours, now.ours.says), theirs, now.theirs.says), ours, now.ours.says);
  }
  expect(seen.size).toBeGreaterThan(8);
});

test.each([
  ['altIndustries', { bibranche1: [industry('479110')] }],
  ['lifetimeEnded', { livsforloeb: [entry({}, '2020-01-01', '2026-03-01')] }],
  ['lifetimeStarted', { livsforloeb: [entry({}, '2020-01-01', '2024-01-01'), entry({}, '2026-02-01')] }],
  ['stakeholders', { deltagerRelation: [relation(firm(95_000_027, 'Ejer ApS'), PARTNERSHIP)] }],
  ['stakeholders', { deltagerRelation: [relation(person(4_999_000_002, 'Anna Testesen'), PARTNERSHIP)] }],
] as const)('%s is the same', (event, fields) => {
  const [before, after] = [document({ bibranche1: [], deltagerRelation: [] }), document({ bibranche1: [], ...fields })];
  const theirs = eventsOf(readOn(before, TODAY), readOn(after, TODAY), TODAY);
  const ours = eventsOf(
    readOn(recomposed(before), TODAY, DATAFORDELER_FAMILIES),
    readOn(recomposed(after), TODAY, DATAFORDELER_FAMILIES),
    TODAY,
  );
  expect(Object.keys(ours)).toContain(event);
  expect(ours[event]).toEqual(theirs[event]);
});

test('a new company is new in both', () => {
  const since = ['2026-03-01', null, '2026-03-02T09:00:00.000+01:00'] as const;
  const born = document({ livsforloeb: [entry({}, ...since)], navne: [entry({ navn: 'Ny ApS' }, ...since)] });
  const ours = readOn(recomposed(born), TODAY, DATAFORDELER_FAMILIES);
  expect(eventsOf(undefined, ours, TODAY)).toEqual(eventsOf(undefined, readOn(born, TODAY), TODAY));
  expect(eventsOf(undefined, ours, TODAY)).toHaveProperty('newCompany');
});
