/** The schema of the emulated Datafordeler as a table: the columns and filters of each entity. */

/** A column of text; a type follows a colon. */
type Column = string;

interface Table {
  readonly columns: readonly Column[];
  readonly filters: readonly Column[];
  /** The filter needs one of these. */
  readonly needs: readonly string[];
  /** Rows without a period, which have no filter by day. */
  readonly isTimeless?: true;
}

const META = [
  'datafordelerOpdateringstid:DafDateTime',
  'datafordelerRowId:UUID',
  'datafordelerRegisterImportSequenceNumber:Int',
  'datafordelerRowVersion:Int',
  'feltliste',
];
const DATED = [
  ...META,
  'registreringFra:DafDateTime',
  'registreringTil:DafDateTime',
  'registreringsaktoer',
  'virkningFra:LocalDate',
  'virkningTil:LocalDate',
  'virkningsaktoer',
];
const ROW = 'datafordelerRowId:UUID';
const TIMES = ['registreringFra:DafDateTime', 'virkningFra:LocalDate', ROW];

const ofUnit = (columns: readonly Column[], filters: readonly Column[] = []): Table => ({
  columns: ['CVREnhedsId', ...columns, ...DATED],
  filters: ['CVREnhedsId', ...filters, ...TIMES],
  needs: ['CVREnhedsId', ...filters.flatMap((each) => each.split(':')[0] ?? []), 'datafordelerRowId'],
});

export const TABLES: Readonly<Record<string, Table>> = {
  CVREnhed: {
    columns: ['id', 'enhedsType', 'forretningsnoegle', 'forretningsnoegletype', 'status', ...META],
    filters: ['id', 'forretningsnoegle', ROW],
    needs: ['id', 'forretningsnoegle', 'datafordelerRowId'],
    isTimeless: true,
  },
  Virksomhed: {
    columns: [
      'id',
      'CVRNummer:Long',
      'status',
      'virksomhedStartdato:LocalDate',
      'virksomhedOphoersdato:LocalDate',
      ...DATED,
    ],
    filters: ['id', 'CVRNummer:Long', 'virksomhedStartdato:LocalDate', ...TIMES],
    needs: ['CVRNummer', 'id', 'datafordelerRowId', 'virksomhedStartdato'],
  },
  Produktionsenhed: {
    columns: [
      'id',
      'pNummer:Long',
      'status',
      'produktionsenhedStartdato:LocalDate',
      'produktionsenhedOphoersdato:LocalDate',
      'tilknyttetVirksomhedsCVRNummer:Long',
      'tilknyttetTilVirksomhedStartdato:LocalDate',
      'tilknyttetTilVirksomhedOphoersdato:LocalDate',
      ...DATED,
    ],
    filters: ['id', 'pNummer:Long', 'tilknyttetVirksomhedsCVRNummer:Long', ...TIMES],
    needs: ['tilknyttetVirksomhedsCVRNummer', 'pNummer', 'id', 'datafordelerRowId'],
  },
  Navn: ofUnit(['vaerdi', 'sekvens:Long'], ['vaerdi']),
  Adressering: ofUnit(
    [
      'Adresse',
      'AdresseringAnvendelse',
      'coNavn',
      ...[
        ...['adresseFritekst', 'doerbetegnelse', 'etagebetegnelse', 'husnummerFra', 'husnummerTil', 'kommunekode'],
        ...['kommunenavn', 'landekode', 'postboks', 'postdistrikt', 'postnummer', 'supplerendeBynavn', 'vejkode'],
        'vejnavn',
      ].map((column) => `CVRAdresse_${column}`),
    ],
    ['Adresse'],
  ),
  Branche: ofUnit(['vaerdi', 'vaerdiTekst', 'sekvens:Long'], ['vaerdi']),
  Virksomhedsform: ofUnit(['vaerdi', 'vaerdiTekst']),
  AnsvarligDataleverandoer: ofUnit(['vaerdi', 'vaerdiTekst']),
  Telefonnummer: ofUnit(['vaerdi']),
  // The fax numbers of a company have no filter by company.
  Telefaxnummer: { ...ofUnit(['vaerdi']), filters: [ROW], needs: ['datafordelerRowId'] },
  e_mailadresse: ofUnit(['vaerdi']),
  Reklamebeskyttelse: ofUnit(['vaerdi:Boolean']),
  Kreditoplysninger: ofUnit(['Kreditoplysning', 'kreditoplysningstekst', 'statusvaerdi', 'statusvaerdiTekst']),
  FuldtAnsvarligDeltagerRelation: ofUnit(['deltagendeEnhedsId'], ['deltagendeEnhedsId']),
  AndreDeltagere: {
    columns: ['id', 'status', 'type', ...DATED],
    filters: ['id', ...TIMES],
    needs: ['id'],
  },
  CVRPerson: {
    columns: ['id', 'CPRPerson', 'status', ...DATED],
    filters: ['id', ...TIMES],
    needs: ['id'],
  },
  Beskaeftigelse: {
    columns: [
      ...['CVREnhedsId', 'antal:Long', 'beskaeftigelsestalstype', 'intervalFra:Long', 'intervalTil:Long'],
      ...['datoFra:LocalDate', 'datoTil:LocalDate', ...META],
    ],
    filters: ['CVREnhedsId', ROW],
    needs: ['CVREnhedsId', 'datafordelerRowId'],
    isTimeless: true,
  },
};

const EVENT = [
  ...['eventid:Long', 'entityname', 'eventaction', 'fromfailedimport:Boolean', 'object_id'],
  ...['object_datafordelerRowId:UUID', 'datafordelerOpdateringstid:DafDateTime'],
  'datafordelerRegisterImportSequenceNumber:Long',
];

const typed = (column: Column): readonly [name: string, type: string] => {
  const [name = '', type = 'String'] = column.split(':');
  return [name, type];
};

const typeOf = (name: string, columns: readonly Column[]): string =>
  `type ${name} { ${columns.map((column) => typed(column).join(': ')).join(' ')} }
type ${name}Connection { pageInfo: PageInfo! edges: [${name}Edge!] nodes: [${name}!] }
type ${name}Edge { cursor: String! node: ${name}! }`;

const filterOf = (name: string, columns: readonly Column[]): string =>
  `input ${name}FilterInput { and: [${name}FilterInput!] ${columns
    .map((column) => {
      const [field, type] = typed(column);
      return `${field}: ${type}Filter`;
    })
    .join(' ')} }`;

const COMPARED = (type: string): string =>
  ['eq', 'gt', 'gte', 'lt', 'lte', 'ngt', 'ngte', 'nlt', 'nlte'].map((how) => `${how}: ${type}`).join(' ');

/** `without`: columns that it has lost, such as `CVR_Navn.sekvens`. */
export function schemaText(without: ReadonlySet<string> = new Set()): string {
  const kept = (name: string, columns: readonly Column[]) =>
    columns.filter((column) => !without.has(`${name}.${typed(column)[0]}`));
  const entities = Object.entries(TABLES).map(([entity, table]) => [`CVR_${entity}`, table] as const);
  const day = ({ isTimeless }: Table): string => (isTimeless === true ? '' : 'virkningstid: DafDateTime, ');
  return `schema { query: Query }
scalar DafDateTime scalar LocalDate scalar Long scalar UUID
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
input StringFilter { eq: String in: [String!] }
input UUIDFilter { eq: UUID in: [UUID!] }
input LongFilter { in: [Long!] ${COMPARED('Long')} }
input DafDateTimeFilter { ${COMPARED('DafDateTime')} }
input LocalDateFilter { ${COMPARED('LocalDate')} }
${entities.map(([name, { columns }]) => typeOf(name, kept(name, columns))).join('\n')}
${entities.map(([name, { filters }]) => filterOf(name, filters)).join('\n')}
${typeOf('CVR_Events', EVENT)}
${filterOf('CVR_Events', ['eventid:Long', 'entityname'])}
type DAF_RegisterImportStatus { lastEventId: Long lastSequenceNumber: Long lastUpdated: DafDateTime }
type Query {
  DAF_RegisterImportStatus: DAF_RegisterImportStatus
  CVR_Events(first: Int, after: String, where: CVR_EventsFilterInput): CVR_EventsConnection
${entities
  .map(
    ([name, table]) =>
      `  ${name}(first: Int, after: String, ${day(table)}where: ${name}FilterInput): ${name}Connection`,
  )
  .join('\n')}
}`;
}
