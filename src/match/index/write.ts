/** Writes the entries of the company index and their keys. */
import { sql } from 'kysely';
import { inPages } from '../../store/count.ts';
import { each, eachRow } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { describeEntry } from '../describe/described.ts';
import type { IndexEntry } from '../describe/entry.ts';
import { entryKeys } from '../describe/keys.ts';
import { withHistory } from './history.ts';
import { type StagedKey, stageKeys } from './stage.ts';

/** An estimate, so that clearing a step takes as long as writing one. */
const KEYS_PER_ENTRY = 12;

export interface StoreEntriesOptions {
  /** Set while the index is built, in ms since 1970: keys are staged (stage.ts), under the lock of the state. */
  readonly stagedAt?: number;
  /** The day until which the replaced values were valid; absent if they were wrong. */
  readonly historyOn?: string;
}

/** Replaces the entries with these numbers; the last of several with one number counts. */
export async function storeEntries(
  tx: Tx,
  given: readonly IndexEntry[],
  { stagedAt, historyOn }: StoreEntriesOptions = {},
): Promise<void> {
  const allowed = await withoutErasedNames(tx, given);
  const latest = new Map(allowed.map((entry) => [entry.number, entry]));
  const known = await readEntries(tx, [...latest.keys()]);
  const entries = [...latest.values()].map((entry) => {
    const before = known.get(entry.number);
    return historyOn === undefined || before === undefined ? entry : withHistory(before, entry, historyOn);
  });
  const gone: KeyRow[] = [];
  const made: KeyRow[] = [];
  for (const entry of entries) {
    const before = keyRows(known.get(entry.number));
    const after = keyRows(entry);
    for (const row of before.values()) if (!isSame(row, after.get(row.key))) gone.push(row);
    for (const row of after.values()) if (!isSame(row, before.get(row.key))) made.push(row);
  }
  await upsertEntries(tx, entries);
  if (stagedAt !== undefined)
    return stageKeys(tx, [...gone.map((row): StagedKey => ({ ...row, company: null })), ...made], stagedAt);
  await deleteKeys(tx, gone);
  await insertKeys(tx, made);
}

/** Leaves out erased companies and production units, and successors that were erased. */
async function withoutErasedNames(tx: Tx, entries: readonly IndexEntry[]): Promise<readonly IndexEntry[]> {
  if (entries.length === 0) return entries;
  const { has } = await readErasures(tx);
  const isErased = (number: string): boolean => has(`CVR-1-${number}`);
  return entries
    .filter(({ number, company }) => !isErased(company) && (number === company || !has(`CVR-2-${number}`)))
    .map((entry) => (isErased(entry.successor ?? '') ? { ...entry, successor: null } : entry));
}

export async function readEntries(db: Db, numbers: readonly string[]): Promise<ReadonlyMap<string, IndexEntry>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql<{ body: string }>`select body from match_entry
    where number in (select cast(value as bigint) from ${each(db, numbers)} as wanted)`.execute(db);
  const entries = rows.rows.map(({ body }): IndexEntry => JSON.parse(body));
  return new Map(entries.map((entry) => [entry.number, entry]));
}

/** Deletes entries and their keys; returns the number of entries. */
export async function deleteEntries(tx: Tx, numbers: readonly string[]): Promise<number> {
  const known = await readEntries(tx, numbers);
  await deleteKeys(
    tx,
    [...known.values()].flatMap((entry) => [...keyRows(entry).values()]),
  );
  for (const number of known.keys()) {
    await tx.deleteFrom('match_key_staged').where('entry', '=', Number(number)).execute();
    await tx.deleteFrom('match_entry').where('number', '=', Number(number)).execute();
  }
  return known.size;
}

const SUCCESSOR = '"successor":';

const successorIs = (number: string): string => `${SUCCESSOR}${JSON.stringify(number)}`;

/** Entries to read in one statement: about ten milliseconds with their bodies. */
const READ_AT_ONCE = 5_000;

/** The numbers of the entries whose successor has this number. Reads the whole index, in pages. */
export async function entriesBefore(db: Db, number: string): Promise<readonly string[]> {
  const found: string[] = [];
  await inPages(0, async (after) => {
    const rows = await db
      .selectFrom('match_entry')
      .select((row) => [
        'number',
        row
          .case()
          .when('body', 'like', `%${successorIs(number)}%`)
          .then(1)
          .else(0)
          .end()
          .as('is_before'),
      ])
      .where('number', '>', after)
      .orderBy('number')
      .limit(READ_AT_ONCE)
      .execute();
    found.push(...rows.filter(({ is_before }) => is_before === 1).map((row) => String(row.number)));
    return rows.at(-1)?.number;
  });
  return found;
}

/** Removes this number as the successor of other companies; returns how many had it. */
export async function forgetSuccessor(store: Pick<Store, 'db' | 'write'>, number: string): Promise<number> {
  // Search before the transaction: it reads the whole index.
  const numbers = await entriesBefore(store.db, number);
  if (numbers.length === 0) return 0;
  await store.write((tx) =>
    sql`update match_entry set body = replace(body, ${successorIs(number)}, ${`${SUCCESSOR}null`})
      where number in (select cast(value as bigint) from ${each(tx, numbers)} as wanted)`.execute(tx),
  );
  return numbers.length;
}

/** Deletes the next `limit` rows of the index; false if nothing is left. */
export async function clearIndex(tx: Tx, limit: number): Promise<boolean> {
  const staged = await tx.selectFrom('match_key_staged').select('bucket').limit(1).executeTakeFirst();
  if (staged !== undefined) {
    await tx.deleteFrom('match_key_staged').where('bucket', '=', staged.bucket).execute();
    return true;
  }
  const { numAffectedRows: keys = 0n } = await sql`delete from match_key where (key, entry) in
    (select key, entry from match_key order by key, entry limit ${limit * KEYS_PER_ENTRY})`.execute(tx);
  const { numAffectedRows: entries = 0n } = await sql`delete from match_entry where number in
    (select number from match_entry order by number limit ${limit})`.execute(tx);
  return keys > 0n || entries > 0n;
}

interface KeyRow {
  readonly [column: string]: number;
  readonly key: number;
  readonly entry: number;
  readonly company: number;
}

const isSame = (a: KeyRow, b: KeyRow | undefined): boolean => a.company === b?.company;

function keyRows(entry: IndexEntry | undefined): ReadonlyMap<number, KeyRow> {
  if (entry === undefined) return new Map();
  const place = { entry: Number(entry.number), company: Number(entry.company) };
  return new Map(entryKeys(describeEntry(entry)).map(({ key }) => [key, { key, ...place }]));
}

async function upsertEntries(tx: Tx, entries: readonly IndexEntry[]): Promise<void> {
  const rows = entries.map((entry) => ({ number: entry.number, body: JSON.stringify(entry) }));
  await sql`insert into match_entry (number, body)
    select cast(each.number as bigint), each.body from ${eachRow(tx, ['number', 'body'], rows)} where true
    on conflict (number) do update set body = excluded.body`.execute(tx);
}

async function deleteKeys(tx: Tx, rows: readonly KeyRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`delete from match_key where (key, entry) in (select cast(each.key as bigint), cast(each.entry as bigint)
    from ${eachRow(tx, ['key', 'entry'], rows)})`.execute(tx);
}

async function insertKeys(tx: Tx, rows: readonly KeyRow[]): Promise<void> {
  if (rows.length === 0) return;
  // In the order of the table, so that many rows touch each page once.
  const sorted = rows.toSorted((a, b) => a.key - b.key || a.entry - b.entry);
  await sql`insert into match_key (key, entry, company)
    select cast(each.key as bigint), cast(each.entry as bigint), cast(each.company as bigint)
    from ${eachRow(tx, ['key', 'entry', 'company'], sorted)} where true
    on conflict (key, entry) do update set company = excluded.company`.execute(tx);
}
