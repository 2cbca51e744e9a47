import type { Db } from '../../../store/store.ts';
import type { RegisterSource, SourcePart } from '../source/source.ts';
import { readCount } from './count-documents.ts';
import { readDifferences } from './origins/second-readings.ts';
import { cursorKey, readLane } from './watch-page.ts';

/** The register is behind after this time without a read: in an outage cvrsync retries at least every five minutes. */
export const BEHIND_MS = 15 * 60_000;

/** A part of the register by its name; a source without parts has only the time of its last read. */
export type RegisterPart = { readonly name: string; readonly source: string } & Pick<SourcePart, 'readAt'> &
  Partial<SourcePart>;

export interface RegisterProgress {
  readonly parts: readonly RegisterPart[];
  /** The unreadable parts of each source. */
  readonly errors: readonly { readonly source: string; readonly error: string }[];
}

interface Gauge<L> {
  set(labels: L, value: number): void;
}

export interface RegisterGauges {
  readonly registerLagSeconds: { set(seconds: number): void };
  readonly registerCount: Gauge<{ readonly part: string; readonly where: 'source' | 'store' }>;
  readonly registerSourceLagSeconds: Gauge<{ readonly source: string }>;
  readonly registerDifferences: Gauge<{ readonly source: string; readonly event: string }>;
}

export type ReadableSource = Pick<RegisterSource, 'name' | 'origin' | 'parts'>;

/** How far the sources have read; undefined before the first page of any. */
export async function readProgress(db: Db, sources: readonly ReadableSource[]): Promise<RegisterProgress | undefined> {
  const found = await Promise.all(sources.map((source) => readSource(db, source)));
  const begun = found.filter((each) => each !== undefined);
  if (begun.length === 0) return undefined;
  return {
    parts: begun.flatMap(({ parts }) => parts),
    errors: begun.flatMap(({ source, error }) => (error === null ? [] : [{ source, error }])),
  };
}

/** The errors in words, with the names of their sources if there are several. */
export const errorsText = ({ errors }: RegisterProgress, isOne: boolean): string | null =>
  errors.length === 0 ? null : errors.map(({ source, error }) => (isOne ? error : `${source}: ${error}`)).join('; ');

async function readSource(db: Db, source: ReadableSource) {
  const kept = await db
    .selectFrom('kv')
    .select(['value', 'updated_at'])
    .where('key', '=', cursorKey(source))
    .executeTakeFirst();
  if (kept === undefined) return undefined;
  const lane = await readLane(db, source);
  const parts = source.parts?.(kept.value) ?? { documents: { readAt: kept.updated_at } };
  return {
    source: source.name,
    parts: Object.entries(parts).map(([name, part]) => ({ name, source: source.name, ...part })),
    error: lane?.error ?? null,
  };
}

/** Sets the gauges of the register's lag and of its stored documents. Skips unknown values. */
export async function measureRegister(
  db: Db,
  sources: readonly ReadableSource[],
  gauges: RegisterGauges,
  now: number,
): Promise<void> {
  const lags: number[] = [];
  for (const source of sources) {
    const lag = await readLag(db, source, now);
    if (lag === undefined) continue;
    lags.push(lag);
    gauges.registerSourceLagSeconds.set({ source: source.name }, lag / 1_000);
  }
  if (lags.length > 0) gauges.registerLagSeconds.set(Math.max(...lags) / 1_000);
  for (const { part, source: held, stored } of (await readCount(db))?.counts ?? []) {
    gauges.registerCount.set({ part, where: 'source' }, held);
    gauges.registerCount.set({ part, where: 'store' }, stored);
  }
  for (const { origin, byEvent } of await readDifferences(db, now))
    for (const [event, count] of Object.entries(byEvent))
      gauges.registerDifferences.set({ source: origin, event }, count);
}

/** How far behind a source is; undefined before the first attempt. */
async function readLag(db: Db, source: ReadableSource, now: number): Promise<number | undefined> {
  const lane = await readLane(db, source);
  if (lane !== undefined && lane.error !== null) return now - lane.since;
  const progress = await readSource(db, source);
  if (progress === undefined) return undefined;
  const behind = progress.parts.map(({ readAt, walkedTo }: Pick<RegisterPart, 'readAt' | 'walkedTo'>) => {
    if (walkedTo !== undefined) return now - walkedTo;
    return now - readAt > BEHIND_MS ? now - readAt : 0;
  });
  return Math.max(0, ...behind);
}
