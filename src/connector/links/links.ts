/**
 * Links: which CRM record holds which company, and whether the company is to be monitored for it.
 *
 * This file stores the desired state, with the lane that sends it upstream; monitoring.ts stores the observed state. Lanes
 * are marked before links are touched, so that no two transactions wait for each other.
 */

import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { refuseErased } from '../../store/erasure/erasures.ts';
import type { LinkTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { healQueue, linkKey, MONITORING_QUEUE, type RecordRef } from '../names/queues.ts';

export type Link = LinkTable;
export type LinkState = Link['state'];

export const LINK_STATES = ['active', 'gone', 'merged', 'removed', 'conflict'] as const satisfies readonly LinkState[];

/** The `mismatch` of a link that came by a merge: a survivor without a number does not end it, another number waits for a person. */
export const CAME_BY_MERGE = '';

export interface LinkRequest extends RecordRef {
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
export type LinkResult = { readonly kind: 'linked' | 'already' } | { readonly kind: 'taken'; readonly entity: string };

/**
 * Links a record to a company, and sets the desired state to monitored. Idempotent; an ended link of the same company
 * begins again. Throws if the company was erased.
 */
export async function linkRecord(tx: Tx, desired: LinkRequest): Promise<LinkResult> {
  const { provider, recordId, entity, sendUpdate, now, origin = 'person', trust = 'crm' } = desired;
  await refuseErased(tx, entity);
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

  // An apply of this company that began before the link does not see it: its lane makes us wait, or it runs once more.
  await mark(tx, 'apply', [entity], now);
  await mark(tx, `sync:${provider}`, [recordId], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  // What a person accepted for a company stays accepted; the number itself, once it is followed, speaks against nothing.
  const mismatch = origin === 'person' && before?.entity === entity ? before.mismatch : null;
  const fresh = {
    entity,
    state: 'active',
    reason: null,
    mismatch,
    desired: 'on',
    // Also if it was `on`: a removal may be under way at this moment.
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
        // Another process may have linked it between our read and our lock.
        .where((where) =>
          where.or([where('link.entity', '=', entity), where('link.state', 'not in', ['active', 'conflict'])]),
        ),
    )
    .returning('entity')
    .executeTakeFirst();
  if (row !== undefined) return { kind: 'linked' };
  return { kind: 'taken', entity: (await findLink(tx, desired))?.entity ?? entity };
}

export interface LinkEnd extends RecordRef {
  readonly state: Exclude<LinkState, 'active'>;
  /** Why, for people. */
  readonly reason: string;
  readonly now: number;
  /** Whose word a `removed` is: what a `person` removed does not begin again by itself. `person` where absent. */
  readonly origin?: Link['origin'];
  /** For a `conflict`: the number that speaks against the link. Without one only a person ends the conflict. */
  readonly mismatch?: string;
}

/**
 * Ends a link that is active or in conflict: the company is no longer to be monitored for the record. A `conflict` keeps
 * its desired state until an operator decides. False if there is no such link. Records that waited for this one because they hold
 * the same number are read again.
 */
export async function endLink(tx: Tx, end: LinkEnd): Promise<boolean> {
  const { provider, recordId, state, reason, now, origin = 'person', mismatch = null } = end;
  const before = await findLink(tx, end);
  if (before === undefined) return false;
  if (!canEnd(before.state, state)) {
    // It has ended already: a person's word on it is kept, for records come back and numbers are filled in.
    const isWord = state === 'removed' && origin === 'person';
    if (isWord && (before.state === 'gone' || before.state === 'removed'))
      await updateLink(tx, end, { state, origin, reason });
    return false;
  }
  if (state === 'conflict') return updateLink(tx, end, { state, reason, mismatch, updated_at: now });
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  const { observed } = (await findLink(tx, end)) ?? before;
  const ended = await updateLink(tx, end, {
    state,
    reason,
    ...(state === 'removed' && { origin }),
    // A record that comes back finds what a person accepted of it.
    mismatch: state === 'gone' && before.state === 'active' ? before.mismatch : null,
    desired: 'off',
    // Also if it was `off`: an add may be under way at this moment. What was refused is not there.
    observed: observed === 'off' ? 'unknown' : observed,
    send_update: 0,
    updated_at: now,
  });
  await markRivals(tx, before, now);
  return ended;
}

const canEnd = (from: LinkState, to: LinkState): boolean =>
  from === 'active' || (from === 'conflict' && to !== 'conflict');

/** Records that hold the number of the company whose link has ended, and were not linked because of it. */
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
  /** Canonical entity id. */
  readonly entity?: string | undefined;
  readonly recordId?: string | undefined;
  /** One of several records. */
  readonly recordIds?: readonly string[] | undefined;
  readonly state?: LinkState | undefined;
  /** Lists what comes after this link, for the next page. */
  readonly after?: RecordRef | undefined;
  readonly limit?: number | undefined;
}

/** A condition: links in this state. Says what the index of inactive links says, or no engine knows that the index will do. */
export const isInState = (state: LinkState) =>
  state === 'active' ? sql<boolean>`state = 'active'` : sql<boolean>`state = ${state} and state <> 'active'`;

/** Links by connection and record id. */
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

/** One record's link, whatever its state; undefined if it never had one. */
export async function findLink(db: Db, { provider, recordId }: RecordRef): Promise<Link | undefined> {
  const [link] = await listLinks(db, { provider, recordId });
  return link;
}

/** Whether a record stands for a company now. */
export async function standsFor(db: Db, ref: RecordRef, entity: string): Promise<boolean> {
  const link = await findLink(db, ref);
  return link?.state === 'active' && link.entity === entity;
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

/** The records of a connection's active links, in order: so many `after` this one. */
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

/** Whether a link keeps its record: it counts, or upstream may still monitor its company. */
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

/** Updates a record's link; false if it has none. */
export async function updateLink(tx: Tx, { provider, recordId }: RecordRef, to: Partial<Link>): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('link')
    .set(to)
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
