/** Finds the property that holds CVR numbers, by the valid values in a sample of records. */
import type { Connection, Limits, Property } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';

/** Records in the sample. */
const SAMPLE = 200;
/** Properties in one call: more would make a URL too long. */
const AT_ONCE = 80;
/** Properties to read, the likeliest first. */
const MOST = 400;

/** A property that may hold the number. */
export interface Candidate {
  readonly property: string;
  readonly label: string;
  /** Records with a value, and those whose value is a valid number. */
  readonly filled: number;
  readonly valid: number;
  /** Whether most valid values begin with DK. */
  readonly hasPrefix: boolean;
}

export interface Sampled {
  readonly records: number;
  /** The best first; empty if no property looks right. */
  readonly candidates: readonly Candidate[];
}

/** One in eleven random values passes the register's check, such as phone numbers. */
const LEAST_VALID = 0.3;

export async function sampleNumbers(
  { connection, limits }: { readonly connection: Connection; readonly limits: Limits },
  properties: readonly Property[],
  signal: AbortSignal,
): Promise<Sampled> {
  const ids = await firstIds(connection, signal);
  const asked = likeliest(properties);
  const values = await readValues(
    connection,
    ids,
    asked.map(({ name }) => name),
    { atOnce: limits.batch.read, signal },
  );
  const candidates = asked
    .map((property) => judge(property, values.get(property.name) ?? []))
    .filter(({ filled, valid }) => valid > 0 && valid >= filled * LEAST_VALID)
    .toSorted((a, b) => b.valid - a.valid || b.valid / b.filled - a.valid / a.filled);
  return { records: ids.length, candidates };
}

/** The values of each property, in no order. */
async function readValues(
  connection: Connection,
  ids: readonly string[],
  properties: readonly string[],
  { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const values = new Map(properties.map((name) => [name, [] as unknown[]]));
  const calls = inParts(properties, AT_ONCE).flatMap((names) => inParts(ids, atOnce).map((some) => ({ names, some })));
  for (const { names, some } of calls) {
    const reads = await connection.read(some, names, signal);
    const found = reads.flatMap((read) => (read.kind === 'found' ? [read.properties] : []));
    for (const name of names) values.get(name)?.push(...found.map((properties) => properties[name] ?? null));
  }
  return values;
}

async function firstIds(connection: Connection, signal: AbortSignal): Promise<readonly string[]> {
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await connection.scan([], cursor, signal);
    for (const { id } of page.records) ids.add(id);
    cursor = page.cursor;
  } while (cursor !== undefined && ids.size < SAMPLE);
  return [...ids].slice(0, SAMPLE);
}

const TYPES: readonly string[] = ['string', 'multiline', 'number', 'phone'];
const LIKELY = /cvr|vat|moms|\bse\b|org|regist|tax|company.?(?:id|number|no)|business.?(?:id|number)/iu;

/** Properties that can hold a number, those with a telling name first. */
function likeliest(properties: readonly Property[]): readonly Property[] {
  const possible = properties.filter(
    ({ type, unreadable, maxLength = 8 }) => TYPES.includes(type) && unreadable !== true && maxLength >= 8,
  );
  const isLikely = ({ name, label }: Property): boolean => LIKELY.test(name) || LIKELY.test(label);
  return [...possible.filter(isLikely), ...possible.filter((each) => !isLikely(each))].slice(0, MOST);
}

function judge({ name, label }: Property, values: readonly unknown[]): Candidate {
  const readings = values
    .map((value) => [value, readCvrNumber(value)] as const)
    .filter(([, { kind }]) => kind !== 'blank');
  const valid = readings.filter(([, reading]) => reading.kind === 'number' && reading.valid);
  const prefixed = valid.filter(([value]) => /^\s*dk/iu.test(String(value))).length;
  return {
    property: name,
    label,
    filled: readings.length,
    valid: valid.length,
    hasPrefix: prefixed * 2 > valid.length,
  };
}

function inParts<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}
