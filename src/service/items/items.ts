/** The items of a monitor: its companies and persons, with their ids in the external system. */

import { hash } from 'node:crypto';
import { mark } from '../../runtime/lanes/lanes.ts';
import { countEach } from '../../store/count.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { Db, Tx } from '../../store/store.ts';
import { type Change, isCompany } from '../changes/change.ts';
import type { Secrets } from '../keys/secrets.ts';
import { lockMonitor } from '../monitors/monitors.ts';
import { ASK_QUEUE, STATE_QUEUE, stateKey } from '../names/queues.ts';
import { publish } from '../publish/publish.ts';
import { readNames } from '../register/watch/snapshots.ts';

export interface ItemRef {
  readonly monitor: string;
  readonly entity: string;
  /** The id in the external system; empty if the list has none. */
  readonly recordId: string;
}

export type Added = { readonly kind: 'added' | 'already' | 'erased' | 'no-monitor' };
export type Removed = { readonly kind: 'removed' | 'absent' | 'no-monitor' };

/**
 * Adds an entity to a list under a record's id. Idempotent. Publishes `addedToMonitor` if the monitor did not list the
 * entity under any id before. With `sendUpdate` the monitor gets the entity's full state, even if the list has it
 * already. Ring `ask`, `deliver`, `mail` and `state` after the commit.
 */
export async function addItem(
  tx: Tx,
  { sendUpdate, now, ...item }: ItemRef & { readonly sendUpdate: boolean; readonly now: number },
): Promise<Added> {
  // The lock makes items of a monitor commit in the order of their numbers, so that a page misses none.
  const monitor = await lockMonitor(tx, item.monitor);
  if (monitor === undefined) return { kind: 'no-monitor' };
  if ((await readErasures(tx)).has(item.entity)) return { kind: 'erased' };
  if (sendUpdate) await mark(tx, STATE_QUEUE, [stateKey(item.monitor, item.entity)], now);
  // Without a snapshot the next document would be the first, with nothing to compare with: cvrsync would lose its
  // change.
  if (isCompany(item.entity) && !(await hasSnapshot(tx, item.entity))) await mark(tx, ASK_QUEUE, [item.entity], now);
  const row = await tx
    .insertInto('item')
    .values({ monitor: item.monitor, entity: item.entity, record_id: item.recordId, added_at: now })
    .onConflict((conflict) => conflict.columns(['entity', 'monitor', 'record_id']).doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (row === undefined) return { kind: 'already' };
  if (!(await isListed(tx, item, row.seq)))
    await publishListChange(tx, item, { event: 'addedToMonitor', monitorName: monitor.name, seq: row.seq, now });
  return { kind: 'added' };
}

/**
 * Removes an item from a list. Idempotent. Publishes `removedFromMonitor` if it was the last item of its entity. Ring
 * `deliver` and `mail` after the commit.
 */
export async function removeItem(tx: Tx, { now, ...item }: ItemRef & { readonly now: number }): Promise<Removed> {
  const monitor = await lockMonitor(tx, item.monitor);
  if (monitor === undefined) return { kind: 'no-monitor' };
  const row = await tx
    .deleteFrom('item')
    .where('entity', '=', item.entity)
    .where('monitor', '=', item.monitor)
    .where('record_id', '=', item.recordId)
    .returning('seq')
    .executeTakeFirst();
  if (row === undefined) return { kind: 'absent' };
  if (!(await isListed(tx, item, row.seq)))
    await publishListChange(tx, item, { event: 'removedFromMonitor', monitorName: monitor.name, seq: row.seq, now });
  return { kind: 'removed' };
}

/** Whether the service has a document of an entity. */
export async function hasSnapshot(db: Db, entity: string): Promise<boolean> {
  const row = await db.selectFrom('snapshot').select('entity').where('entity', '=', entity).executeTakeFirst();
  return row !== undefined;
}

/** `exceptSeq`: the number of an item to ignore. */
async function isListed(
  db: Db,
  { monitor, entity }: Pick<ItemRef, 'monitor' | 'entity'>,
  exceptSeq = 0,
): Promise<boolean> {
  const row = await db
    .selectFrom('item')
    .select('seq')
    .where('entity', '=', entity)
    .where('monitor', '=', monitor)
    .where('seq', '!=', exceptSeq)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface Item {
  readonly entity: string;
  readonly recordId: string;
  readonly addedAt: number;
}

/** `ok` is false for a token of another list, or one that this service did not make. */
export type ItemPage =
  | { readonly ok: true; readonly items: readonly Item[]; readonly continuationToken: string | undefined }
  | { readonly ok: false };

export const MOST_COUNTED_ITEMS = 10_000;

/** Counts the items of each monitor, up to one more than {@link MOST_COUNTED_ITEMS}. */
export async function countItems(db: Db, monitors: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const items = monitors.map((monitor) => db.selectFrom('item').select('seq').where('monitor', '=', monitor));
  const counts = await countEach(db, items, { most: MOST_COUNTED_ITEMS + 1 });
  return new Map(monitors.map((monitor, at) => [monitor, counts[at]?.count ?? 0]));
}

export const DEFAULT_TAKE = 100;
export const MOST_TAKE = 1_000;

export interface ItemQuery {
  readonly monitor: string;
  /** 1 to 1,000; 100 by default. */
  readonly take?: number | undefined;
  readonly token?: string | undefined;
}

/**
 * A page of a monitor's items, oldest first, with the token of the next page. An item that stays in the list while a
 * caller pages appears exactly once, whatever else is added and removed.
 */
export async function pageItems(
  db: Db,
  secrets: Pick<Secrets, 'sign' | 'verify'>,
  { monitor, take = DEFAULT_TAKE, token }: ItemQuery,
): Promise<ItemPage> {
  const after = token === undefined ? 0 : readToken(secrets, monitor, token);
  if (after === undefined) return { ok: false };
  const size = Math.min(Math.max(1, take), MOST_TAKE);
  const rows = await db
    .selectFrom('item')
    .select(['seq', 'entity', 'record_id', 'added_at'])
    .where('monitor', '=', monitor)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(size + 1)
    .execute();
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1)?.seq : undefined;
  return {
    ok: true,
    items: shown.map(({ entity, record_id, added_at }) => ({ entity, recordId: record_id, addedAt: added_at })),
    continuationToken: last === undefined ? undefined : writeToken(secrets, monitor, last),
  };
}

/** The signed text names the use of a token, so a code for another use is invalid here. */
const signedText = (body: string): string => `items:${body}`;

function writeToken(secrets: Pick<Secrets, 'sign'>, monitor: string, after: number): string {
  const body = Buffer.from(JSON.stringify([monitor, after])).toString('base64url');
  return `${body}.${secrets.sign(signedText(body))}`;
}

function readToken(secrets: Pick<Secrets, 'verify'>, monitor: string, token: string): number | undefined {
  const [body = '', mac = '', ...rest] = token.split('.');
  if (rest.length > 0 || !secrets.verify(signedText(body), mac)) return undefined;
  const parsed: unknown = JSON.parse(Buffer.from(body, 'base64url').toString());
  if (!Array.isArray(parsed) || parsed[0] !== monitor) return undefined;
  return typeof parsed[1] === 'number' ? parsed[1] : undefined;
}

interface ListChange {
  readonly event: 'addedToMonitor' | 'removedFromMonitor';
  readonly monitorName: string;
  readonly seq: number;
  readonly now: number;
}

async function publishListChange(
  tx: Tx,
  { monitor, entity }: ItemRef,
  { event, monitorName, seq, now }: ListChange,
): Promise<void> {
  const change: Change = {
    id: hash('sha256', `${event} ${monitor} ${entity} ${seq}`, 'base64url'),
    entity,
    name: (await readNames(tx, [entity])).get(entity) ?? entity,
    kind: 'monitor',
    timestamp: new Date(now).toISOString(),
    updates: { [event]: { monitorId: monitor, monitorName } },
    only: monitor,
  };
  await publish(tx, [change], { now });
}
