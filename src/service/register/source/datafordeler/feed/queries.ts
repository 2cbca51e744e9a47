/**
 * The questions to Datafordeler. Its rules: one root field a query, no alias, at most 100 values in a list, at most
 * 1,000 rows a page, and a filter that the entity requires.
 */
import type { DafEntity } from '../rows.ts';

/** Values in one list of a filter. */
export const MOST_IDS = 100;
/** Rows in one page of an answer. */
export const MOST_ROWS = 1_000;

/** What a question asks the rows by. Row ids are the only way to fax numbers. */
export type RowKey = 'CVREnhedsId' | 'id' | 'tilknyttetVirksomhedsCVRNummer' | 'CVRNummer' | 'datafordelerRowId';

const KEY_TYPES: Readonly<Record<RowKey, string>> = {
  CVREnhedsId: 'String',
  id: 'String',
  tilknyttetVirksomhedsCVRNummer: 'Long',
  CVRNummer: 'Long',
  datafordelerRowId: 'UUID',
};

interface Columns {
  /** Without one of these the rows cannot be understood. */
  readonly needed: readonly string[];
  readonly useful: readonly string[];
}

/** Columns of every row: without the periods, former rows would read as present ones. */
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
  // A place without one of its columns would read as another place.
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

/** A page of an entity's rows, by one of its keys; variables `keys` and `after`. */
export const rowsQuery = (entity: DafEntity, key: RowKey, columns: readonly string[]): string =>
  `query($keys: [${KEY_TYPES[key]}!]!, $after: String) { CVR_${entity}(first: ${MOST_ROWS}, after: $after, where: { ${key}: { in: $keys } }) { pageInfo { hasNextPage endCursor } nodes { ${columns.join(' ')} } } }`;

/** The water mark: every event up to its number is there. */
export const STATUS_QUERY = '{ DAF_RegisterImportStatus { lastEventId lastSequenceNumber lastUpdated } }';

/**
 * The events after one number up to another, at most {@link MOST_ROWS}: by numbers, because nothing promises an order.
 */
export const EVENTS_QUERY = `query($where: CVR_EventsFilterInput, $after: String) { CVR_Events(first: ${MOST_ROWS}, after: $after, where: $where) { pageInfo { hasNextPage endCursor } nodes { eventid entityname eventaction object_id object_datafordelerRowId datafordelerOpdateringstid datafordelerRegisterImportSequenceNumber } } }`;
