/**
 * respell: record ids that were stored in another spelling than the provider's canonical one, by an older version or by
 * hand, are brought into it when a connection is opened. Migrations of the store know no provider, so it is not one.
 */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { formOf, type IdReader } from '../crm/fence/record-id.ts';
import { findLink, type Link, updateLink } from '../links/links.ts';
import { linkKey, MONITORING_QUEUE } from '../names/queues.ts';
import { moveLanes, moveRows, type Respelling, recordQueues } from './rows.ts';
import { uniteLinks } from './unite.ts';

/** A connection of the configuration. */
export interface Respelled extends IdReader {
  readonly provider: IdReader['provider'] & { readonly name: string; readonly contract: string };
}

/** How many records had another spelling, and which of them have links that a person must decide on now. */
export interface Respelt {
  readonly records: number;
  readonly conflicts: readonly string[];
}

const PAGE = 10_000;
/** Records named in one line of the log. */
const MOST_TOLD = 10;
/** The service drops the item of the old spelling only once it has the one of the new: between them it would tell nothing. */
const OVERLAP_MS = 60_000;
const TABLES = ['link', 'written', 'property_state', 'override', 'note', 'parent', 'scan', 'plan_skip'] as const;

const doneKey = (name: string): string => `canonical-ids:${name}`;

/**
 * Brings every stored id of a connection into its canonical form, in one transaction. Costs one read where that is done:
 * once for each version of a provider's contract.
 */
export async function respellRecords(store: Store, crm: Respelled, now: number): Promise<Respelt> {
  const { name, provider } = crm;
  const done = `${provider.name} ${provider.contract}`;
  if (provider.canonicalId === undefined || (await readValue(store.db, doneKey(name))) === done) return NOTHING;
  const pairs = await spellings(store.db, crm);
  return store.write(async (tx) => {
    // Two that start at once do it one after the other.
    await writeValue(tx, doneKey(name), 'under way', now);
    const conflicts: string[] = [];
    // Marks before links, as everybody does: nobody who locks the same waits for us while we wait.
    const respellings = pairs.map(([from, to]) => ({ provider: name, from, to, now }));
    const ids = respellings.map(({ to }) => to);
    for (const one of respellings) await moveLanes(tx, one);
    await mark(tx, `sync:${name}`, ids, now);
    const keys = ids.map((id) => linkKey(name, id));
    await mark(tx, MONITORING_QUEUE, keys, now);
    let records = 0;
    let left = false;
    for (const one of respellings) {
      const moved = await moveLinkOf(tx, one);
      if (moved === 'conflict') conflicts.push(one.to);
      if (moved !== 'retired') records += 1;
      if (moved !== 'later') await moveRows(tx, one);
      left ||= (await findLink(tx, { provider: name, recordId: one.from })) !== undefined;
    }
    if (!left) await writeValue(tx, doneKey(name), done, now);
    return { records, conflicts };
  });
}

const NOTHING: Respelt = { records: 0, conflicts: [] };

/** Every stored id that is not canonical, with its canonical form. What can be no record's is left: its sync ends it. */
async function spellings(db: Db, crm: Respelled): Promise<readonly (readonly [from: string, to: string])[]> {
  const form = formOf(crm);
  const found = new Map<string, string>();
  const look = (id: string): void => {
    const to = form(id);
    if (to !== undefined && to !== id) found.set(id, to);
  };
  for (const table of TABLES) for await (const id of idsIn(db, table, crm.name)) look(id);
  const lanes = await db
    .selectFrom('lane')
    .select('key')
    .distinct()
    .where('queue', 'in', each(db, recordQueues(crm.name)))
    .execute();
  for (const { key } of lanes) look(key);
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function* idsIn(db: Db, table: (typeof TABLES)[number], provider: string): AsyncGenerator<string> {
  let last = '';
  for (;;) {
    const { rows } = await sql<{ id: string }>`select distinct record_id as id from ${sql.table(table)}
      where provider = ${provider} and record_id > ${last} order by record_id limit ${PAGE}`.execute(db);
    for (const { id } of rows) yield id;
    last = rows.at(-1)?.id ?? last;
    if (rows.length < PAGE) return;
  }
}

type LinkMoved = 'done' | 'conflict' | 'later' | 'retired';

/** Puts the one link in the place of both. `later`: the record is looked at again at the next start. */
async function moveLinkOf(tx: Tx, { provider, from, to, now }: Respelling): Promise<LinkMoved> {
  const old = await findLink(tx, { provider, recordId: from });
  if (old === undefined) return 'done';
  if (isRetired(old)) {
    if (isDropped(old)) await remove(tx, old);
    return 'retired';
  }
  const same = await findLink(tx, { provider, recordId: to });
  const united = uniteLinks(old, same, to, now);
  if (united.kind === 'later') {
    const reason = `${to} names the same record, and the monitoring service has yet to confirm the end of its link to ${same?.entity}: start cvrsync again then`;
    await updateLink(tx, { provider, recordId: from }, { state: 'conflict', reason, mismatch: null, updated_at: now });
    return 'later';
  }
  const { link } = united;
  if (same === undefined) await tx.insertInto('link').values(link).execute();
  else await updateLink(tx, { provider, recordId: to }, link);
  await retire(tx, old, to, now);
  return link.state === 'conflict' && link !== same ? 'conflict' : 'done';
}

/** What the service knows by the old spelling it must drop first; nothing else is left of it. */
async function retire(tx: Tx, old: Link, to: string, now: number): Promise<void> {
  const key = linkKey(old.provider, old.record_id);
  await tx.deleteFrom('lane').where('queue', '=', MONITORING_QUEUE).where('key', '=', key).execute();
  if (isDropped(old)) return remove(tx, old);
  await mark(tx, MONITORING_QUEUE, [key], now + OVERLAP_MS);
  const reason = `the same record as ${to}`;
  const ended = { state: 'merged', desired: 'off', observed: 'unknown', send_update: 0, mismatch: null } as const;
  await updateLink(tx, { provider: old.provider, recordId: old.record_id }, { ...ended, reason, updated_at: now });
}

const isRetired = ({ state, desired }: Link): boolean => state === 'merged' && desired === 'off';
const isDropped = ({ desired, observed }: Link): boolean =>
  observed === 'refused' || (observed === 'off' && desired === 'off');

async function remove(tx: Tx, { provider, record_id }: Link): Promise<void> {
  await tx.deleteFrom('link').where('provider', '=', provider).where('record_id', '=', record_id).execute();
}

/** Says in the log what was brought into one spelling, and what a person must decide on. */
export function reportRespelt(log: Logger, provider: string, { records, conflicts }: Respelt): void {
  if (records > 0) log.info({ provider, records }, 'record ids were stored in another spelling: each has one now');
  if (conflicts.length > 0)
    log.warn(
      { provider, records: conflicts.slice(0, MOST_TOLD), count: conflicts.length },
      'records had a link under each of two spellings of their id: decide on them with cvrsync review',
    );
}
