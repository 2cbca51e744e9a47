/** Compares with results found by other means: for invented documents, and for the register's own if they lie beside the checkout. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPayload, writePayload } from '../../../src/protocol/payload.ts';
import { changesOf, diff } from '../../../src/service/register/diff/diff.ts';
import { stateOf } from '../../../src/service/register/diff/state.ts';
import type { Company } from '../../../src/service/register/document/company.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';
import { SAMPLE_FOLDERS } from '../../support/outside.ts';
import { OPTIONS } from './documents.ts';

const json = (...path: readonly string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
const sourcesOf = (...path: readonly string[]): readonly unknown[] =>
  json(...path).hits.hits.map((hit: { _source: unknown }) => hit._source);

const companyOf = (source: unknown, today: string): Company => {
  const reading = readDocument(source, today);
  if (reading.kind !== 'company') throw new Error(`the document is ${reading.kind}`);
  return reading.company;
};

type Row = readonly (string | number | null)[];
type Reference = Readonly<Record<'before' | 'after' | 'added' | 'removed' | 'changed', unknown>>;
type Expected = Readonly<Record<string, Reference>>;

const rows = (list: unknown): readonly Row[] => (Array.isArray(list) ? list : []);
const sorted = (list: readonly unknown[]): readonly string[] => list.map((each) => JSON.stringify(each)).sort();

// The reference gives beneficial shares as the register's fractions, the wire as percentages.
const PERCENT: Readonly<Record<string, string>> = { '0.3333': '33.33', '0.3': '30', '0.2': '20' };

const shareOf = (member: object): unknown =>
  'ownership' in member ? member.ownership : 'voterights' in member ? member.voterights : undefined;
const told = (member: { entityId: string; name: string | null }) => [member.entityId, member.name, shareOf(member)];

/** The reference's rows in our terms: the last column is the share now; roles are not told. */
const expectedRows = (list: unknown, hasShare: boolean) =>
  rows(list).map((row) => {
    const share = String(row.at(-1));
    return [row[0], row[1], hasShare ? (PERCENT[share] ?? share) : undefined];
  });

const plain: Readonly<Record<string, (value: never) => unknown>> = {
  bylawsChangedDate: (date: string) => date.slice(0, 10),
  capital: ({ value, currency }: { value: number; currency: string }) => [value.toFixed(2), currency],
  address: (a: Readonly<Record<string, unknown>>) =>
    [
      'streetName',
      'houseNumberFrom',
      'houseLetterFrom',
      'floor',
      'sideDoor',
      'freeText',
      'postalCode',
      'postalDistrict',
    ].map((key) => a[key]),
};

/** Compares what the diff finds of one event with the reference. */
function expectFound(event: string, found: object, expected: Reference): void {
  if ('added' in found && 'removed' in found) {
    const hasShare = event.startsWith('own') || event.startsWith('true');
    const changed = 'changed' in found ? members(found.changed) : [];
    expect(sorted(members(found.added))).toEqual(sorted(expectedRows(expected.added, hasShare)));
    expect(sorted(members(found.removed))).toEqual(sorted(expectedRows(expected.removed, hasShare)));
    expect(sorted(changed)).toEqual(sorted(expectedRows(expected.changed, hasShare)));
  } else if ('before' in found && 'after' in found) {
    const form = plain[event];
    const values = [form?.(found.before as never), form?.(found.after as never)];
    expect(values).toEqual([expected.before, expected.after]);
  } else throw new Error(`nothing was found of ${event}`);
}

describe.each(SAMPLE_FOLDERS)('the series of one company, $kind', ({ folder }) => {
  const documents = join(folder, 'cvr-es');
  const series = join(documents, readdirSync(documents).find((name) => name.startsWith('derived-')) ?? '');
  const reference: readonly { from: string; to: string; changes: Expected }[] = json(series, 'reference-changes.json');

  test('has a reference', () => expect(reference.length).toBeGreaterThan(2));

  // By the day of each file, and by a much later day: all that is valid then is valid still.
  test.each(
    reference.flatMap((step) => [
      { ...step, days: [step.from.slice(3, 13), step.to.slice(3, 13)] },
      { ...step, days: ['2026-03-10', '2026-03-10'] },
    ]),
  )('from $from to $to, read on $days', ({ from, to, changes, days }) => {
    const [before, after] = [from, to].map((file, at) => companyOf(sourcesOf(series, file)[0], days[at] ?? ''));
    if (after === undefined) throw new Error('nothing was read');
    const updates = diff(before, after, OPTIONS);
    expect(Object.keys(updates).sort()).toEqual(Object.keys(changes).sort());
    for (const [event, expected] of Object.entries(changes)) {
      const found: object = Object(Object.entries(updates).find(([name]) => name === event)?.[1]);
      expectFound(event, found, expected);
    }
  });

  test('has the former shares of the reference', () => {
    const files = reference.map(({ from }) => from);
    const [, second, third] = files.map((file) => companyOf(sourcesOf(series, file)[0], file.slice(3, 13)));
    if (second === undefined || third === undefined) throw new Error('nothing was read');
    const [own] = changesOf(second, third, OPTIONS);
    const former = Object.fromEntries(rows(reference[1]?.changes['ownership']?.changed).map((row) => [row[0], row[2]]));
    expect(own?.formerShares).toEqual(former);
  });
});

const members = (list: unknown) => (Array.isArray(list) ? list.map(told) : []);

describe.each(SAMPLE_FOLDERS)('documents of the register, $kind', ({ folder }) => {
  const documents = join(folder, 'cvr-es');
  const files = readdirSync(documents, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.json$/.test(name) && !/reference/.test(name),
  );

  test('are of each kind', () => {
    const kinds = files.flatMap((file) => sourcesOf(documents, file)).flatMap((source) => Object.keys(Object(source)));
    expect(new Set(kinds)).toEqual(new Set(['Vrvirksomhed', 'VrproduktionsEnhed', 'Vrdeltagerperson']));
  });

  test.each(files)('%s is read, and survives the wire format', (file) => {
    for (const source of sourcesOf(documents, file)) {
      const reading = readDocument(source, '2026-03-10');
      expect(reading.kind).not.toBe('unreadable');
      if (reading.kind !== 'company') continue;
      const { company } = reading;
      expect(company.name).not.toBe(company.entity);
      expect(diff(company, company, OPTIONS)).toEqual({});
      const updates = stateOf(company, OPTIONS);
      expect(Object.keys(updates)).toEqual(expect.arrayContaining(['name', 'address', 'status', 'lifetimeStarted']));
      const wire = JSON.stringify(writePayload({ entityId: company.entity, timestamp: reading.loadedAt, updates }));
      expect(readPayload(JSON.parse(wire))).toMatchObject({
        ok: true,
        payload: { updates, malformed: [], unknown: {} },
      });
    }
  });
});
