/** How far the register has been read, from its source's cursor. */
import type { Db } from '../../../store/store.ts';
import type { RegisterSource, SourcePart } from '../source/source.ts';
import { readCount } from './count-documents.ts';
import { cursorKey, readLane } from './watch-page.ts';

/** The register is behind after this time without a read: in an outage cvrsync retries at least every five minutes. */
export const BEHIND_MS = 15 * 60_000;

/** A part of the register by its name; a source without parts has only the time of its last read. */
export type RegisterPart = { readonly name: string } & Pick<SourcePart, 'readAt'> & Partial<SourcePart>;

export interface RegisterProgress {
  readonly parts: readonly RegisterPart[];
  readonly error: string | null;
}

interface Gauge<L> {
  set(labels: L, value: number): void;
}

export interface RegisterGauges {
  readonly registerLagSeconds: { set(seconds: number): void };
  readonly registerCount: Gauge<{ readonly part: string; readonly where: 'source' | 'store' }>;
}

export type ReadableSource = Pick<RegisterSource, 'name' | 'parts'>;

export async function readProgress(db: Db, source: ReadableSource): Promise<RegisterProgress | undefined> {
  const kept = await db
    .selectFrom('kv')
    .select(['value', 'updated_at'])
    .where('key', '=', cursorKey(source))
    .executeTakeFirst();
  if (kept === undefined) return undefined;
  const lane = await readLane(db, source);
  const parts = source.parts?.(kept.value) ?? { documents: { readAt: kept.updated_at } };
  return {
    parts: Object.entries(parts).map(([name, part]) => ({ name, ...part })),
    error: lane?.error ?? null,
  };
}

/** Sets the gauges of the register's lag and of its stored documents. Leaves out unknown values. */
export async function measureRegister(
  db: Db,
  source: ReadableSource,
  gauges: RegisterGauges,
  now: number,
): Promise<void> {
  const lag = await readLag(db, source, now);
  if (lag !== undefined) gauges.registerLagSeconds.set(lag / 1_000);
  for (const { part, source: held, stored } of (await readCount(db))?.counts ?? []) {
    gauges.registerCount.set({ part, where: 'source' }, held);
    gauges.registerCount.set({ part, where: 'store' }, stored);
  }
}

/** How far behind the register is read; undefined before the first attempt. */
async function readLag(db: Db, source: ReadableSource, now: number): Promise<number | undefined> {
  const lane = await readLane(db, source);
  if (lane !== undefined && lane.error !== null) return now - lane.since;
  const progress = await readProgress(db, source);
  if (progress === undefined) return undefined;
  const behind = progress.parts.map(({ readAt, walkedTo }) => {
    if (walkedTo !== undefined) return now - walkedTo;
    return now - readAt > BEHIND_MS ? now - readAt : 0;
  });
  return Math.max(0, ...behind);
}
