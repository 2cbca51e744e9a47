/** Reads all rows of some units that a document needs: each entity for up to 100 units in one query. */
import { text, whole } from '../../../document/fields.ts';
import { cvrIn, type DafEntity, type DafRow, isCompany, type UnitRows, unitIdOf } from '../rows.ts';
import type { ReadRows } from './read-rows.ts';
import type { UnitsReader } from './serves-units.ts';

/** The units to read, and what is known of them. */
export interface UnitsToRead {
  /** CVR numbers by unit number. */
  readonly companies: ReadonlyMap<string, string>;
  readonly productionUnits: readonly string[];
  readonly CVREnhed: readonly DafRow[];
  /** Row ids of the fax numbers of units with a whole registration, by unit number. */
  readonly faxRows: ReadonlyMap<string, readonly string[]>;
}

const SHARED = ['Navn', 'Adressering', 'Branche', 'Telefonnummer', 'e_mailadresse', 'Reklamebeskyttelse'] as const;
const OF_COMPANIES = [
  'Virksomhedsform',
  'AnsvarligDataleverandoer',
  'Kreditoplysninger',
  'FuldtAnsvarligDeltagerRelation',
] as const;

/** Every unit has rows of these: if none has, the entity cannot be read now. */
export const NEVER_EMPTY: ReadonlySet<DafEntity> = new Set<DafEntity>([
  'Navn',
  'Adressering',
  'Branche',
  'Virksomhedsform',
  'Virksomhed',
]);

type Rows = Map<string, Partial<Record<keyof UnitRows, readonly DafRow[]>>>;

export async function readUnits(
  { read, servesUnits }: UnitsReader,
  { companies, productionUnits, CVREnhed, faxRows }: UnitsToRead,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, UnitRows>> {
  const companyIds = [...companies.keys()];
  const ids = [...companyIds, ...productionUnits];
  const units: Rows = new Map(ids.map((id) => [id, {}]));
  const put = (entity: keyof UnitRows, of: readonly string[], rows: readonly DafRow[] | undefined): void => {
    if (rows === undefined) return;
    const byUnit = Map.groupBy(rows, (row) => unitIdOf(row) ?? '');
    for (const id of of) {
      const own = byUnit.get(id) ?? [];
      const unit = units.get(id);
      if (unit !== undefined && (own.length > 0 || !isNeverEmpty(entity))) unit[entity] = own;
    }
  };
  put('CVREnhed', ids, CVREnhed);
  for (const [id, cvr] of companies) {
    const unit = units.get(id);
    // A company that was found by its number or by one of its units.
    if (unit !== undefined && unit.CVREnhed?.length === 0)
      unit.CVREnhed = [{ id, enhedsType: 'Virksomhed', forretningsnoegle: cvr }];
  }
  for (const entity of SHARED) put(entity, ids, await read(entity, 'CVREnhedsId', ids, signal));
  for (const entity of OF_COMPANIES) put(entity, companyIds, await read(entity, 'CVREnhedsId', companyIds, signal));
  put('Virksomhed', companyIds, await read('Virksomhed', 'id', companyIds, signal));
  put('Produktionsenhed', productionUnits, await read('Produktionsenhed', 'id', productionUnits, signal));
  const members = await membersOf(read, companies, signal);
  if (members?.length !== 0 || (await servesUnits(signal))) putMembers(units, companies, members);
  const wanted = [...faxRows].filter(([id]) => units.has(id));
  const faxes = await read(
    'Telefaxnummer',
    'datafordelerRowId',
    wanted.flatMap(([, rows]) => rows),
    signal,
  );
  put(
    'Telefaxnummer',
    wanted.map(([id]) => id),
    faxes,
  );
  await addPartners(units, companyIds, read, signal);
  return units;
}

const isNeverEmpty = (entity: keyof UnitRows): boolean =>
  entity !== 'partners' && entity !== 'partnerNames' && NEVER_EMPTY.has(entity);

/** All production units that ever named one of these companies. */
const membersOf = (read: ReadRows, companies: ReadonlyMap<string, string>, signal: AbortSignal) =>
  read(
    'Produktionsenhed',
    'tilknyttetVirksomhedsCVRNummer',
    [...companies.values()].flatMap((cvr) => whole(cvr) ?? []),
    signal,
  );

function putMembers(units: Rows, companies: ReadonlyMap<string, string>, rows: readonly DafRow[] | undefined): void {
  if (rows === undefined) return;
  const byCompany = Map.groupBy(rows, ({ tilknyttetVirksomhedsCVRNummer: cvr }) => cvrIn(cvr));
  for (const [id, cvr] of companies) {
    const unit = units.get(id);
    if (unit !== undefined) unit.Produktionsenhed = byCompany.get(cvr) ?? [];
  }
}

/** Finds the partners that are companies, and reads only their names. */
async function addPartners(units: Rows, ids: readonly string[], read: ReadRows, signal: AbortSignal): Promise<void> {
  const partnersIn = (id: string): readonly string[] => [
    ...new Set(
      (units.get(id)?.FuldtAnsvarligDeltagerRelation ?? []).flatMap((row) => text(row['deltagendeEnhedsId']) ?? []),
    ),
  ];
  const all = [...new Set(ids.flatMap(partnersIn))];
  const partners = await read('CVREnhed', 'id', all, signal);
  const companies = (partners ?? []).filter(isCompany);
  const names = await read(
    'Navn',
    'CVREnhedsId',
    companies.flatMap((row) => unitIdOf(row) ?? []),
    signal,
  );
  for (const id of ids) {
    const unit = units.get(id);
    const own = new Set<string | null>(partnersIn(id));
    if (unit === undefined || own.size === 0) continue;
    if (partners !== undefined) unit.partners = partners.filter((row) => own.has(unitIdOf(row)));
    if (names !== undefined) unit.partnerNames = names.filter((row) => own.has(unitIdOf(row)));
  }
}
