/**
 * Tells a company without production units from one whose units are not served: an entity may answer empty for a day, and
 * no event announces a company's units with the company.
 */
import { isCompany, type UnitRows, unitIdOf } from '../rows.ts';
import type { RowReader } from './read-rows.ts';

export interface UnitsReader extends RowReader {
  /** Whether any production unit that was served before still is. */
  servesUnits(signal: AbortSignal): Promise<boolean>;
}

/** Units that are asked for again; the register deletes few. */
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

/** The rows without the production units of a company that seems to have none, where some units are not served. */
export function withoutNoUnits(rows: UnitRows): UnitRows {
  if (rows.CVREnhed?.some(isCompany) !== true || rows.Produktionsenhed?.length !== 0) return rows;
  const { Produktionsenhed: _, ...others } = rows;
  return others;
}
