/** The position in the feed of events, as JSON in the cursor. */
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import { type DafEntity, entityNamed } from '../rows.ts';

export interface FeedCursor {
  /** The last event that was read, with all before it. */
  readonly event: number;
  /** When Datafordeler loaded the newest of them, ms since 1970; 0 without one. */
  readonly loadedAt: number;
  readonly askedAt: number;
  /** Whether more events were waiting at that time. */
  readonly more: boolean;
  /** Whether events of the next unit may be among the read ones, or lost. */
  readonly isCut?: boolean;
  readonly gap?: FeedGap;
  readonly late?: readonly LateUnit[];
  readonly silent?: readonly SilentEntity[];
}

/** An entity that lacks rows which the feed announced. Meanwhile, missing rows of a unit in it mean nothing. */
export interface SilentEntity {
  readonly entity: DafEntity;
  /** The number of the announced import. */
  readonly sequence: number;
  /** When missing rows mean absence again. */
  readonly until: number;
}

/** An announced unit whose own rows are missing, so that cvrsync cannot tell whether it is wanted. */
export interface LateUnit {
  readonly id: string;
  /** The numbers of the announced imports, by entity. */
  readonly announced: readonly (readonly [entity: DafEntity, sequence: number])[];
  /** When the feed stops waiting for it. */
  readonly until: number;
}

/** A missing event that later events follow. */
export interface FeedGap {
  readonly number: number;
  /** When the feed first noticed it. */
  readonly since: number;
}

export function readCursor(cursor: string | undefined): FeedCursor | undefined {
  try {
    const json: unknown = JSON.parse(cursor ?? '');
    const { event, loadedAt, askedAt, more, isCut, gap, late, silent } = isJsonObject(json) ? json : {};
    if (typeof event !== 'number' || typeof loadedAt !== 'number' || typeof askedAt !== 'number') return undefined;
    const known = gapIn(gap);
    const place = { event, loadedAt, askedAt, more: more === true, isCut: isCut === true };
    return {
      ...{ ...place, ...(known && { gap: known }) },
      late: Array.isArray(late) ? late.flatMap(lateIn) : [],
      silent: Array.isArray(silent) ? silent.flatMap(silentIn) : [],
    };
  } catch {
    return undefined;
  }
}

function gapIn(value: unknown): FeedGap | undefined {
  const { number, since } = isJsonObject(value) ? value : {};
  return typeof number === 'number' && typeof since === 'number' ? { number, since } : undefined;
}

function silentIn(value: unknown): readonly SilentEntity[] {
  const { entity: name, sequence, until } = isJsonObject(value) ? value : {};
  const entity = entityNamed(String(name));
  return entity === undefined || typeof sequence !== 'number' || typeof until !== 'number'
    ? []
    : [{ entity, sequence, until }];
}

function lateIn(value: unknown): readonly LateUnit[] {
  const { id, announced, until } = isJsonObject(value) ? value : {};
  if (typeof id !== 'string' || typeof until !== 'number' || !Array.isArray(announced)) return [];
  const pairs = announced.flatMap((pair) => {
    const [name, sequence] = Array.isArray(pair) ? pair : [];
    const entity = entityNamed(String(name));
    return entity === undefined || typeof sequence !== 'number' ? [] : [[entity, sequence] as const];
  });
  return [{ id, announced: pairs, until }];
}
