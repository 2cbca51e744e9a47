/**
 * The queries to Datafordeler. Its rules: one root field per query, no alias, at most 100 values in a list, at most
 * 1,000 rows a page, and a filter that the entity requires.
 */
import type { DafEntity } from '../rows.ts';

export const MOST_IDS = 100;
export const MOST_ROWS = 1_000;

/** The column by which a query selects rows. Fax numbers can only be selected by row id. */
export type RowKey = 'CVREnhedsId' | 'id' | 'tilknyttetVirksomhedsCVRNummer' | 'CVRNummer' | 'datafordelerRowId';

const KEY_TYPES: Readonly<Record<RowKey, string>> = {
  CVREnhedsId: 'String',
  id: 'String',
  tilknyttetVirksomhedsCVRNummer: 'Long',
  CVRNummer: 'Long',
  datafordelerRowId: 'UUID',
};

interface Columns {
  /** Rows without one of these are unusable. */
  readonly needed: readonly string[];
  readonly useful: readonly string[];
}

/** Columns of every row. Without the periods, former rows would count as current ones. */
const PERIODS = ['registreringTil', 'virkningFra', 'virkningTil'];
const TIMES = ['registreringFra', 'datafordelerOpdateringstid', 'datafordelerRegisterImportSequenceNumber'];

const dated = (needed: readonly string[], useful: readonly string[] = []): Columns => ({
  needed: [...needed, ...PERIODS],
  useful: [...useful, ...TIMES],
});
const ofUnit = (needed: readonly string[], useful?: readonly string[]): Columns =>
  dated(['CVREnhedsId', ...needed], useful);

const ADDRESS = [
  'vejnavn',
  'vejkode',
  'husnummerFra',
  'husnummerTil',
  'etagebetegnelse',
  'doerbetegnelse',
  'postnummer',
  'postdistrikt',
  'supplerendeBynavn',
  'postboks',
  'kommunekode',
  'kommunenavn',
  'landekode',
  'adresseFritekst',
].map((column) => `CVRAdresse_${column}`);

export const COLUMNS: { readonly [E in DafEntity]: Columns } = {
  CVREnhed: { needed: ['id', 'enhedsType', 'forretningsnoegle'], useful: TIMES.slice(1) },
  Virksomhed: dated(['id', 'CVRNummer', 'status', 'virksomhedStartdato', 'virksomhedOphoersdato']),
  Produktionsenhed: dated(
    ['id', 'pNummer', 'produktionsenhedStartdato', 'produktionsenhedOphoersdato', 'tilknyttetVirksomhedsCVRNummer'],
    ['tilknyttetTilVirksomhedStartdato', 'tilknyttetTilVirksomhedOphoersdato'],
  ),
  Navn: ofUnit(['vaerdi', 'sekvens']),
  // An address without one of its columns would be another address.
  Adressering: ofUnit(['AdresseringAnvendelse', 'coNavn', ...ADDRESS], ['Adresse']),
  Branche: ofUnit(['vaerdi', 'vaerdiTekst', 'sekvens']),
  Virksomhedsform: ofUnit(['vaerdi', 'vaerdiTekst']),
  AnsvarligDataleverandoer: ofUnit(['vaerdi']),
  Telefonnummer: ofUnit(['vaerdi']),
  Telefaxnummer: ofUnit(['vaerdi']),
  e_mailadresse: ofUnit(['vaerdi']),
  Reklamebeskyttelse: ofUnit(['vaerdi']),
  Kreditoplysninger: ofUnit(['Kreditoplysning', 'kreditoplysningstekst', 'statusvaerdi', 'statusvaerdiTekst']),
  FuldtAnsvarligDeltagerRelation: ofUnit(['deltagendeEnhedsId']),
};

/** A page of an entity's rows by one of its keys; variables `keys` and `after`. */
export const rowsQuery = (entity: DafEntity, key: RowKey, columns: readonly string[]): string =>
  `query($keys: [${KEY_TYPES[key]}!]!, $after: String) { CVR_${entity}(first: ${MOST_ROWS}, after: $after, where: { ${key}: { in: $keys } }) { pageInfo { hasNextPage endCursor } nodes { ${columns.join(' ')} } } }`;

/** The number of the last event that is completely there. */
export const STATUS_QUERY = '{ DAF_RegisterImportStatus { lastEventId lastSequenceNumber lastUpdated } }';

/**
 * The events after one number up to another, at most {@link MOST_ROWS}. Selects by number, because the order is not
 * guaranteed.
 */
export const EVENTS_QUERY = `query($where: CVR_EventsFilterInput, $after: String) { CVR_Events(first: ${MOST_ROWS}, after: $after, where: $where) { pageInfo { hasNextPage endCursor } nodes { eventid entityname eventaction object_id object_datafordelerRowId datafordelerOpdateringstid datafordelerRegisterImportSequenceNumber } } }`;
