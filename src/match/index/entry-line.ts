/** Parses a line of a company file into an index entry. */
import Type from 'typebox';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import type { AddressText } from '../../protocol/danish/street-address.ts';
import { type Issue, shape } from '../../protocol/shape.ts';
import type { Former, IndexEntry } from '../describe/entry.ts';

/** Why a line is rejected. */
export interface EntryProblem {
  readonly problem: string;
}

const Text = Type.Union([Type.String(), Type.Null()], { default: null });
const ADDRESS = { street: Text, postalCode: Text, city: Text };
const LINE = Type.Object({
  number: Type.String({ needed: true }),
  company: Text,
  name: Type.String({ needed: true }),
  otherNames: Type.Array(Type.String()),
  formerNames: Type.Array(Type.Object({ name: Type.String(), until: Text }, { bare: 'name' })),
  form: Text,
  ...ADDRESS,
  formerAddresses: Type.Array(Type.Object({ ...ADDRESS, until: Text }, { bare: 'street' })),
  phone: Text,
  website: Text,
  email: Text,
  ended: Text,
  successor: Text,
});
const FIELDS = Object.keys(LINE.properties);

/** Parses a JSON object. */
export function entryOfLine(line: unknown): IndexEntry | EntryProblem {
  const issues: Issue[] = [];
  const read = shape(LINE, line, 'line', issues);
  const [issue] = issues;
  if (issue !== undefined) return { problem: `${issue.path.replace(/^line\.?/u, '')} ${issue.message}`.trim() };
  return entryOf(read as Type.Static<typeof LINE>);
}

function entryOf(line: Type.Static<typeof LINE>): IndexEntry | EntryProblem {
  const own = readCvrNumber(line.number, { pad: true });
  if (own.kind !== 'number' && own.kind !== 'production-unit')
    return { problem: `number ${line.number} is neither a CVR number nor a P-number` };
  const company = own.kind === 'number' ? own : readCvrNumber(line.company, { pad: true });
  if (company.kind !== 'number') return { problem: `the production unit ${own.number} names no company` };
  if (line.name.trim() === '') return { problem: 'name is empty' };
  const { street, postalCode, city } = line;
  const successor = readCvrNumber(line.successor, { pad: true });
  return {
    number: own.number,
    company: company.number,
    name: line.name.trim(),
    otherNames: line.otherNames,
    formerNames: line.formerNames.map(({ name, until }) => ({ value: name, until })),
    form: line.form,
    address: street === null && postalCode === null && city === null ? null : { street, postalCode, city },
    formerAddresses: line.formerAddresses.map(({ until, ...value }) => ({ value, until })),
    phone: line.phone,
    website: line.website,
    email: line.email,
    ended: line.ended,
    successor: successor.kind === 'number' ? successor.number : null,
  };
}

const UNTIL = /\(until (\d{4}(?:-\d\d){0,2})\)$/u;

/** Parses a line of CSV. `|` separates values in a cell; `(until 2021-05-01)` may follow a former one. */
export function entryOfCells(columns: readonly string[], cells: readonly string[]): IndexEntry | EntryProblem {
  const line: Record<string, unknown> = {};
  for (const [at, column] of columns.entries()) {
    const name = FIELDS.find((field) => field.toLowerCase() === column.toLowerCase());
    const cell = cells[at]?.trim() ?? '';
    if (name !== undefined && cell !== '') line[name] = LISTS[name]?.(cell) ?? cell;
  }
  const missing = ['number', 'name'].find((name) => line[name] === undefined);
  return missing === undefined ? entryOfLine(line) : { problem: `has no ${missing}` };
}

const parts = (cell: string): readonly string[] =>
  cell.split('|').flatMap((part) => (part.trim() === '' ? [] : part.trim()));

const formers = (cell: string): readonly Former<string>[] =>
  parts(cell).map((part) => ({ value: part.replace(UNTIL, '').trimEnd(), until: UNTIL.exec(part)?.[1] ?? null }));

const LISTS: Readonly<Record<string, (cell: string) => readonly unknown[]>> = {
  otherNames: parts,
  formerNames: (cell) => formers(cell).map(({ value, until }) => ({ name: value, until })),
  formerAddresses: (cell) => formers(cell).map(({ value, until }) => ({ ...addressOf(value), until })),
};

/** `Ringvej 1, 8000 Aarhus C`. */
function addressOf(text: string): AddressText {
  const at = text.lastIndexOf(',');
  const [, postalCode, city] = /^(\d{4}) (.+)$/u.exec(text.slice(at + 1).trim()) ?? [];
  return postalCode === undefined ? { street: text } : { street: text.slice(0, at), postalCode, city };
}
