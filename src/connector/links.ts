/**
 * Links: which CRM record holds which company, and whether the company is to be monitored for it.
 *
 * The wish is stored here, with the lane that carries it upstream; what upstream said is written by monitoring.ts. Lanes
 * are marked before links are touched, so that no two transactions wait for each other.
 */
import { mark } from '../runtime/lanes.ts';
import { each } from '../store/each.ts';
import type { LinkTable } from '../store/schema.ts';
import type { Db, Tx } from '../store/store.ts';

export type Link = LinkTable;
export type LinkState = Link['state'];

export const LINK_STATES = ['active', 'gone', 'merged', 'removed', 'conflict'] as const satisfies readonly LinkState[];
export const MONITORING_QUEUE = 'monitoring';

/** Where a record is: its connection and its id there. */
export interface RecordRef {
  readonly provider: string;
  readonly recordId: string;
}

/** The key of a record's monitoring lane. */
export const linkKey = (provider: string, recordId: string): string => `${provider}:${recordId}`;

/** The record of a monitoring lane. A connection's name holds no colon; a record's id may. */
export function readLinkKey(key: string): RecordRef {
  const end = key.indexOf(':');
  return { provider: key.slice(0, end), recordId: key.slice(end + 1) };
}

export interface LinkWish extends RecordRef {
  /** Canonical entity id. */
  readonly entity: string;
  /** Asks upstream for a full update with the next add. */
  readonly sendUpdate: boolean;
  readonly now: number;
  /** Why the record stands for the company; `person` where absent. */
  readonly origin?: Link['origin'];
  /** Whose word counts at the first fill; `crm` where absent. */
  readonly trust?: Link['trust'];
}

/** `taken`: the record stands for another company, or the end of its link to one is not confirmed upstream yet. */
export type Linked = { readonly kind: 'linked' | 'already' } | { readonly kind: 'taken'; readonly entity: string };

/**
 * Links a record to a company, and wishes the company monitored for it. Idempotent; an ended link of the same company
 * begins again.
 */
export async function linkRecord(tx: Tx, wish: LinkWish): Promise<Linked> {
  const { provider, recordId, entity, sendUpdate, now, origin = 'person', trust = 'crm' } = wish;
  const before = await findLink(tx, wish);
  if (before?.state === 'active' && before.entity === entity) {
    const isConfirmed = before.wish === 'on' && before.monitored === 'on' && before.send_update === 0;
    if (isConfirmed && !sendUpdate) return { kind: 'already' };
    await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
    if (sendUpdate) await change(tx, wish, { send_update: 1, updated_at: now });
    return { kind: 'already' };
  }
  if (before !== undefined && before.entity !== entity && (await isBound(tx, before)))
    return { kind: 'taken', entity: before.entity };

  // An apply of this company that began before the link does not see it: its lane makes us wait, or it runs once more.
  await mark(tx, 'apply', [entity], now);
  await mark(tx, `sync:${provider}`, [recordId], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  const fresh = {
    entity,
    state: 'active',
    reason: null,
    wish: 'on',
    // Also where it was `on`: a removal may be under way at this moment.
    monitored: 'unknown',
    monitored_error: null,
    send_update: sendUpdate ? 1 : 0,
    synced_seq: 0,
    origin,
    trust,
    updated_at: now,
  } as const;
  const row = await tx
    .insertInto('link')
    .values({
      ...fresh,
      provider,
      record_id: recordId,
      monitored_at: null,
      synced_at: null,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['provider', 'record_id'])
        .doUpdateSet({ ...fresh, ...(before?.entity !== entity && { synced_at: null }) })
        // Somebody may have linked it between our look and our lock.
        .where((where) =>
          where.or([where('link.entity', '=', entity), where('link.state', 'not in', ['active', 'conflict'])]),
        ),
    )
    .returning('entity')
    .executeTakeFirst();
  if (row !== undefined) return { kind: 'linked' };
  return { kind: 'taken', entity: (await findLink(tx, wish))?.entity ?? entity };
}

export interface LinkEnd extends RecordRef {
  readonly state: Exclude<LinkState, 'active'>;
  /** Why, for people. */
  readonly reason: string;
  readonly now: number;
}

/**
 * Ends a link that is active or in conflict: the company is no longer to be monitored for the record. A `conflict` keeps
 * the wish until a person decides. False where there is no such link.
 */
export async function endLink(tx: Tx, end: LinkEnd): Promise<boolean> {
  const { provider, recordId, state, reason, now } = end;
  const before = await findLink(tx, end);
  if (before === undefined || !canEnd(before.state, state)) return false;
  if (state === 'conflict') return change(tx, end, { state, reason, updated_at: now });
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  const { monitored } = (await findLink(tx, end)) ?? before;
  return change(tx, end, {
    state,
    reason,
    wish: 'off',
    // Also where it was `off`: an add may be under way at this moment. What was refused is not there.
    monitored: monitored === 'off' ? 'unknown' : monitored,
    send_update: 0,
    updated_at: now,
  });
}

const canEnd = (from: LinkState, to: LinkState): boolean =>
  from === 'active' || (from === 'conflict' && to !== 'conflict');

export interface LinkMove {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
  readonly now: number;
}

/**
 * Lets a link follow its record after a merge in the CRM. `merged`: the survivor stands for the same company already, or
 * there was no active link to move. `conflict`: it stands for another company, so both links wait for a person.
 */
export async function moveLink(
  tx: Tx,
  { provider, from, to, now }: LinkMove,
): Promise<'moved' | 'merged' | 'conflict'> {
  const before = await findLink(tx, { provider, recordId: from });
  if (before === undefined || before.state !== 'active') return before?.state === 'conflict' ? 'conflict' : 'merged';
  const survivor = await findLink(tx, { provider, recordId: to });
  const linked =
    survivor?.state === 'conflict'
      ? ({ kind: 'taken', entity: survivor.entity } as const)
      : await linkRecord(tx, { provider, recordId: to, entity: before.entity, sendUpdate: false, now });
  if (linked.kind === 'taken') {
    const conflict = { provider, state: 'conflict', now } as const;
    const reason = `merged in the CRM into record ${to}, which stands for ${linked.entity}`;
    await endLink(tx, { ...conflict, recordId: from, reason });
    const other = `record ${from}, which stands for ${before.entity}, was merged into this one in the CRM`;
    await endLink(tx, { ...conflict, recordId: to, reason: other });
    return 'conflict';
  }
  await endLink(tx, { provider, recordId: from, state: 'merged', reason: `merged in the CRM into record ${to}`, now });
  return linked.kind === 'linked' ? 'moved' : 'merged';
}

export interface LinkFilter {
  readonly provider?: string | undefined;
  /** Canonical entity id. */
  readonly entity?: string | undefined;
  readonly recordId?: string | undefined;
  readonly state?: LinkState | undefined;
  /** Lists what comes after this link, for the next page. */
  readonly after?: RecordRef | undefined;
  readonly limit?: number | undefined;
}

/** Links by connection and record id. */
export async function listLinks(db: Db, filter: LinkFilter = {}): Promise<readonly Link[]> {
  let query = db.selectFrom('link').selectAll().orderBy('provider').orderBy('record_id');
  const { provider, entity, recordId, state, after, limit } = filter;
  if (provider !== undefined) query = query.where('provider', '=', provider);
  if (entity !== undefined) query = query.where('entity', '=', entity);
  if (recordId !== undefined) query = query.where('record_id', '=', recordId);
  if (state !== undefined) query = query.where('state', '=', state);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('provider', 'record_id'), '>', tuple(after.provider, after.recordId)),
    );
  if (limit !== undefined) query = query.limit(limit);
  return query.execute();
}

/** One record's link, whatever its state; undefined where it never had one. */
export async function findLink(db: Db, { provider, recordId }: RecordRef): Promise<Link | undefined> {
  const [link] = await listLinks(db, { provider, recordId });
  return link;
}

/** The active links of companies, given by canonical entity id. */
export async function recordsOf(db: Db, entities: readonly string[]): Promise<readonly Link[]> {
  return db
    .selectFrom('link')
    .selectAll()
    .where('entity', 'in', each(db, entities))
    .where('state', '=', 'active')
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
}

/** Whether a link keeps its record: it counts, or upstream may still monitor its company and is yet to be told. */
async function isBound(tx: Tx, link: Link): Promise<boolean> {
  if (link.state === 'active' || link.state === 'conflict' || link.monitored === 'on') return true;
  const lane = await tx
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', MONITORING_QUEUE)
    .where('key', '=', linkKey(link.provider, link.record_id))
    .executeTakeFirst();
  return lane !== undefined && link.monitored === 'unknown';
}

async function change(tx: Tx, { provider, recordId }: RecordRef, to: Partial<Link>): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('link')
    .set(to)
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
