/** Finds the candidates of records in the company index: a bounded number, whatever the index holds. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { type DescribedEntry, type DescribedRecord, describeEntry } from '../describe/described.ts';
import type { IndexEntry } from '../describe/entry.ts';
import { addressKey, KEY_WEIGHTS, keyOf, type MatchKey, ownedName, recordKeys } from '../describe/keys.ts';
import type { MatchCandidate, SharedBy } from '../evidence/score.ts';
import { readEntries } from './write.ts';

/** Entries to read for one key: a word of many names says nothing. */
const PER_KEY = 40;
/** Companies to compare with one record. */
const PER_RECORD = 20;
/** Entries to compare of one company: a chain has a production unit in every town. */
const PER_COMPANY = 5;
/** Greater than every CVR number and P-number. */
const LAST = 99_999_999_999;

export interface FoundCandidates {
  readonly candidates: readonly MatchCandidate[];
  readonly sharedBy: SharedBy;
}

interface Hit {
  readonly key: number;
  readonly entry: number;
  readonly company: number;
}

/** In the order of the records; two reads for all of them. */
export async function findCandidates(db: Db, records: readonly DescribedRecord[]): Promise<readonly FoundCandidates[]> {
  const keys = records.map(recordKeys);
  const hits = await readHits(db, [...new Set(keys.flat().map(({ key }) => key))]);
  const byNumber = await readEntries(db, records.flatMap(numbersOf));
  const chosen = records.map((record, at) =>
    numbersOf(record)
      .flatMap((number) => byNumber.get(number) ?? [])
      .reduce(withEntry, chooseCompanies(keys[at] ?? [], hits)),
  );
  const numbers = new Set(chosen.flat().flatMap(({ company, entries }) => [company, ...entries]));
  const entries = await readEntries(db, [...numbers].map(spelled));
  const described = new Map<string, DescribedEntry>();
  for (const [number, entry] of entries) described.set(number, describeEntry(entry));
  return records.map((record, at) => ({
    candidates: (chosen[at] ?? []).map((one) => ({
      company: spelled(one.company),
      entries: [...new Set([one.company, ...one.entries])].flatMap((number) => described.get(spelled(number)) ?? []),
    })),
    sharedBy: sharedBy(record, hits),
  }));
}

const numbersOf = ({ unitNumber, statedNumber }: DescribedRecord): readonly string[] =>
  [unitNumber, statedNumber].filter((number) => number !== null);

/** Restores the leading zero of a CVR number. */
const spelled = (number: number): string => String(number).padStart(8, '0');

/** The first entries of each key: companies come before production units. */
async function readHits(db: Db, keys: readonly number[]): Promise<ReadonlyMap<number, readonly Hit[]>> {
  const { rows } = await sql<Hit>`select found.key, found.entry, found.company
    from (select cast(value as bigint) as key from ${each(db, keys.map(String))} as listed) as wanted
    join match_key as found on found.key = wanted.key
    where found.entry < coalesce((select one.entry from match_key as one where one.key = wanted.key
      order by one.entry limit 1 offset ${PER_KEY}), cast(${LAST} as bigint))`.execute(db);
  return Map.groupBy(rows, ({ key }) => key);
}

interface ChosenCompany {
  readonly company: number;
  readonly entries: readonly number[];
}

/** The companies with the heaviest keys. A key that many companies share weighs less. */
function chooseCompanies(
  keys: readonly MatchKey[],
  hits: ReadonlyMap<number, readonly Hit[]>,
): readonly ChosenCompany[] {
  const weights = new Map<number, { weight: number; entries: Map<number, number> }>();
  for (const { key, kind } of keys) {
    const found = hits.get(key) ?? [];
    const weight = KEY_WEIGHTS[kind] / (1 + found.length / PER_KEY);
    const counted = new Set<number>();
    for (const { entry, company } of found) {
      const one = weights.get(company) ?? { weight: 0, entries: new Map<number, number>() };
      weights.set(company, one);
      if (!counted.has(company)) one.weight += weight;
      counted.add(company);
      one.entries.set(entry, (one.entries.get(entry) ?? 0) + weight);
    }
  }
  return [...weights]
    .toSorted(([a, left], [b, right]) => right.weight - left.weight || a - b)
    .slice(0, PER_RECORD)
    .map(([company, { entries }]) => ({
      company,
      entries: [...entries]
        .toSorted(([a, left], [b, right]) => right - left || a - b)
        .slice(0, PER_COMPANY)
        .map(([entry]) => entry),
    }));
}

/** Adds the company whose CVR number or P-number the record states. */
function withEntry(found: readonly ChosenCompany[], entry: IndexEntry): readonly ChosenCompany[] {
  const company = Number(entry.company);
  const entries = found.find((one) => one.company === company)?.entries ?? [];
  return [{ company, entries: [...entries, Number(entry.number)] }, ...found.filter((one) => one.company !== company)];
}

function sharedBy(record: DescribedRecord, hits: ReadonlyMap<number, readonly Hit[]>): SharedBy {
  const companies = (...keys: readonly (number | undefined)[]): number =>
    new Set(keys.flatMap((key) => (key === undefined ? [] : (hits.get(key) ?? []).map(({ company }) => company)))).size;
  return {
    name:
      (record.name.owner === null ? 0 : companies(keyOf('name', ownedName(record.name)).key)) ||
      companies(keyOf('name', record.name.compact).key, keyOf('formerName', record.name.compact).key),
    phone: record.phone === null ? 0 : companies(keyOf('phone', record.phone).key),
    domain: companies(...record.domains.map((domain) => keyOf('domain', domain).key)),
    address: companies(addressKey(record.address)),
  };
}
