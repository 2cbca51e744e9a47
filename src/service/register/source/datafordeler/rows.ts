/**
 * Rows of Datafordeler by entity. The columns have the same names in GraphQL answers and in files; a CSV file has every
 * value as text, and an empty text for null.
 */
import { registerTime } from '../../../../protocol/danish/clock.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/text/json.ts';
import { normaliseTime } from '../../../../protocol/text/time.ts';
import { digits, flag, text, whole } from '../../document/fields.ts';
import { dayOf } from '../../document/validity.ts';

/** The entities that a document needs, as GraphQL names them after `CVR_`. Files and events write `e-mailadresse`. */
export const ENTITIES = [
  'CVREnhed',
  'Virksomhed',
  'Produktionsenhed',
  'Navn',
  'Adressering',
  'Branche',
  'Virksomhedsform',
  'AnsvarligDataleverandoer',
  'Telefonnummer',
  'Telefaxnummer',
  'e_mailadresse',
  'Reklamebeskyttelse',
  'Kreditoplysninger',
  'FuldtAnsvarligDeltagerRelation',
] as const;
export type DafEntity = (typeof ENTITIES)[number];

const isEntity = (name: string): name is DafEntity => ENTITIES.some((entity) => entity === name);

/** The entity that an event or a file names; undefined if no document needs it. */
export const entityNamed = (name: string): DafEntity | undefined => {
  const entity = name.replace('-', '_');
  return isEntity(entity) ? entity : undefined;
};

export type DafRow = JsonObject;

/**
 * All rows of one unit. A missing entity could not be read, so its content is unknown; an empty list states that the
 * unit has none. `Produktionsenhed` has a production unit's own rows, or all rows with a company's number. Rows that a
 * later registration replaced are ignored.
 */
export type UnitRows = { readonly [E in DafEntity]?: readonly DafRow[] } & {
  /** Rows of `CVREnhed` for the partners in `FuldtAnsvarligDeltagerRelation`. A partner without a row is unknown. */
  readonly partners?: readonly DafRow[];
  /** Rows of `Navn` for the partners that are companies. Never read the names of persons. */
  readonly partnerNames?: readonly DafRow[];
};

/** The rows that no later registration replaced. */
export const standing = (rows: readonly DafRow[]): readonly DafRow[] =>
  rows.filter(({ registreringTil }) => text(registreringTil) === null);

/** The unit's number, `enhedsNummer` in the register's own documents. */
export const unitIdOf = (row: DafRow): string | null => text(row['CVREnhedsId'] ?? row['id']);

const kindOf = ({ enhedsType }: DafRow): string => String(enhedsType).toLowerCase();

export const isCompany = (row: DafRow): boolean => kindOf(row) === 'virksomhed';
export const isProductionUnit = (row: DafRow): boolean => kindOf(row) === 'produktionsenhed';

export const dayIn = (row: DafRow, column: string): string | null => dayOf(row[column]);

/** The last parsed time: all rows of a unit have the same, and most come together. */
let last: { readonly stated: string; readonly time: string } | undefined;

/** When a row was registered, as the register's own documents write it. */
export function registeredAt({ registreringFra: stated }: DafRow): string | null {
  if (typeof stated !== 'string') return null;
  if (last?.stated === stated) return last.time;
  const instant = normaliseTime(stated);
  if (instant === undefined) return null;
  last = { stated, time: registerTime(Date.parse(instant)) };
  return last.time;
}

export const orderOf = (row: DafRow): number => whole(row['sekvens']) ?? 0;

export const cvrIn = (value: unknown): string | null => digits(value, 8);
export const pNumberIn = (value: unknown): string | null => digits(value, 10);

/** CSV may spell a boolean with a capital letter. */
export const flagIn = (value: unknown): boolean | null => flag(typeof value === 'string' ? value.toLowerCase() : value);

export const rowsIn = (list: unknown): readonly DafRow[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
