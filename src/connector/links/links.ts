/**
 * Links: which CRM record belongs to which company, and whether the company is monitored for it.
 *
 * This file stores the desired state, with the lane that sends it upstream; monitoring.ts stores the observed state.
 * Lanes are marked before links are changed, so that no two transactions deadlock.
 */

import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { refuseErased } from '../../store/erasure/erasures.ts';
import type { LinkTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { healQueue, linkKey, MONITORING_QUEUE, type RecordRef } from '../names/queues.ts';
import { refuseLeft } from './left.ts';
import { restoreHolds } from './merged-holds.ts';

export type Link = LinkTable;
export type LinkState = Link['state'];

export const LINK_STATES = ['active', 'gone', 'merged', 'removed', 'conflict'] as const satisfies readonly LinkState[];

/**
 * The `mismatch` of a link that came by a merge: a survivor without a number keeps it, another number waits for a
 * person.
 */
export const CAME_BY_MERGE = '';

export interface LinkRequest extends RecordRef {
  readonly entity: string;
  readonly sendUpdate: boolean;
  readonly now: number;
  /** Who linked the record; default `person`. */
  readonly origin?: Link['origin'];
  /** Which side wins at the first sync; default `crm`. */
  readonly trust?: Link['trust'];
}

/** `taken`: the record belongs to another company, or upstream has not confirmed the end of that link. */
export type LinkResult = { readonly kind: 'linked' | 'already' } | { readonly kind: 'taken'; readonly entity: string };

/**
 * Links a record to a company and asks for its monitoring. Idempotent; restarts an ended link of the same company.
 * Throws if the company was erased, or the connection left.
 */
export async function linkRecord(tx: Tx, desired: LinkRequest): Promise<LinkResult> {
  const { provider, recordId, entity, sendUpdate, now, origin = 'person', trust = 'crm' } = desired;
  await refuseErased(tx, entity);
  await refuseLeft(tx, provider);
  const before = await findLink(tx, desired);
  if (before?.state === 'active' && before.entity === entity) {
    const isConfirmed = before.desired === 'on' && before.observed === 'on' && before.send_update === 0;
    if (isConfirmed && !sendUpdate) return { kind: 'already' };
    await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
    if (sendUpdate) await updateLink(tx, desired, { send_update: 1, updated_at: now });
    return { kind: 'already' };
  }
  if (before !== undefined && before.entity !== entity && (await isBound(tx, before)))
    return { kind: 'taken', entity: before.entity };

  // An apply of the company that began before the link does not see it: the lane makes this wait, or it runs again.
  await mark(tx, 'apply', [entity], now);
  await mark(tx, `sync:${provider}`, [recordId], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  // An accepted mismatch of the same company stays; a link by number has none.
  const mismatch = origin === 'person' && before?.entity === entity ? before.mismatch : null;
  const fresh = {
    entity,
    state: 'active',
    reason: null,
    mismatch,
    desired: 'on',
    // Also if it was `on`: a removal may be running now.
    observed: 'unknown',
    observed_error: null,
    send_update: sendUpdate ? 1 : 0,
    asked_seq: null,
    synced_seq: 0,
    origin,
    trust,
    writes_number: 0,
    updated_at: now,
  } as const;
  const row = await tx
    .insertInto('link')
    .values({
      ...fresh,
      provider,
      record_id: recordId,
      observed_at: null,
      synced_at: null,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['provider', 'record_id'])
        .doUpdateSet({ ...fresh, ...(before?.entity !== entity && { synced_at: null }) })
        // Another process may have linked it since our read.
        .where((where) =>
          where.or([where('link.entity', '=', entity), where('link.state', 'not in', ['active', 'conflict'])]),
        ),
    )
    .returning('entity')
    .executeTakeFirst();
  if (row === undefined) return { kind: 'taken', entity: (await findLink(tx, desired))?.entity ?? entity };
  await restoreHolds(tx, desired);
  return { kind: 'linked' };
}

export interface LinkEnd extends RecordRef {
  readonly state: Exclude<LinkState, 'active'>;
  readonly reason: string;
  readonly now: number;
  /** Who removed it: a link that a `person` removed does not restart by itself. Default `person`. */
  readonly origin?: Link['origin'];
  /** The number in a `conflict` that contradicts the link. Without one, only a person ends the conflict. */
  readonly mismatch?: string;
}

/**
 * Ends an active or conflicting link, and its monitoring. A `conflict` keeps its desired state until an operator
 * decides. False without such a link. Records that waited because they hold the same number are read again, and so are
 * parents: the company may have one record left.
 */
export async function endLink(tx: Tx, end: LinkEnd): Promise<boolean> {
  const { provider, recordId, state, reason, now, origin = 'person', mismatch = null } = end;
  const before = await findLink(tx, end);
  if (before === undefined) return false;
  if (!canEnd(before.state, state)) {
    // The link has ended already, but a person's decision is stored: records come back and numbers are filled in.
    const isWord = state === 'removed' && origin === 'person';
    if (isWord && (before.state === 'gone' || before.state === 'removed'))
      await updateLink(tx, end, { state, origin, reason });
    return false;
  }
  if (state === 'conflict') return updateLink(tx, end, { state, reason, mismatch, updated_at: now });
  // Whoever finds another record in conflict with this one locks the lane as well: that one is seen below, or sees the end.
  await mark(tx, 'apply', [before.entity], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  const { observed } = (await findLink(tx, end)) ?? before;
  const ended = await updateLink(tx, end, {
    state,
    reason,
    ...(state === 'removed' && { origin }),
    // A restored record keeps the accepted mismatch.
    mismatch: state === 'gone' && before.state === 'active' ? before.mismatch : null,
    desired: 'off',
    // Also if it was `off`: an add may be running now. A refused link has no monitoring.
    observed: observed === 'off' ? 'unknown' : observed,
    send_update: 0,
    updated_at: now,
  });
  await markRivals(tx, before, now);
  return ended;
}

const canEnd = (from: LinkState, to: LinkState): boolean =>
  from === 'active' || (from === 'conflict' && to !== 'conflict');

/** Marks records with this company's number that waited for the end of its link. */
async function markRivals(tx: Tx, { provider, record_id, entity }: Link, now: number): Promise<void> {
  const rivals = await tx
    .selectFrom('link')
    .select('record_id')
    .where('provider', '=', provider)
    .where('entity', '=', entity)
    .where('record_id', '!=', record_id)
    .where('state', '=', 'conflict')
    .where('mismatch', '=', entity)
    .execute();
  const ids = rivals.map((rival) => rival.record_id);
  if (ids.length > 0) await mark(tx, healQueue(provider), ids, now);
}

export interface LinkFilter {
  readonly provider?: string | undefined;
  readonly entity?: string | undefined;
  readonly recordId?: string | undefined;
  readonly recordIds?: readonly string[] | undefined;
  readonly state?: LinkState | undefined;
  readonly after?: RecordRef | undefined;
  readonly limit?: number | undefined;
}

/** Repeats the condition of the index of inactive links; otherwise no engine uses it. */
export const isInState = (state: LinkState) =>
  state === 'active' ? sql<boolean>`state = 'active'` : sql<boolean>`state = ${state} and state <> 'active'`;

export async function listLinks(db: Db, filter: LinkFilter = {}): Promise<readonly Link[]> {
  let query = db.selectFrom('link').selectAll().orderBy('provider').orderBy('record_id');
  const { provider, entity, recordId, recordIds, state, after, limit } = filter;
  if (provider !== undefined) query = query.where('provider', '=', provider);
  if (entity !== undefined) query = query.where('entity', '=', entity);
  if (recordId !== undefined) query = query.where('record_id', '=', recordId);
  if (recordIds !== undefined) query = query.where('record_id', 'in', each(db, recordIds));
  if (state !== undefined) query = query.where(isInState(state));
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('provider', 'record_id'), '>', tuple(after.provider, after.recordId)),
    );
  if (limit !== undefined) query = query.limit(limit);
  return query.execute();
}

export async function findLink(db: Db, { provider, recordId }: RecordRef): Promise<Link | undefined> {
  const [link] = await listLinks(db, { provider, recordId });
  return link;
}

export async function standsFor(db: Db, ref: RecordRef, entity: string): Promise<boolean> {
  const link = await findLink(db, ref);
  return link?.state === 'active' && link.entity === entity;
}

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

/** The ids of active links, in order, `after` this one. */
export async function activeRecords(
  db: Db,
  { provider, after, limit }: { readonly provider: string; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const links = await db
    .selectFrom('link')
    .select('record_id')
    .where('state', '=', 'active')
    .where('provider', '=', provider)
    .where('record_id', '>', after)
    .orderBy('record_id')
    .limit(limit)
    .execute();
  return links.map((link) => link.record_id);
}

/** Whether a link reserves its record: it is open, or upstream may still monitor its company. */
export async function isBound(db: Db, link: Link): Promise<boolean> {
  if (link.state === 'active' || link.state === 'conflict' || link.observed === 'on') return true;
  const lane = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', MONITORING_QUEUE)
    .where('key', '=', linkKey(link.provider, link.record_id))
    .executeTakeFirst();
  return lane !== undefined && link.observed === 'unknown';
}

export async function updateLink(tx: Tx, { provider, recordId }: RecordRef, to: Partial<Link>): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('link')
    .set(to)
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
