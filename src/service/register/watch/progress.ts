/** How far the register was read, as its source's cursor tells. */
import type { Db } from '../../../store/store.ts';
import type { RegisterSource, SourcePart } from '../source/source.ts';
import { WATCH_QUEUE } from './take-in.ts';
import { cursorKey } from './watch-page.ts';

/** A register that was not read for so long is behind: an outage waits five minutes at most between two tries. */
export const BEHIND_MS = 15 * 60_000;

/** A part of the register, by its name; a source without parts tells only when it was read. */
export type RegisterPart = { readonly name: string } & Pick<SourcePart, 'readAt'> & Partial<SourcePart>;

export interface RegisterProgress {
  readonly parts: readonly RegisterPart[];
  /** Why the source cannot be read now; null where it can. */
  readonly error: string | null;
}

/** What a source needs to tell its progress. */
export type ReadableSource = Pick<RegisterSource, 'name' | 'parts'>;

/** Reads it; undefined before the first page. */
export async function readProgress(db: Db, source: ReadableSource): Promise<RegisterProgress | undefined> {
  const kept = await db
    .selectFrom('kv')
    .select(['value', 'updated_at'])
    .where('key', '=', cursorKey(source))
    .executeTakeFirst();
  if (kept === undefined) return undefined;
  const lane = await db
    .selectFrom('lane')
    .select('error')
    .where('queue', '=', WATCH_QUEUE)
    .where('key', '=', source.name)
    .executeTakeFirst();
  const parts = source.parts?.(kept.value) ?? { documents: { readAt: kept.updated_at } };
  return {
    parts: Object.entries(parts).map(([name, part]) => ({ name, ...part })),
    error: lane?.error ?? null,
  };
}
