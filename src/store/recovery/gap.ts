/**
 * Gaps: times whose writes the store lost, because it was restored from a copy or lost part of its journal. What
 * cvrsync wrote into a CRM in a gap must not be taken for a person's edit.
 */
import { sql } from 'kysely';
import { readValue, writeValue } from '../kv.ts';
import type { Db, Tx } from '../store.ts';

export interface Gap {
  /** The end of what the store knows, in ms since 1970. */
  readonly since: number;
  readonly until: number;
  /** The newest receipt that the store knew; later ones are news. */
  readonly seq: number;
  readonly cause: 'restored' | 'journal';
  /** When cvrsync requested full updates of all companies, in ms since 1970; absent before. */
  readonly askedAt?: number;
}

const KEY = 'store:gaps';
const SEEN = 'store:seen';
const KEPT = 20;

/** Oldest first. */
export async function readGaps(db: Db): Promise<readonly Gap[]> {
  const text = await readValue(db, KEY);
  // Only this file writes the value.
  return text === undefined ? [] : (JSON.parse(text) as readonly Gap[]);
}

/** Gaps without requested full updates. */
export const readOpenGaps = async (db: Db): Promise<readonly Gap[]> =>
  (await readGaps(db)).filter(({ askedAt }) => askedAt === undefined);

/** Open gaps of a store with links. Without links there is nothing to request: the service reads the register again. */
export async function readGapsToClose(db: Db): Promise<readonly Gap[]> {
  const open = await readOpenGaps(db);
  if (open.length === 0) return [];
  const link = await db.selectFrom('link').select('record_id').limit(1).executeTakeFirst();
  return link === undefined ? [] : open;
}

/** Records a gap from `since`, or from the store's last sign of life, until now. */
export async function recordGap(
  tx: Tx,
  { cause, since }: { readonly cause: Gap['cause']; readonly since?: number | undefined },
  now: number,
): Promise<Gap> {
  const { rows } = await sql<{ seq: number | null }>`select max(each.seq) as seq from
    (select max(seq) as seq from receipt union all select max(seq) from fact) as each`.execute(tx);
  const gap: Gap = { since: since ?? (await lastSignOf(tx, now)), until: now, seq: Number(rows[0]?.seq ?? 0), cause };
  await writeGaps(tx, [...(await readGaps(tx)), gap].slice(-KEPT), now);
  return gap;
}

/** Records that full updates of all companies were requested. */
export async function closeGaps(tx: Tx, now: number): Promise<void> {
  const gaps = await readGaps(tx);
  if (gaps.some(({ askedAt }) => askedAt === undefined))
    await writeGaps(
      tx,
      gaps.map((gap) => ({ askedAt: now, ...gap })),
      now,
    );
}

const writeGaps = (tx: Tx, gaps: readonly Gap[], now: number): Promise<void> =>
  writeValue(tx, KEY, JSON.stringify(gaps), now);

/** Records in the store that it holds all writes until `at`; the marker says the same right after. */
export const writeSeen = (tx: Tx, at: number): Promise<void> => writeValue(tx, SEEN, String(at), at);

/** Whether the store lacks writes that it had at `seen`. */
export const isBefore = async (db: Db, seen: number): Promise<boolean> =>
  Number((await readValue(db, SEEN)) ?? 0) < seen;

/**
 * The time of the last write, as far as rows show it: a daemon renews its row every ten seconds. 0 for an empty store.
 */
export async function lastSignOf(db: Db, now: number): Promise<number> {
  const { rows } = await sql<{ at: number | null }>`select max(each.at) as at from (
      select max(seen_at) as at from daemon
      union all select max(updated_at) from kv
      union all select received_at from (select received_at from arrival order by seq desc limit 1) as newest
      union all select received_at from (select received_at from receipt order by seq desc limit 1) as newest
      union all select at from (select at from history order by id desc limit 1) as newest
      union all select at from (select at from audit order by id desc limit 1) as newest
    ) as each where each.at <= ${now}`.execute(db);
  return Number(rows[0]?.at ?? 0);
}
