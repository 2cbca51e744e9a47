/** Marks very many lanes, in steps: a million in one statement would delay all other writes. */

import { untilDone } from '../../runtime/housekeeping/prune.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Store, Tx } from '../../store/store.ts';
import { activeRecords } from './links.ts';

const STEP = 1_000;

const PREFIX = 'mark-all:';

/** Progress of a marking: the last record done, of a connection's links or of waiting lanes. */
type Marking = { readonly after: string } & ({ readonly provider: string } | { readonly waiting: string });

/**
 * Marks the first lanes of a queue, one for each active link of the connection; `continueMarking` marks the rest.
 * Restarts a running marking. False without links.
 */
export async function markAll(tx: Tx, provider: string, queue: string, now: number): Promise<boolean> {
  return (await step(tx, queue, { provider, after: '' }, now)) > 0;
}

/** Marks the first lanes of the queue that wait for this reason; `continueMarking` marks the rest. */
export async function markWaiting(tx: Tx, queue: string, waiting: string, now: number): Promise<void> {
  await step(tx, queue, { waiting, after: '' }, now);
}

export const stopMarking = async (tx: Tx, queue: string): Promise<void> => {
  await tx.deleteFrom('kv').where('key', '=', `${PREFIX}${queue}`).execute();
};

/** Marks the rest in short transactions, so that others can write in between. Continues after a crash. */
export async function continueMarking(store: Store, now: () => number, signal: AbortSignal): Promise<void> {
  const open = await store.db.selectFrom('kv').select('key').where('key', 'like', `${PREFIX}%`).execute();
  for (const { key } of open)
    await untilDone(store, signal, async (tx) => (await continueOne(tx, key.slice(PREFIX.length), now())) === STEP);
}

async function continueOne(tx: Tx, queue: string, now: number): Promise<number> {
  // Locks the row: a daemon that restarts the marking waits for the end of this step.
  await tx.updateTable('kv').set({ updated_at: now }).where('key', '=', `${PREFIX}${queue}`).execute();
  const text = await readValue(tx, `${PREFIX}${queue}`);
  return text === undefined ? 0 : step(tx, queue, JSON.parse(text), now);
}

async function step(tx: Tx, queue: string, marking: Marking, now: number): Promise<number> {
  const { ids, seen, last } = await ('waiting' in marking ? nextWaiting(tx, queue, marking) : nextLinks(tx, marking));
  if (ids.length > 0) await mark(tx, queue, ids, now);
  if (last === undefined || seen < STEP) await stopMarking(tx, queue);
  else await writeValue(tx, `${PREFIX}${queue}`, JSON.stringify({ ...marking, after: last } satisfies Marking), now);
  return seen;
}

interface Page {
  readonly ids: readonly string[];
  readonly seen: number;
  readonly last: string | undefined;
}

async function nextLinks(tx: Tx, { provider, after }: { provider: string; after: string }): Promise<Page> {
  const ids = await activeRecords(tx, { provider, after, limit: STEP });
  return { ids, seen: ids.length, last: ids.at(-1) };
}

/** Reads every lane in turn: those with this reason may be few among many. */
async function nextWaiting(
  tx: Tx,
  queue: string,
  { waiting, after }: { waiting: string; after: string },
): Promise<Page> {
  const lanes = await tx
    .selectFrom('lane')
    .select(['key', 'error'])
    .where('queue', '=', queue)
    .where('key', '>', after)
    .orderBy('key')
    .limit(STEP)
    .execute();
  const ids = lanes.filter(({ error }) => error === waiting).map(({ key }) => key);
  return { ids, seen: lanes.length, last: lanes.at(-1)?.key };
}
