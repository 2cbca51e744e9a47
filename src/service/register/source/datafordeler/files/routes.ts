/**
 * Decides which documents need a row of the files. Files are by entity and unordered: a company's document also needs
 * the rows of its production units, which name it by its CVR number, and those of its partners. No document needs rows
 * of persons: cvrsync keeps only the number and kind of a partner.
 */
import { text, whole } from '../../../document/fields.ts';
import { cvrIn, type DafEntity, type DafRow, standing, unitIdOf } from '../rows.ts';
import { createNumberPairs } from './unit-numbers.ts';

/** The use of a row in a document: a row of an entity, or of one of its partners. */
export type RowRole = DafEntity | 'partners' | 'partnerNames';

export interface RoutedRow {
  readonly unit: string;
  readonly role: RowRole;
  readonly row: DafRow;
}

export interface Routes {
  /** The documents that need a row. */
  of(entity: DafEntity, row: DafRow): readonly RoutedRow[];
  /** Learns from rows that were routed before a restart. */
  note(entity: DafEntity, row: DafRow): void;
}

/** The entities that the routes need first: those that say which units exist. */
export const FIRST_ENTITIES: readonly DafEntity[] = [
  'Virksomhed',
  'Produktionsenhed',
  'FuldtAnsvarligDeltagerRelation',
];

export function createRoutes(): Routes {
  const companies = createIdSet();
  const units = createIdSet();
  const companyByCvr = createNumberPairs();
  /** Companies by the number of a partner. */
  const partnerOf = createNumberPairs();

  function note(entity: DafEntity, row: DafRow): void {
    const id = unitIdOf(row);
    if (id === null) return;
    if (entity === 'Virksomhed') {
      companies.add(id);
      companyByCvr.add(Number(cvrIn(row['CVRNummer']) ?? Number.NaN), Number(id));
    } else if (entity === 'Produktionsenhed') units.add(id);
    else partnerOf.add(Number(text(row['deltagendeEnhedsId']) ?? Number.NaN), Number(id));
  }

  const ofPartner = (id: string, role: RowRole, row: DafRow): readonly RoutedRow[] =>
    partnerOf.valuesOf(Number(id)).map((unit) => ({ unit: String(unit), role, row }));

  /** The documents of other units that need a row. */
  function elsewhere(entity: DafEntity, id: string, row: DafRow): readonly RoutedRow[] {
    if (entity === 'CVREnhed') return ofPartner(id, 'partners', kindOf(row));
    // Only companies: cvrsync does not read the name of a person.
    if (entity === 'Navn') return companies.has(id) ? ofPartner(id, 'partnerNames', row) : [];
    if (entity !== 'Produktionsenhed') return [];
    const cvr = whole(row['tilknyttetVirksomhedsCVRNummer']) ?? Number.NaN;
    return companyByCvr.valuesOf(cvr).map((company) => ({ unit: String(company), role: entity, row }));
  }

  return {
    note,
    of(entity, row) {
      const id = standing([row]).length === 0 ? null : unitIdOf(row);
      if (id === null) return [];
      if (entity === 'Virksomhed' || entity === 'Produktionsenhed') note(entity, row);
      const isKnown = companies.has(id) || units.has(id);
      if (isKnown && entity === 'FuldtAnsvarligDeltagerRelation') note(entity, row);
      return [...(isKnown ? [{ unit: id, role: entity, row }] : []), ...elsewhere(entity, id, row)];
    },
  };
}

const kindOf = ({ id, enhedsType, forretningsnoegle, forretningsnoegletype }: DafRow): DafRow =>
  text(enhedsType)?.toLowerCase() === 'virksomhed'
    ? { id, enhedsType, forretningsnoegle, forretningsnoegletype }
    : { id, enhedsType };

/** Unit numbers are consecutive from here. */
const FIRST_ID = 4_000_000_000;
const MOST_BITS = 1 << 27;

/** A set of millions of unit numbers, one bit each. */
function createIdSet() {
  let bits = new Uint8Array(1 << 20);
  const others = new Set<string>();
  const bitOf = (id: string): number => {
    const bit = Number(id) - FIRST_ID;
    return bit >= 0 && bit < MOST_BITS && Number.isInteger(bit) ? bit : -1;
  };
  return {
    add(id: string): void {
      const bit = bitOf(id);
      if (bit === -1) {
        others.add(id);
        return;
      }
      const at = bit >>> 3;
      if (at >= bits.length) {
        const more = new Uint8Array(Math.max(at + 1, bits.length * 2));
        more.set(bits);
        bits = more;
      }
      bits[at] = (bits[at] ?? 0) | (1 << (bit & 7));
    },
    has(id: string): boolean {
      const bit = bitOf(id);
      return bit === -1 ? others.has(id) : ((bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
    },
  };
}
