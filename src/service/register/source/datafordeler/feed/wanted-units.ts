/** Finds the units of the feed that are wanted companies or their production units. */
import { whole } from '../../../document/fields.ts';
import { SourceError } from '../../source.ts';
import { cvrIn, type DafRow, isCompany, isProductionUnit, unitIdOf } from '../rows.ts';
import { awaitRows, laggingUnits } from './lag.ts';
import { noAccess, type UnitEvents } from './read-events.ts';
import type { ReadRows } from './read-rows.ts';
import type { UnitsToRead } from './read-units.ts';

/** Selects from these companies, by entity id, those to read. */
export type Wanted = (entities: readonly string[]) => Promise<ReadonlySet<string>>;

interface Deps {
  readonly read: ReadRows;
  readonly wanted: Wanted;
  readonly now: number;
  readonly signal: AbortSignal;
}

const idsIn = (rows: readonly DafRow[]): readonly string[] => [...new Set(rows.flatMap((row) => unitIdOf(row) ?? []))];

export const ownerOf = ({ tilknyttetVirksomhedsCVRNummer: cvr }: DafRow): readonly string[] => {
  const number = cvrIn(cvr);
  return number === null ? [] : [number];
};

/**
 * What to read for these events: the wanted units, and wanted companies with those that a production unit belongs to or
 * left. Drops all other units and persons, of which it reads only the kind.
 */
export async function wantedUnits(
  events: readonly UnitEvents[],
  deps: Deps,
): Promise<UnitsToRead & { readonly unserved: readonly UnitEvents[] }> {
  const { read, wanted, signal } = deps;
  const registered = events.filter(({ inserted }) => inserted.has('Virksomhed') || inserted.has('Produktionsenhed'));
  const ids = events.map(({ id }) => id);
  const CVREnhed = await read('CVREnhed', 'id', ids, signal);
  if (CVREnhed === undefined) throw noAccess(new Error('Datafordeler refuses CVR_CVREnhed'));
  const unitIds = idsIn(CVREnhed.filter((row) => isProductionUnit(row)));
  const rows = await read('Produktionsenhed', 'id', unitIds, signal);
  const owned = rows ?? [];
  // Waiting does not help if an entity is refused.
  const unserved = awaitAll(registered, { CVREnhed, owned, unitIds: rows === undefined ? [] : unitIds, now: deps.now });
  const changed = CVREnhed.filter(isCompany).flatMap((row) => {
    const [id, cvr] = [unitIdOf(row), cvrIn(row['forretningsnoegle'])];
    return id === null || cvr === null ? [] : [[id, cvr] as const];
  });
  const numbers = [...new Set([...changed.map(([, cvr]) => cvr), ...owned.flatMap(ownerOf)])];
  const entities = numbers.length === 0 ? new Set<string>() : await wanted(numbers.map((cvr) => `CVR-1-${cvr}`));
  const isWanted = (cvr: string): boolean => entities.has(`CVR-1-${cvr}`);
  const own = new Map(changed.filter(([, cvr]) => isWanted(cvr)));
  const known = new Set(own.values());
  const others = numbers.filter((cvr) => isWanted(cvr) && !known.has(cvr));
  const companies = new Map([...own, ...(await companiesByNumber(read, others, signal))]);
  const productionUnits = idsIn(owned.filter((row) => ownerOf(row).some(isWanted)));
  const faxRows = new Map(
    events
      .filter(({ isWhole }) => isWhole)
      .map(({ id, inserted }) => [id, inserted.get('Telefaxnummer')?.rowIds ?? []] as const),
  );
  return { companies, productionUnits, CVREnhed, faxRows, unserved };
}

/**
 * Throws while units are not served yet, because cvrsync cannot tell whether they are wanted. Returns those that it no
 * longer waits for.
 */
function awaitAll(
  registered: readonly UnitEvents[],
  how: { CVREnhed: readonly DafRow[]; owned: readonly DafRow[]; unitIds: readonly string[]; now: number },
): readonly UnitEvents[] {
  const [kinds, owners] = [how.CVREnhed, how.owned].map((rows) => Map.groupBy(rows, unitIdOf));
  const isUnit = new Set(how.unitIds);
  const units = registered.map((events) => {
    const { id } = events;
    const CVREnhed = kinds?.get(id) ?? [];
    return { events, rows: isUnit.has(id) ? { CVREnhed, Produktionsenhed: owners?.get(id) ?? [] } : { CVREnhed } };
  });
  awaitRows(units, how.now);
  return laggingUnits(units).flatMap(({ events }) => events ?? []);
}

/** Unit numbers and CVR numbers of the companies that exist. */
export async function companiesByNumber(
  read: ReadRows,
  cvrs: readonly string[],
  signal: AbortSignal,
): Promise<readonly (readonly [id: string, cvr: string])[]> {
  const numbers = cvrs.flatMap((cvr) => whole(cvr) ?? []);
  const rows = await read('Virksomhed', 'CVRNummer', numbers, signal);
  if (rows === undefined) throw new SourceError('Datafordeler refuses CVR_Virksomhed: no company can be read');
  return rows.flatMap((row) => {
    const [id, cvr] = [unitIdOf(row), cvrIn(row['CVRNummer'])];
    return id === null || cvr === null ? [] : [[id, cvr] as const];
  });
}
