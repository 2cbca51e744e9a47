/** Units whose own rows come later than the feed waits: it asks for them with each window for a day. */
import { SourceError } from '../../source.ts';
import type { LateUnit } from './cursor.ts';
import type { UnitEvents } from './read-events.ts';

const DAY_MS = 24 * 3_600_000;
/** More late units mean that Datafordeler serves no units: the feed then waits. */
const MOST_LATE = 1_000;
const SHOWN = 5;

/** The events of a window, and of the late units that it does not register again. */
export function withLate(events: readonly UnitEvents[], late: readonly LateUnit[]): readonly UnitEvents[] {
  const ids = new Set(events.map(({ id }) => id));
  const before = late
    .filter(({ id }) => !ids.has(id))
    .map(({ id, announced }): UnitEvents => {
      const inserted = new Map(announced.map(([entity, sequence]) => [entity, { rowIds: [], sequence }]));
      return { id, inserted, isWhole: false, loadedAt: null };
    });
  return [...before, ...events];
}

/** The units to ask for with the next window. */
export function lateNow(unserved: readonly UnitEvents[], known: readonly LateUnit[], now: number): readonly LateUnit[] {
  const untilOf = new Map(known.map(({ id, until }) => [id, until]));
  const late = unserved.map(({ id, inserted, loadedAt }): LateUnit => {
    const announced = [...inserted].map(([entity, { sequence }]) => [entity, sequence] as const);
    // A unit that is registered again counts as new.
    return { id, announced, until: (loadedAt === null ? untilOf.get(id) : undefined) ?? now + DAY_MS };
  });
  const left = late.filter(({ until }) => until > now);
  if (left.length > MOST_LATE)
    throw new SourceError(`Datafordeler announces ${left.length} units that it does not serve`, {
      retryAfterMs: 60_000,
    });
  return left;
}

export function lateTrouble(late: readonly LateUnit[]): readonly string[] {
  if (late.length === 0) return [];
  const ids = late.slice(0, SHOWN).map(({ id }) => id);
  const rest = late.length > SHOWN ? ` and ${late.length - SHOWN} more` : '';
  return [`the units ${ids.join(', ')}${rest} are announced and not served: asking for them again`];
}
