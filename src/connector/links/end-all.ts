/** Ends all links of a connection that a person leaves, and restarts them when one returns; page by page. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import { each } from '../../store/each.ts';
import type { Db, Tx } from '../../store/store.ts';
import { healQueue, linkKey, MONITORING_QUEUE } from '../names/queues.ts';
import { type Link, linkRecord, updateLink } from './links.ts';

/** Links in one transaction. */
export const LINK_PAGE = 500;

/** The reason of links that ended so begins with it: a return restarts them, and no others. */
const LEFT_REASON = 'the connection was left';
/** The beginning for conflicts by whether they were monitored; their own reason follows. */
const LEFT_CONFLICT = {
  on: `${LEFT_REASON} before a person decided: `,
  off: `${LEFT_REASON} before a person linked it: `,
} as const;

export type PagedLink = Pick<Link, 'record_id' | 'entity' | 'origin'>;

/** Links that are open, by record, from the one after `after`. */
export const pageOpenLinks = (db: Db, provider: string, after: string): Promise<readonly PagedLink[]> =>
  linksOf(db, provider)
    .select(['record_id', 'entity', 'origin'])
    .where('state', 'in', ['active', 'conflict'])
    .where('record_id', '>', after)
    .orderBy('record_id')
    .limit(LINK_PAGE)
    .execute();

const linksOf = (db: Db, provider: string) => db.selectFrom('link').where('provider', '=', provider);

/** Ends open links from the one after `after`, and their monitoring. Empty if none is left there. */
export async function endOpenLinks(
  tx: Tx,
  provider: string,
  after: string,
  now: number,
): Promise<readonly PagedLink[]> {
  const links = await pageOpenLinks(tx, provider, after);
  const ids = links.map(({ record_id }) => record_id);
  if (ids.length === 0) return [];
  // Before the links are changed, so that no two transactions deadlock.
  await markMonitoring(tx, provider, ids, now);
  await tx
    .updateTable('link')
    .set({
      state: 'removed',
      reason: sql`case when state = 'active' then ${sql.lit(LEFT_REASON)}
        when desired = 'on' then ${sql.lit(LEFT_CONFLICT.on)} || coalesce(reason, '')
        else ${sql.lit(LEFT_CONFLICT.off)} || coalesce(reason, '') end`,
      desired: 'off',
      // Also if it was `off`: an add may be running now. A refused link has no monitoring.
      observed: sql`case when observed = 'off' then 'unknown' else observed end`,
      send_update: 0,
      updated_at: now,
    })
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, ids))
    .where('state', 'in', ['active', 'conflict'])
    .execute();
  return links;
}

const markMonitoring = (tx: Tx, provider: string, ids: readonly string[], now: number): Promise<void> =>
  mark(
    tx,
    MONITORING_QUEUE,
    ids.map((id) => linkKey(provider, id)),
    now,
  );

const endedLinks = (db: Db, provider: string) =>
  linksOf(db, provider).where('state', '=', 'removed').where('reason', 'like', `${LEFT_REASON}%`);

/** Links that a leaving ended. */
export async function countEndedLinks(db: Db, provider: string): Promise<number> {
  const row = await endedLinks(db, provider)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Ended links whose end the service has not confirmed, with why if it refused. */
export const listUnconfirmedEnds = (db: Db, provider: string, after: string) =>
  endedLinks(db, provider)
    .select(['record_id', 'entity', 'observed_error'])
    .where('observed', 'in', ['on', 'unknown'])
    .where('record_id', '>', after)
    .orderBy('record_id')
    .limit(LINK_PAGE)
    .execute();

/** Counts {@link listUnconfirmedEnds}, and those of them that the service refused. */
export async function countUnconfirmedEnds(db: Db, provider: string) {
  const row = await endedLinks(db, provider)
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.count<number>(sql`case when observed_error is not null then 1 end`).as('refused'),
    ])
    .where('observed', 'in', ['on', 'unknown'])
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), refused: Number(row.refused) };
}

/** Restarts links that a leaving ended, from the one after `after`; conflicts wait for a person again. Empty if none is left there. */
export async function restartEndedLinks(
  tx: Tx,
  provider: string,
  after: string,
  now: number,
): Promise<readonly PagedLink[]> {
  const links = await endedLinks(tx, provider)
    .selectAll()
    .where('record_id', '>', after)
    .orderBy('record_id')
    .limit(LINK_PAGE)
    .execute();
  for (const link of links) {
    const { record_id: recordId, entity, origin, mismatch, writes_number } = link;
    await linkRecord(tx, { provider, recordId, entity, origin, sendUpdate: true, now });
    const conflict = conflictOf(link);
    await updateLink(tx, { provider, recordId }, { mismatch, writes_number, ...conflict });
    // What it was in conflict with may have ended since.
    if (conflict.state === 'conflict') await mark(tx, healQueue(provider), [recordId], now);
  }
  return links;
}

/** What makes a link the conflict that it was; nothing if it was active. */
function conflictOf({ reason }: Link): Partial<Link> {
  for (const desired of ['on', 'off'] as const) {
    const prefix = LEFT_CONFLICT[desired];
    if (reason?.startsWith(prefix))
      return { state: 'conflict', reason: reason.slice(prefix.length), desired, send_update: desired === 'on' ? 1 : 0 };
  }
  return {};
}

/**
 * Open links of a connection, and those of them whose company another connection links too: that one keeps its monitor. Of at
 * most `most` links.
 */
export async function countOpenLinks(db: Db, provider: string, most = Number.MAX_SAFE_INTEGER) {
  const open = linksOf(db, provider)
    .where('link.state', 'in', ['active', 'conflict'])
    .select('link.entity')
    .limit(most);
  const links = await countRows(db, open);
  const shared = db
    .selectFrom(open.as('open'))
    // No join: PostgreSQL might begin with the links of other connections.
    .where(
      sql<boolean>`(select 1 from link as other where other.entity = open.entity
        and other.provider <> ${provider} and other.state = 'active' limit 1) is not null`,
    )
    .select('open.entity');
  return { links, shared: await countRows(db, shared) };
}
