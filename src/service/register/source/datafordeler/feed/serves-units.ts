/**
 * Tells a company without production units from one whose units Datafordeler does not serve now: an entity may answer
 * empty for a day, and the events of a company do not announce its units.
 */
import { isCompany, type UnitRows, unitIdOf } from '../rows.ts';
import type { RowReader } from './read-rows.ts';

export interface UnitsReader extends RowReader {
  /** Whether Datafordeler still serves any of the production units that it served before. */
  servesUnits(signal: AbortSignal): Promise<boolean>;
}

/** The units that are asked for again; the register deletes few. */
const MOST_KNOWN = 20;

export function createUnitsReader(rows: RowReader): UnitsReader {
  let known: readonly string[] = [];
  return {
    ...rows,
    async read(entity, key, keys, signal) {
      const read = await rows.read(entity, key, keys, signal);
      if (entity === 'Produktionsenhed')
        known = [...new Set([...(read ?? []).flatMap((row) => unitIdOf(row) ?? []), ...known])].slice(0, MOST_KNOWN);
      return read;
    },
    async servesUnits(signal) {
      const served = await rows.read('Produktionsenhed', 'id', known, signal);
      return served !== undefined && served.length > 0;
    },
  };
}

/** If a company seems to have no production units, makes them unknown. For use while some units are not served. */
export function withUnknownUnits(rows: UnitRows): UnitRows {
  if (rows.CVREnhed?.some(isCompany) !== true || rows.Produktionsenhed?.length !== 0) return rows;
  const { Produktionsenhed: _, ...others } = rows;
  return others;
}
