/** What a monitor lists: companies and persons, each under its id in another system where it has one. */
import { hash } from 'node:crypto';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Change } from '../changes/change.ts';
import { isCompany } from '../changes/fan-out.ts';
import { publish } from '../changes/publish.ts';
import type { Secrets } from '../keys/secrets.ts';
import { readNames } from '../register/watch/snapshots.ts';
import { lockMonitor } from './monitors.ts';

/** The lanes of whole states that were asked for; key: {@link stateKey}. */
export const STATE_QUEUE = 'state';

/** The lanes of companies that the register is to be asked for, since nothing of them is known here; key: the entity. */
export const ASK_QUEUE = 'ask';

/** The lane of one entity's whole state for one monitor. */
export const stateKey = (monitor: string, entity: string): string => `${monitor}:${entity}`;

/** Takes a lane's key apart: a monitor's id holds no colon. */
export function readStateKey(key: string): { readonly monitor: string; readonly entity: string } {
  const end = key.indexOf(':');
  return { monitor: key.slice(0, end), entity: key.slice(end + 1) };
}

/** One line of a monitor's list. */
export interface ItemRef {
  readonly monitor: string;
  /** Canonical. */
  readonly entity: string;
  /** The id in the external system; empty in lists that have none. */
  readonly recordId: string;
}

export type Added = { readonly kind: 'added' | 'already' | 'no-monitor' };
export type Removed = { readonly kind: 'removed' | 'absent' | 'no-monitor' };

/**
 * Lists an entity under a record's id. Idempotent. Tells the monitor `addedToMonitor` where the entity is new to it, under
 * whichever id. With `sendUpdate` its whole state is sent, also where it is listed already. Ring `ask`, `deliver`, `mail`
 * and `state` after the commit.
 */
export async function addItem(
  tx: Tx,
  { sendUpdate, now, ...item }: ItemRef & { readonly sendUpdate: boolean; readonly now: number },
): Promise<Added> {
  // Locked, so that items of a monitor are committed in the order of their numbers: a page misses none.
  const monitor = await lockMonitor(tx, item.monitor);
  if (monitor === undefined) return { kind: 'no-monitor' };
  if (sendUpdate) await mark(tx, STATE_QUEUE, [stateKey(item.monitor, item.entity)], now);
  // Without a snapshot the next document would be its first sight, and its change nobody's.
  if (isCompany(item.entity) && !(await isKnown(tx, item.entity))) await mark(tx, ASK_QUEUE, [item.entity], now);
  const row = await tx
    .insertInto('item')
    .values({ monitor: item.monitor, entity: item.entity, record_id: item.recordId, added_at: now })
    .onConflict((conflict) => conflict.columns(['entity', 'monitor', 'record_id']).doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (row === undefined) return { kind: 'already' };
  if (!(await isListed(tx, item, row.seq))) await tell(tx, 'addedToMonitor', item, monitor.name, row.seq, now);
  return { kind: 'added' };
}

/**
 * Takes an item off a list. Idempotent. Tells the monitor `removedFromMonitor` where that was the last one of its entity.
 * Ring `deliver` and `mail` after the commit.
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
  if (!(await isListed(tx, item, row.seq))) await tell(tx, 'removedFromMonitor', item, monitor.name, row.seq, now);
  return { kind: 'removed' };
}

/** Whether the register has told of an entity. */
async function isKnown(db: Db, entity: string): Promise<boolean> {
  const row = await db.selectFrom('snapshot').select('entity').where('entity', '=', entity).executeTakeFirst();
  return row !== undefined;
}

/** Whether a monitor lists an entity, under another item than the one with that number. */
export async function isListed(
  db: Db,
  { monitor, entity }: Pick<ItemRef, 'monitor' | 'entity'>,
  butFor = 0,
): Promise<boolean> {
  const row = await db
    .selectFrom('item')
    .select('seq')
    .where('entity', '=', entity)
    .where('monitor', '=', monitor)
    .where('seq', '!=', butFor)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A listed item, as a page shows it. */
export interface Item {
  readonly entity: string;
  readonly recordId: string;
  /** Ms since 1970. */
  readonly addedAt: number;
}

/** `ok` false: the token is none of ours, or of another list. */
export type ItemPage =
  | { readonly ok: true; readonly items: readonly Item[]; readonly continuationToken: string | undefined }
  | { readonly ok: false };

export const DEFAULT_TAKE = 100;
export const MOST_TAKE = 1_000;

/**
 * A page of a monitor's items in the order they were added, and the token of the next one; none on the last. What stays
 * listed while somebody pages is seen exactly once, whatever is added and removed meanwhile. `take` 1 to 1,000, 100 where
 * absent.
 */
export async function pageItems(
  db: Db,
  secrets: Pick<Secrets, 'sign' | 'verify'>,
  monitor: string,
  take = DEFAULT_TAKE,
  token?: string,
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

/** Says what a code is for, so that one of another use is none here. */
const signed = (body: string): string => `items:${body}`;

function writeToken(secrets: Pick<Secrets, 'sign'>, monitor: string, after: number): string {
  const body = Buffer.from(JSON.stringify([monitor, after])).toString('base64url');
  return `${body}.${secrets.sign(signed(body))}`;
}

function readToken(secrets: Pick<Secrets, 'verify'>, monitor: string, token: string): number | undefined {
  const [body = '', mac = '', ...rest] = token.split('.');
  if (rest.length > 0 || !secrets.verify(signed(body), mac)) return undefined;
  const read: unknown = JSON.parse(Buffer.from(body, 'base64url').toString());
  if (!Array.isArray(read) || read[0] !== monitor) return undefined;
  return typeof read[1] === 'number' ? read[1] : undefined;
}

async function tell(
  tx: Tx,
  event: 'addedToMonitor' | 'removedFromMonitor',
  { monitor, entity }: ItemRef,
  monitorName: string,
  seq: number,
  now: number,
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
