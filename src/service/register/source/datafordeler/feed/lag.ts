/**
 * Notices rows that the feed announces and an entity does not serve: they come some minutes later, or not for a day.
 * Their absence must not read as a removal.
 */
import { whole } from '../../../document/fields.ts';
import { SourceError } from '../../source.ts';
import type { DafEntity, DafRow, UnitRows } from '../rows.ts';
import type { Announced, UnitEvents } from './read-events.ts';

/** How long after its event a row may come: then the feed goes on without it. */
const PATIENCE_MS = 10 * 60_000;

export interface ReadUnit {
  readonly events: UnitEvents | undefined;
  readonly rows: UnitRows;
}

const isServed = (rows: readonly DafRow[], { sequence }: Announced): boolean =>
  rows.some((row) => (whole(row['datafordelerRegisterImportSequenceNumber']) ?? sequence) >= sequence);

/** The entities of a unit that were read, and lack what was announced. */
function laggingIn({ events, rows }: ReadUnit): readonly DafEntity[] {
  if (events === undefined) return [];
  return [...events.inserted].flatMap(([entity, announced]) => {
    const read = rows[entity];
    return read !== undefined && !isServed(read, announced) ? [entity] : [];
  });
}

/** Throws {@link SourceError} while announced rows may still come. An older event may have been overtaken by later ones. */
export function awaitRows(units: readonly ReadUnit[], now: number): void {
  const young = units.filter(({ events }) => Date.parse(events?.loadedAt ?? '') > now - PATIENCE_MS);
  const lagging = new Set(young.flatMap(laggingIn));
  if (lagging.size === 0) return;
  throw new SourceError(`Datafordeler announces rows that it does not serve yet, of ${[...lagging].join(', ')}`, {
    retryAfterMs: 30_000,
  });
}

/** The units that lack announced rows. */
export const laggingUnits = (units: readonly ReadUnit[]): readonly ReadUnit[] =>
  units.filter((unit) => laggingIn(unit).length > 0);

/** The units without the entities that lack announced rows, and which entities those are. */
export function withoutLagging(units: readonly ReadUnit[]): {
  readonly units: readonly ReadUnit[];
  readonly lagging: ReadonlySet<DafEntity>;
} {
  const all = new Set<DafEntity>();
  const read = units.map((unit): ReadUnit => {
    const lagging = laggingIn(unit);
    if (lagging.length === 0) return unit;
    const rows = { ...unit.rows };
    for (const entity of lagging) {
      delete rows[entity];
      all.add(entity);
    }
    return { ...unit, rows };
  });
  return { units: read, lagging: all };
}
