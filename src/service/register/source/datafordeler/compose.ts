/**
 * Composes a unit's rows into a document in the form of the register's own distribution, with its history. Returns
 * `{ Vrvirksomhed }` for a company, `{ VrproduktionsEnhed }` for a production unit, and undefined for everything else:
 * cvrsync keeps nothing of a person's unit. An unreadable entity leaves no section, which means unknown; an entity
 * without rows leaves an empty section, which states that there is nothing. Pure; the same rows in any order give the
 * same document.
 */
import type { JsonObject } from '../../../../protocol/text/json.ts';
import { text, whole } from '../../document/fields.ts';
import { partnersOf } from './compose-partners.ts';
import { addressFields, formFields, statusText } from './fields.ts';
import {
  cvrIn,
  type DafRow,
  dayIn,
  flagIn,
  orderOf,
  pNumberIn,
  registeredAt,
  standing,
  type UnitRows,
  unitIdOf,
} from './rows.ts';
import { sorted, textOrder } from './sorted.ts';

export type ComposedDocument = { readonly Vrvirksomhed: JsonObject } | { readonly VrproduktionsEnhed: JsonObject };

const periodOf = (row: DafRow) => ({ gyldigFra: dayIn(row, 'virkningFra'), gyldigTil: dayIn(row, 'virkningTil') });

/** A section of entries, each with the period and time of its row; undefined if its entity is unknown. */
const section = (
  rows: readonly DafRow[] | undefined,
  of: (row: DafRow) => JsonObject | undefined,
  period: (row: DafRow) => JsonObject = periodOf,
): readonly JsonObject[] | undefined =>
  rows &&
  sorted(
    standing(rows).flatMap((row) => {
      const fields = of(row);
      return fields === undefined ? [] : [{ ...fields, periode: period(row), sidstOpdateret: registeredAt(row) }];
    }),
  );

const contacts = (rows: readonly DafRow[] | undefined) =>
  section(rows, ({ vaerdi }) => ({ kontaktoplysning: text(vaerdi), hemmelig: false }));

const industries = (rows: readonly DafRow[] | undefined, place: number) =>
  section(rows, (row) =>
    orderOf(row) === place ? { branchekode: text(row['vaerdi']), branchetekst: text(row['vaerdiTekst']) } : undefined,
  );

const addresses = (rows: readonly DafRow[] | undefined, use: string) =>
  section(rows, (row) => (text(row['AdresseringAnvendelse'])?.toLowerCase() === use ? addressFields(row) : undefined));

/**
 * One entry for each life. Rows of several periods repeat its first day; the latest of them states whether it ended.
 */
const lives = (rows: readonly DafRow[] | undefined, kind: 'virksomhed' | 'produktionsenhed') => {
  if (rows === undefined) return undefined;
  const latest = new Map<string | null, DafRow>();
  for (const row of standing(rows)) {
    const from = dayIn(row, `${kind}Startdato`);
    const known = latest.get(from);
    const last = `${kind}Ophoersdato`;
    if (known === undefined || isAfter(row, known, last)) latest.set(from, row);
  }
  return section(
    [...latest.values()],
    () => ({}),
    (row) => ({ gyldigFra: dayIn(row, `${kind}Startdato`), gyldigTil: dayIn(row, `${kind}Ophoersdato`) }),
  );
};

/** Whether a row began later; of two with one beginning, the one that ends counts. */
const isAfter = (row: DafRow, other: DafRow, last: string): boolean => {
  const [a = '', b = ''] = [row, other].map((each) =>
    [dayIn(each, 'virkningFra'), registeredAt(each), dayIn(each, last)].join(),
  );
  return a > b;
};

/** When a production unit belongs to the company of its row: the row and the membership must both be valid. */
const membership = (row: DafRow) => {
  const froms = [dayIn(row, 'virkningFra'), dayIn(row, 'tilknyttetTilVirksomhedStartdato')];
  const tos = [dayIn(row, 'virkningTil'), dayIn(row, 'tilknyttetTilVirksomhedOphoersdato')];
  return {
    gyldigFra: furthest(froms, 1),
    gyldigTil: furthest([...tos, dayIn(row, 'produktionsenhedOphoersdato')], -1),
  };
};

const furthest = (days: readonly (string | null)[], sign: 1 | -1): string | null =>
  days.reduce((best, day) => (day !== null && (best === null || textOrder(day, best) * sign > 0) ? day : best), null);

const sharedSections = (rows: UnitRows): JsonObject => ({
  navne: section(rows.Navn, (row) => (orderOf(row) === 0 ? { navn: text(row['vaerdi']) } : undefined)),
  beliggenhedsadresse: addresses(rows.Adressering, 'beliggenhedsadresse'),
  postadresse: addresses(rows.Adressering, 'postadresse'),
  hovedbranche: industries(rows.Branche, 0),
  bibranche1: industries(rows.Branche, 1),
  bibranche2: industries(rows.Branche, 2),
  bibranche3: industries(rows.Branche, 3),
  telefonNummer: contacts(rows.Telefonnummer),
  telefaxNummer: contacts(rows.Telefaxnummer),
  elektroniskPost: contacts(rows.e_mailadresse),
  reklamebeskyttelse: section(rows.Reklamebeskyttelse, ({ vaerdi }) => ({ vaerdi: flagIn(vaerdi) })),
});

const companySections = (rows: UnitRows): JsonObject => ({
  ...sharedSections(rows),
  binavne: section(rows.Navn, (row) => (orderOf(row) > 0 ? { navn: text(row['vaerdi']) } : undefined)),
  virksomhedsform: section(rows.Virksomhedsform, (row) => formFields(row, rows.AnsvarligDataleverandoer)),
  // Without both entities the status is unknown.
  virksomhedsstatus:
    rows.Kreditoplysninger && section(rows.Virksomhed, ({ status }) => ({ status: statusText(status) })),
  virksomhedMetadata: { sammensatStatus: null },
  status:
    rows.Virksomhed &&
    section(rows.Kreditoplysninger, (row) => ({
      kreditoplysningkode: whole(row['Kreditoplysning']),
      kreditoplysningtekst: text(row['kreditoplysningstekst']),
      statuskode: whole(row['statusvaerdi']),
      statustekst: text(row['statusvaerdiTekst']),
    })),
  livsforloeb: lives(rows.Virksomhed, 'virksomhed'),
  penheder: section(rows.Produktionsenhed, ({ pNummer }) => ({ pNummer: whole(pNummer) }), membership),
  deltagerRelation: partnersOf(rows, periodOf),
});

const unitSections = (rows: UnitRows): JsonObject => ({
  ...sharedSections(rows),
  livsforloeb: lives(rows.Produktionsenhed, 'produktionsenhed'),
  virksomhedsrelation: section(
    rows.Produktionsenhed,
    ({ tilknyttetVirksomhedsCVRNummer }) => ({ cvrNummer: whole(tilknyttetVirksomhedsCVRNummer) }),
    membership,
  ),
});

/** The first readable number of the current rows. */
const numberIn = (rows: readonly DafRow[] = [], of: (row: DafRow) => string | null): string | null =>
  standing(rows)
    .map(of)
    .filter((each) => each !== null)
    .sort()[0] ?? null;

const latestTime = (rows: UnitRows): string | null => {
  const { partners: _, partnerNames: __, ...own } = rows;
  const times = Object.values(own).flatMap((list) => standing(list ?? []).map((row) => registeredAt(row) ?? ''));
  const latest = times.reduce((best, time) => (Date.parse(time) > (Date.parse(best) || 0) ? time : best), '');
  return latest === '' ? null : latest;
};

const headOf = (rows: UnitRows, own: readonly DafRow[], loadedAt: string | null): JsonObject => ({
  enhedsNummer: whole(numberIn(own, unitIdOf)),
  sidstOpdateret: latestTime(rows),
  sidstIndlaest: loadedAt,
});

/** The document of a unit. `loadedAt`: when Datafordeler loaded it, ISO 8601; null if unknown. */
export function compose(rows: UnitRows, loadedAt: string | null): ComposedDocument | undefined {
  const kind = text(standing(rows.CVREnhed ?? [])[0]?.['enhedsType'])?.toLowerCase() ?? null;
  const { Virksomhed: companies = [], Produktionsenhed: units = [] } = rows;
  if (kind === null ? rows.Virksomhed !== undefined : kind === 'virksomhed') {
    const cvr = numberIn(companies, ({ CVRNummer }) => cvrIn(CVRNummer)) ?? keyIn(rows, cvrIn);
    if (cvr === null) return undefined;
    const head = headOf(rows, [...companies, ...(rows.CVREnhed ?? [])], loadedAt);
    return { Vrvirksomhed: { cvrNummer: whole(cvr), enhedstype: 'VIRKSOMHED', ...head, ...companySections(rows) } };
  }
  if (kind !== null && kind !== 'produktionsenhed') return undefined;
  const pNumber = numberIn(units, ({ pNummer }) => pNumberIn(pNummer)) ?? keyIn(rows, pNumberIn);
  if (pNumber === null) return undefined;
  const head = headOf(rows, [...units, ...(rows.CVREnhed ?? [])], loadedAt);
  return { VrproduktionsEnhed: { pNummer: whole(pNumber), ...head, ...unitSections(rows) } };
}

/** The number of the unit in CVREnhed. */
const keyIn = (rows: UnitRows, of: (value: unknown) => string | null): string | null =>
  numberIn(rows.CVREnhed, ({ forretningsnoegle }) => of(forretningsnoegle));
