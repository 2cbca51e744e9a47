/**
 * Publishes changes: stores each once, with all deliveries, mails and news that follow. Marks lanes before it inserts
 * their rows, in one order, so that workers miss none and publishers do not deadlock.
 */

import { setImmediate as breathe } from 'node:timers/promises';
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { lockUntilCommit } from '../../store/advisory-lock.ts';
import { eachRow } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import { engineOf, type Store, type Tx } from '../../store/store.ts';
import { traceToStore } from '../../telemetry/trace.ts';
import { withoutBeneficialOwners } from '../changes/beneficial-owners.ts';
import { type Change, isCompany } from '../changes/change.ts';
import type { DigestTime } from '../mail/digest-hour.ts';
import { type MailRow, queueMail } from '../mail/queue.ts';
import { fanOutMonitors, type Listener } from '../monitors/monitor-row.ts';
import { DELIVER_QUEUE } from '../names/queues.ts';
import { storeNews } from '../news/store.ts';
import { type NewsSettings, newsOf } from '../news/wording/make.ts';
import { fanOut, type Notified } from './fan-out.ts';

export interface PublishOptions {
  readonly now: number;
  /** Without it, publishing makes no news, as for changes of a monitor itself. */
  readonly news?: NewsSettings;
  /** When daily mails go out; 7 in Danish time by default. */
  readonly digest?: DigestTime | undefined;
  readonly beneficialOwners?: boolean;
}

interface Stored {
  readonly seq: number;
  readonly change: Change;
  readonly listeners: readonly Listener[];
}

/** This many rows take some 20 ms on SQLite, which blocks everything else. */
const CHUNK = 2_000;

/**
 * Stores changes in order, with the deliveries, mails, news and lanes that follow. Skips a change with a stored id.
 * Always stores changes of companies; stores those of a person only if a monitor lists the person, and those of one
 * monitor only if that monitor gets them. Takes a few statements for any page. Ring `deliver` and `mail` after the
 * commit.
 */
export async function publish(tx: Tx, given: readonly Change[], options: PublishOptions): Promise<void> {
  const tellable = options.beneficialOwners === true ? given : given.flatMap(withoutOwners);
  const changes = await withoutErasedNames(tx, tellable);
  await lockUntilCommit(tx, 'publishers', 'shared');
  const listenersOf = await listeners(tx, changes);
  const worth = changes.filter((change) => isKept(change, listenersOf(change)));
  if (worth.length === 0) return;
  const stored = await insertChanges(tx, worth, listenersOf, options.now);
  await deliver(tx, stored, options.now);
  const { news } = options;
  if (news !== undefined)
    await storeNews(
      tx,
      stored.flatMap(({ change }) => newsOf(change, news)),
    );
  for (const rows of chunks(mailRows(stored))) await queueMail(tx, rows, options.now, options.digest);
}

/**
 * Waits until the publishing transactions that may have read older lists end. They do not notify monitors of entities
 * that were listed before the call, so the caller then reads the snapshots that they store. SQLite has one writer and
 * needs no wait.
 */
export async function publishersEnd(store: Store): Promise<void> {
  if (engineOf(store.db) === 'postgres') await store.write((tx) => lockUntilCommit(tx, 'publishers', 'exclusive'));
}

function withoutOwners(change: Change): readonly Change[] {
  const updates = withoutBeneficialOwners(change.updates);
  if (updates === change.updates) return [change];
  return Object.keys(updates).length === 0 ? [] : [{ ...change, updates }];
}

/** Drops changes about an erased entity, and removes erased entities from others. */
async function withoutErasedNames(tx: Tx, changes: readonly Change[]): Promise<readonly Change[]> {
  const erasures = await readErasures(tx);
  if (erasures.version === '') return changes;
  return changes.filter(({ entity }) => !erasures.has(entity)).map((change) => erasures.redact(change));
}

/**
 * The monitors that may get a change: monitors of all companies, those that list its entity, or the one that it names.
 */
async function listeners(tx: Tx, changes: readonly Change[]): Promise<(change: Change) => readonly Listener[]> {
  const open = changes.filter(({ only }) => only === undefined);
  const monitors = await fanOutMonitors(tx, {
    entities: [...new Set(open.map(({ entity }) => entity))],
    only: changes.flatMap(({ only }) => only ?? []),
    all: open.some(({ entity }) => isCompany(entity)),
  });
  const everywhere = monitors.filter(({ target }) => target === 'all');
  const byId = new Map(monitors.map((monitor) => [monitor.id, [monitor]]));
  const byEntity = new Map<string, Listener[]>();
  for (const monitor of monitors) {
    if (monitor.target === 'all') continue;
    for (const entity of monitor.entities) {
      const list = byEntity.get(entity);
      if (list === undefined) byEntity.set(entity, [...everywhere, monitor]);
      else list.push(monitor);
    }
  }
  return ({ entity, only }) => (only === undefined ? (byEntity.get(entity) ?? everywhere) : (byId.get(only) ?? []));
}

function isKept(change: Change, listeners: readonly Listener[]): boolean {
  if (change.only !== undefined) return fanOut(change, listeners).length > 0;
  return isCompany(change.entity) || listeners.some(({ entities }) => entities.has(change.entity));
}

async function insertChanges(
  tx: Tx,
  changes: readonly Change[],
  listenersOf: (change: Change) => readonly Listener[],
  now: number,
): Promise<readonly Stored[]> {
  // If a page has an id twice, the first counts.
  const byId = new Map(changes.toReversed().map((change) => [change.id, change]));
  const rows = changes.map(({ id, entity, name, kind, timestamp, updates }, place) => {
    return { place, id, entity, name, kind, timestamp, updates: JSON.stringify(updates) };
  });
  const inserted = await tx
    .insertInto('change')
    .columns(['id', 'entity', 'name', 'kind', 'timestamp', 'updates', 'created_at', 'trace'])
    .expression(
      sql`select each.id, each.entity, each.name, each.kind, each.timestamp, each.updates,
        cast(${now} as bigint), cast(${traceToStore() ?? null} as text)
        from ${eachRow(tx, ['id', 'entity', 'name', 'kind', 'timestamp', 'updates', 'place'], rows)}
        where true order by cast(each.place as bigint)`,
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(['seq', 'id'])
    .execute();
  return inserted
    .sort((a, b) => a.seq - b.seq)
    .flatMap(({ seq, id }) => {
      const change = byId.get(id);
      return change === undefined ? [] : [{ seq, change, listeners: listenersOf(change) }];
    });
}

async function deliver(tx: Tx, stored: readonly Stored[], now: number): Promise<void> {
  const due = new Set<string>();
  for (const { change, listeners } of stored) {
    // Recomputed below: for ten thousand monitors, the stored results of a page would fill the memory.
    const others = listeners.filter(({ id }) => !due.has(id));
    for (const { monitor, state } of fanOut(change, others)) if (state === 'due') due.add(monitor);
  }
  if (due.size > 0) await mark(tx, DELIVER_QUEUE, [...due], now);
  const switchedOn = new Set<string>();
  for (const rows of chunks(deliveryRows(stored))) {
    for (const id of await insertDeliveries(tx, rows, now)) if (!due.has(id)) switchedOn.add(id);
    // SQLite works on the main thread, so waiting requests go first.
    await breathe();
  }
  if (switchedOn.size > 0) await mark(tx, DELIVER_QUEUE, [...switchedOn], now);
}

interface DeliveryRow {
  readonly [column: string]: string | number;
  readonly monitor: string;
  readonly entity: string;
  readonly change: number;
  readonly events: string;
  readonly state: 'due' | 'held';
}

function* deliveryRows(stored: readonly Stored[]): Generator<DeliveryRow> {
  for (const { seq, change, notified } of notifications(stored)) {
    if (notified.state === null) continue;
    const { monitor, state, events } = notified;
    yield { monitor, state, entity: change.entity, change: seq, events: JSON.stringify(events) };
  }
}

function* mailRows(stored: readonly Stored[]): Generator<MailRow> {
  for (const { seq, change, notified } of notifications(stored)) {
    if (notified.recipients.length === 0) continue;
    const { monitor, recipients, frequency, events } = notified;
    yield { monitor, recipients, frequency, events, change: seq, formerShares: change.formerShares };
  }
}

/** Ordered by monitor: the rows of a monitor are adjacent in the indexes, which are then read once per page. */
function* notifications(stored: readonly Stored[]): Generator<{ seq: number; change: Change; notified: Notified }> {
  const heard = new Map<Listener, Stored[]>();
  for (const one of stored)
    for (const listener of one.listeners) {
      const list = heard.get(listener);
      if (list === undefined) heard.set(listener, [one]);
      else list.push(one);
    }
  for (const [listener, list] of heard)
    for (const { seq, change } of list)
      for (const notified of fanOut(change, [listener])) yield { seq, change, notified };
}

/**
 * Reads which monitors were disabled or removed meanwhile: disabling takes the lock on the monitor's lane first, too.
 * Returns monitors that were off and are on now.
 */
async function insertDeliveries(tx: Tx, rows: readonly DeliveryRow[], now: number): Promise<readonly string[]> {
  const wereOff = new Set(rows.filter(({ state }) => state === 'held').map(({ monitor }) => monitor));
  const insertion = tx
    .insertInto('delivery')
    .columns(['monitor', 'entity', 'change', 'events', 'state', 'next_at', 'created_at'])
    .expression(
      sql`select monitor.id, each.entity, cast(each.change as bigint), each.events,
        case when monitor.enabled = 1 then 'due' else 'held' end, ${at(now)}, ${at(now)}
        from ${eachRow(tx, ['entity', 'change', 'events', 'monitor'], rows)} join monitor on monitor.id = each.monitor
        where true order by monitor.id, cast(each.change as bigint)`,
    )
    .onConflict((conflict) => conflict.columns(['change', 'monitor']).doNothing());
  // SQLite has one writer, so nothing changes meanwhile.
  if (wereOff.size === 0 || engineOf(tx) === 'sqlite') {
    await insertion.execute();
    return [];
  }
  const inserted = await insertion.returning(['monitor', 'state']).execute();
  return inserted.flatMap(({ monitor, state }) => (state === 'due' && wereOff.has(monitor) ? [monitor] : []));
}

const at = (now: number) => sql`cast(${now} as bigint)`;

function* chunks<T>(all: Iterable<T>): Generator<readonly T[]> {
  let chunk: T[] = [];
  for (const one of all) {
    chunk.push(one);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
