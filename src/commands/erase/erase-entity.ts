/**
 * Erases an entity. First it stores a digest, so that nothing new about the entity is stored; then it walks all tables
 * until a pass finds nothing. What it looks for stays in the store until the end, so that it resumes after a crash.
 */
import { sql } from 'kysely';
import { recountPlans } from '../../connector/backfill/rows/counts.ts';
import { deleteEntries, entriesBefore, forgetSuccessor } from '../../match/index/write.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { type AuditActor, recordAudit } from '../../runtime/operators/audit.ts';
import { each } from '../../store/each.ts';
import { aliasOfDigest, beginErasure, endErasure, erasedWords, readRest } from '../../store/erasure/erasures.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { type ErasurePlan, findNaming, findOwn, type RowChange, type Walk } from './find-rows.ts';
import { type EntityRow, openTables, type StoreTables } from './pages.ts';
import { PLACE_OF_TABLE, PLACES, type Place } from './places.ts';
import { planErasure } from './plan.ts';
import { readJson } from './stored-json.ts';

export interface EntityRows {
  readonly table: string;
  readonly rows: readonly EntityRow[];
}

export interface TableErasure {
  readonly table: string;
  readonly deleted: number;
  readonly anonymised: number;
}

export interface Erasure {
  readonly tables: readonly TableErasure[];
  /** Records in CRMs, such as `hubspot:123`, which erasure does not change. */
  readonly records: readonly string[];
}

export interface ErasureOptions {
  readonly now: () => number;
  readonly actor: AuditActor;
  readonly signal: AbortSignal;
}

/** A later pass finds what a process stored that had read before the erasure began. */
const MOST_PASSES = 8;
/** Rows changed in one transaction: others can write between two. */
const STEP = 100;

/** In reverse order, because rows are found through those of earlier tables. */
const TABLES = PLACE_OF_TABLE.toReversed();

/** The company index has an erasure of its own, which includes the keys of its entries. */
const INDEX = 'match_entry';

/** What `erase` would do now. Changes nothing. */
export async function previewErasure(db: Db, entity: string, signal: AbortSignal): Promise<Erasure> {
  const walk = await openWalk(await openTables(db, signal), entity);
  const found: TableErasure[] = [];
  for (const [table, place] of PLACE_OF_TABLE) {
    const deleted = await countRows(findOwn(walk, table, place));
    const taken = table === INDEX ? (await readTakenOver(db, walk.plan)).length : 0;
    const anonymised = taken + (await countRows(findNaming(walk, table, place)));
    if (deleted + anonymised > 0) found.push({ table, deleted, anonymised });
  }
  return { tables: found, records: walk.plan.records };
}

async function countRows(pages: AsyncIterable<readonly RowChange[]>): Promise<number> {
  let count = 0;
  for await (const page of pages) count += page.length;
  return count;
}

/**
 * All rows that `erase` would find, page by page: those of the entity, and those of others that name it. The pages of a
 * table follow one another.
 */
export async function* readEntityRows(db: Db, entity: string, signal: AbortSignal): AsyncGenerator<EntityRows> {
  const walk = await openWalk(await openTables(db, signal), entity);
  for (const [table, place] of PLACE_OF_TABLE) {
    for (const find of [findOwn, findNaming])
      for await (const page of find(walk, table, place)) yield { table, rows: page.map(({ row }) => row) };
    const taken = table === INDEX ? await readTakenOver(db, walk.plan) : [];
    if (taken.length > 0) yield { table, rows: taken };
  }
}

/** What an erasure of the entity looks for now, and what an interrupted one looked for. */
async function openWalk(tables: StoreTables, entity: string): Promise<Walk> {
  const plan = merged(await planErasure(tables, entity), await readRest(tables.db, entity));
  return { ...tables, plan, words: await erasedWords(tables.db, plan.entities, plan.names) };
}

/** Erases an entity, or resumes an interrupted erasure. Writes nothing to a CRM. */
export async function erase(store: Store, entity: string, { now, actor, signal }: ErasureOptions): Promise<Erasure> {
  const walk = await openWalk(await openTables(store.db, signal), entity);
  const { plan } = walk;
  const { digest, lanes } = await store.write(async (tx) => {
    const digest = await beginErasure(tx, plan, JSON.stringify(plan), now());
    const lanes = await releaseLanes(tx, plan, now());
    const subject = `erased:${digest.slice(0, 16)}`;
    await recordAudit(tx, { actor, via: 'command', action: 'entity.erase', subject, result: 'done' }, now());
    return { digest, lanes };
  });
  // With the salt that the store has now.
  const begun: Walk = { ...walk, words: await erasedWords(store.db, plan.entities, plan.names) };
  const totals = new Map<string, TableErasure>();
  if (lanes > 0) totals.set('lane', { table: 'lane', deleted: lanes, anonymised: 0 });
  for (let pass = 1; ; pass++) {
    const found = await erasePass(store, begun);
    for (const one of found) totals.set(one.table, sum(totals.get(one.table), one));
    if (found.length === 0) break;
    if (pass === MOST_PASSES)
      throw new Error(`${aliasOfDigest(digest)} is still written by another process: run cvrsync erase again`);
  }
  await recountPlans(store, now);
  await store.write((tx) => endErasure(tx, entity, now()));
  return { tables: PLACE_OF_TABLE.flatMap(([table]) => totals.get(table) ?? []), records: plan.records };
}

function merged(plan: ErasurePlan, rest: string | undefined): ErasurePlan {
  const before = restOf(rest);
  const both = (key: keyof ErasurePlan): readonly string[] => union(plan[key], before?.[key]);
  return { entities: both('entities'), names: both('names'), related: both('related'), records: both('records') };
}

// This program wrote the text.
const restOf = (rest: string | undefined): ErasurePlan | undefined => readJson(rest) as ErasurePlan | undefined;

const union = (a: readonly string[], b: readonly string[] = []): readonly string[] => [...new Set([...a, ...b])];

const sum = (a: TableErasure | undefined, b: TableErasure): TableErasure => ({
  table: b.table,
  deleted: (a?.deleted ?? 0) + b.deleted,
  anonymised: (a?.anonymised ?? 0) + b.anonymised,
});

/**
 * Ends the lanes of the entity, whoever holds them, so that their work settles nothing. Restarts work on companies that
 * name it, so that nobody stores what was read before. Returns how many ended.
 */
async function releaseLanes(tx: Tx, { entities, related }: ErasurePlan, now: number): Promise<number> {
  let ended = 0;
  for (const entity of entities) {
    const { numDeletedRows } = await tx.deleteFrom('lane').where(PLACES.lane.own(entity)).executeTakeFirst();
    ended += Number(numDeletedRows);
  }
  const held = await tx
    .updateTable('lane')
    .set({ fence: null, lease_until: null, again_at: null, due_at: now })
    .where('queue', '=', 'apply')
    .where('key', 'in', each(tx, related))
    .where('fence', 'is not', null)
    .returning('key')
    .execute();
  await mark(
    tx,
    'apply',
    held.map(({ key }) => key),
    now,
  );
  return ended;
}

async function erasePass(store: Store, walk: Walk): Promise<readonly TableErasure[]> {
  const entries = await eraseEntries(store, walk.plan);
  const done: TableErasure[] = entries.deleted + entries.anonymised > 0 ? [{ table: INDEX, ...entries }] : [];
  for (const [table, place] of TABLES) {
    const deleted = await deleteOwn(store, walk, table, place);
    let anonymised = 0;
    for await (const changes of findNaming(walk, table, place)) anonymised += await applyInSteps(store, table, changes);
    if (deleted + anonymised > 0) done.push({ table, deleted, anonymised });
  }
  return done;
}

/** Repeats until nothing is left, because others write meanwhile, and a record's rows need its link. */
async function deleteOwn(store: Store, walk: Walk, table: string, place: Place): Promise<number> {
  let count = 0;
  for (let tries = 0; tries < MOST_PASSES; tries++) {
    let found = 0;
    for await (const gone of findOwn(walk, table, place)) {
      found += gone.length;
      count += await applyInSteps(store, table, gone);
    }
    if (found === 0) break;
  }
  return count;
}

/** Finding rows may read a whole table: it is done before, so that no other write waits for it. */
async function applyInSteps(store: Store, table: string, changes: readonly RowChange[]): Promise<number> {
  let count = 0;
  for (let start = 0; start < changes.length; start += STEP)
    count += await store.write((tx) => applyChanges(tx, table, changes.slice(start, start + STEP)));
  return count;
}

/** Leaves rows that another process changed meanwhile to the next pass. */
async function applyChanges(tx: Tx, table: string, changes: readonly RowChange[]): Promise<number> {
  let count = 0;
  for (const { row, columns } of changes) {
    const isThis = sql.join(
      Object.entries(row).map(([column, value]) =>
        value === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${value}`,
      ),
      sql` and `,
    );
    const set = Object.entries(columns ?? {}).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
    const { numAffectedRows = 0n } = await (columns === undefined
      ? sql`delete from ${sql.table(table)} where ${isThis}`
      : sql`update ${sql.table(table)} set ${sql.join(set)} where ${isThis}`
    ).execute(tx);
    count += Number(numAffectedRows);
  }
  return count;
}

/** The entries of others that name the erased company as their successor. */
async function readTakenOver(db: Db, plan: ErasurePlan): Promise<readonly EntityRow[]> {
  const company = companyOf(plan);
  if (company === undefined) return [];
  const own = new Set(numbersOf(plan));
  const taken = (await entriesBefore(db, company)).filter((number) => !own.has(number)).map(Number);
  if (taken.length === 0) return [];
  return db.selectFrom('match_entry').selectAll().where('number', 'in', taken).execute();
}

/**
 * Deletes the entries of the erased entities with their keys, and removes the successor from the entries of companies
 * that it took over.
 */
async function eraseEntries(
  store: Store,
  plan: ErasurePlan,
): Promise<{ readonly deleted: number; readonly anonymised: number }> {
  const deleted = await store.write((tx) => deleteEntries(tx, numbersOf(plan)));
  const company = companyOf(plan);
  return { deleted, anonymised: company === undefined ? 0 : await forgetSuccessor(store, company) };
}

const COMPANY = 'CVR-1-';

const numbersOf = ({ entities }: ErasurePlan): readonly string[] =>
  entities.filter((id) => !id.startsWith('CVR-3-')).map((id) => id.slice(COMPANY.length));

const companyOf = ({ entities: [entity = ''] }: ErasurePlan): string | undefined =>
  entity.startsWith(COMPANY) ? entity.slice(COMPANY.length) : undefined;
