/**
 * Detects rows that the feed announces and an entity does not serve. They come some minutes later, or up to a day
 * later. Their absence must not count as a removal.
 */
import { whole } from '../../../document/fields.ts';
import { SourceError } from '../../source.ts';
import { type DafEntity, type DafRow, isCompany, type UnitRows } from '../rows.ts';
import type { SilentEntity } from './cursor.ts';
import type { Announced, UnitEvents } from './read-events.ts';
import { NEVER_EMPTY } from './read-units.ts';
import { withUnknownUnits } from './serves-units.ts';

const DAY_MS = 24 * 3_600_000;

/** How long the feed waits for announced rows. */
const PATIENCE_MS = 10 * 60_000;

export interface ReadUnit {
  readonly events: UnitEvents | undefined;
  readonly rows: UnitRows;
}

const sequenceOf = (row: DafRow): number | null => whole(row['datafordelerRegisterImportSequenceNumber']);

const isServed = (rows: readonly DafRow[], { sequence }: Announced): boolean =>
  rows.some((row) => (sequenceOf(row) ?? sequence) >= sequence);

/** The entities of a unit that were read and lack announced rows. */
function laggingIn({ events, rows }: ReadUnit): readonly DafEntity[] {
  if (events === undefined) return [];
  return [...events.inserted].flatMap(([entity, announced]) => {
    const read = rows[entity];
    return read !== undefined && !isServed(read, announced) ? [entity] : [];
  });
}

/**
 * Throws {@link SourceError} while announced rows may still come. Ignores older events: later ones may have replaced
 * their rows.
 */
export function awaitRows(units: readonly ReadUnit[], now: number): void {
  const young = units.filter(({ events }) => Date.parse(events?.loadedAt ?? '') > now - PATIENCE_MS);
  const lagging = new Set(young.flatMap(laggingIn));
  if (lagging.size === 0) return;
  throw new SourceError(`Datafordeler announces rows that it does not serve yet, of ${[...lagging].join(', ')}`, {
    retryAfterMs: 30_000,
  });
}

export const laggingUnits = (units: readonly ReadUnit[]): readonly ReadUnit[] =>
  units.filter((unit) => laggingIn(unit).length > 0);

/** Removes from the units the entities that lack announced rows, and returns those entities. */
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

/**
 * The entities that lack announced rows after reading these units. Each counts for a day, or until the announced rows
 * come.
 */
export function silentAfter(
  known: readonly SilentEntity[],
  units: readonly ReadUnit[],
  now: number,
): readonly SilentEntity[] {
  const announced = units.flatMap(({ events, rows }) =>
    [...(events?.inserted ?? [])].map(([entity, each]) => ({
      entity,
      ...each,
      isThere: isServed(rows[entity] ?? [], each),
    })),
  );
  const isOver = ({ entity, sequence, until }: SilentEntity): boolean =>
    until <= now || announced.some((each) => each.entity === entity && each.isThere && each.sequence >= sequence);
  const silent = new Map(known.filter((each) => !isOver(each)).map((each) => [each.entity, each]));
  const lagging = new Set(units.flatMap(laggingIn));
  for (const { entity, sequence, isThere } of announced)
    if (!isThere && lagging.has(entity) && sequence >= (silent.get(entity)?.sequence ?? 0))
      silent.set(entity, { entity, sequence, until: now + DAY_MS });
  return [...silent.values()];
}

/**
 * For a unit that was read without events: leaves out the rows of entities that may be behind, and says whether there
 * are any. A registration inserts all rows of a unit again, so rows older than the newest belong to a former
 * registration.
 */
export function withoutBehind(
  rows: UnitRows,
  silent: readonly SilentEntity[],
): { readonly rows: UnitRows; readonly isBehind: boolean } {
  const isOfCompany = rows.CVREnhed?.some(isCompany) === true;
  // A company's production units, which are registered separately.
  const apart: ReadonlySet<string> = new Set([
    'partners',
    'partnerNames',
    ...(isOfCompany ? ['Produktionsenhed'] : []),
  ]);
  const own = Object.entries(rows).filter(([entity]) => !apart.has(entity));
  const newest = Math.max(0, ...own.flatMap(([, list = []]) => list.map((row) => sequenceOf(row) ?? 0)));
  const behind = own.flatMap(([entity, list = []]) => {
    const isAbsent = list.length === 0 && silent.some((each) => each.entity === entity);
    return isAbsent || (list.length > 0 && !isServed(list, { rowIds: [], sequence: newest })) ? [entity] : [];
  });
  const read: UnitRows = Object.fromEntries(Object.entries(rows).filter(([entity]) => !behind.includes(entity)));
  const left = silent.some(({ entity }) => entity === 'Produktionsenhed') ? withUnknownUnits(read) : read;
  const isLacking = isOfCompany && [...NEVER_EMPTY].some((entity) => rows[entity] === undefined);
  return { rows: left, isBehind: behind.length > 0 || isLacking };
}
