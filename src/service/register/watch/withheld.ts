/** Stores the state of the safety limit: recent counts, the open review entry, and the answer. */
import { sql } from 'kysely';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { park } from '../../../runtime/lanes/lane-state.ts';
import { readValue, writeValue } from '../../../store/kv.ts';
import type { Db, Tx } from '../../../store/store.ts';
import { sumOf, type Tallies } from './safety-limit.ts';

/** A queue with one lane: parked while facts are withheld, due when a person accepts the losses. */
export const WITHHELD_QUEUE = 'withheld';
/** The same for every safety limit: see review. */
export const WITHHELD_KEY = '*';

const KEY = 'losses';
const ALLOWED_KEY = 'losses allowed';
const DAY_MS = 24 * 3_600_000;
const ALLOWED_DAYS = 7;
/** How long the answer to keep known facts applies to later losses. */
const ANSWERED_DAYS = 30;

export interface WithheldState {
  readonly since: number;
  readonly tallies: Tallies;
  readonly asked: Readonly<Record<string, number>>;
  readonly isAllowed: boolean;
  readonly isOpen: boolean;
}

export async function readWithheld(db: Db, now: number): Promise<WithheldState> {
  const json: unknown = JSON.parse((await readValue(db, KEY)) ?? '{}');
  // Only this file writes it.
  const { since = now, tallies = {}, asked = {} } = (isJsonObject(json) ? json : {}) as Partial<WithheldState>;
  const isOld = now - since > DAY_MS;
  const lane = await db.selectFrom('lane').select('key').where('queue', '=', WITHHELD_QUEUE).executeTakeFirst();
  return {
    since: isOld ? now : since,
    tallies: isOld ? {} : tallies,
    asked: Object.fromEntries(Object.entries(asked).filter(([, at]) => now - at < ANSWERED_DAYS * DAY_MS)),
    isAllowed: Number((await readValue(db, ALLOWED_KEY)) ?? 0) > now,
    isOpen: lane !== undefined,
  };
}

/** Counts the losses of a page, and opens a review entry for families that are withheld for the first time. */
export async function storeWithheld(
  tx: Tx,
  state: WithheldState,
  { tallies, withheld }: { readonly tallies: Tallies; readonly withheld: readonly string[] },
  now: number,
): Promise<void> {
  if (Object.keys(tallies).length === 0) return;
  const fresh = withheld.filter((family) => state.asked[family] === undefined);
  const total = sumOf(state.tallies, tallies);
  const asked = { ...state.asked, ...Object.fromEntries(fresh.map((family) => [family, now])) };
  await writeValue(tx, KEY, JSON.stringify({ since: state.since, tallies: total, asked }), now);
  if (fresh.length === 0) return;
  const counted = Object.entries(total).filter(([family]) => fresh.includes(family));
  const what = counted.map(([family, { lost, seen }]) => `${family} (${lost} of ${seen} companies)`).join(', ');
  const asking = `the register no longer states for many companies: ${what}. None of it is published, and the stored values stay`;
  if (!(await askMore(tx, asking))) await park(tx, WITHHELD_QUEUE, WITHHELD_KEY, { at: now, error: asking });
}

/** Adds to an open review entry, so that one answer covers everything withheld; false if none is open. */
async function askMore(tx: Tx, asking: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('lane')
    .set({ error: sql`error || ${`; ${asking}`}` })
    .where('queue', '=', WITHHELD_QUEUE)
    .where('key', '=', WITHHELD_KEY)
    .where('parked_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Accepts losses: those of the next days are published at once, then the limit counts again. */
export async function allowWithheld(tx: Tx, now: number): Promise<void> {
  await writeValue(tx, ALLOWED_KEY, String(now + ALLOWED_DAYS * DAY_MS), now);
  await writeValue(tx, KEY, '{}', now);
}
