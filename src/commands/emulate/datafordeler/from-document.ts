/** Translates a register document into Datafordeler's rows of the same unit. Leaves out what Datafordeler lacks. */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { type DafTableRow, dafTime, type UnitTables } from './tables.ts';

/** All rows of a unit, or those of some entities: the unit keeps its rows of the others. */
export interface TranslatedUnit {
  readonly id: string;
  readonly rows: UnitTables;
  readonly isPart?: true;
}

const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const textIn = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;
const dayIn = (value: unknown): string | null => textIn(value)?.slice(0, 10) ?? null;

/** The first day if the register has none. */
const LONG_AGO = '1900-01-01';

const periodIn = ({ periode }: JsonObject) => {
  const { gyldigFra, gyldigTil } = isJsonObject(periode) ? periode : {};
  return { virkningFra: dayIn(gyldigFra) ?? LONG_AGO, virkningTil: dayIn(gyldigTil) };
};

const STATUSES: Readonly<Record<string, string>> = { 'UNDER KONKURS': 'under konkurs' };
const ENDED = /^(?:OPLØST|TVANGSOPLØST|SLETTET|OPHØRT|UDEN RETSVIRKNING)/iu;

const statusWord = (status: unknown): string => {
  const text = textIn(status) ?? '';
  return STATUSES[text.toUpperCase()] ?? (ENDED.test(text) ? 'inaktiv' : 'aktiv');
};

/** The number of a unit without one in its document. */
const unitIdIn = (document: JsonObject): string =>
  textIn(document['enhedsNummer']) ?? `40${textIn(document['cvrNummer']) ?? textIn(document['pNummer']) ?? ''}`;

const memberUnitId = (pNumber: string): string => String(4_500_000_000 + (Number(pNumber) % 100_000_000));

/** The unit of a document, after the other units in it: production units by number, and partners. */
export function translated(document: unknown): readonly TranslatedUnit[] {
  const { Vrvirksomhed: company, VrproduktionsEnhed: unit } = isJsonObject(document) ? document : {};
  if (isJsonObject(company)) {
    const id = unitIdIn(company);
    return [...membersOf(company), ...partnersOf(company), { id, rows: companyTables(id, company) }];
  }
  if (isJsonObject(unit)) return [{ id: memberUnitId(textIn(unit['pNummer']) ?? ''), rows: unitTables(unit) }];
  throw new Error('no document of a company or a production unit');
}

/** Adds to rows what all rows of a unit share: the time of its last registration. */
const writerFor = (document: JsonObject, key: JsonObject) => {
  const registered = Date.parse(textIn(document['sidstOpdateret']) ?? '');
  const common = {
    registreringFra: dafTime(Number.isNaN(registered) ? Date.UTC(2020, 0, 1) : registered),
    registreringTil: null,
    registreringsaktoer: 'CVR',
    virkningsaktoer: 'CVR',
    ...key,
  };
  return {
    row: (fields: JsonObject, entry: JsonObject = {}): DafTableRow => ({ ...common, ...periodIn(entry), ...fields }),
    rows: (section: unknown, of: (entry: JsonObject, place: number) => JsonObject): readonly DafTableRow[] =>
      list(section).map((entry, place) => ({ ...common, ...periodIn(entry), ...of(entry, place) })),
  };
};

function sharedTables(id: string, document: JsonObject): UnitTables {
  const { rows, row } = writerFor(document, { CVREnhedsId: id });
  const contacts = (section: unknown): readonly DafTableRow[] =>
    rows(
      list(section).filter(({ hemmelig }) => hemmelig !== true),
      ({ kontaktoplysning }) => ({ vaerdi: textIn(kontaktoplysning) ?? '' }),
    );
  const industries = (section: unknown, sekvens: number): readonly DafTableRow[] =>
    rows(section, ({ branchekode, branchetekst }) => ({ vaerdi: branchekode, vaerdiTekst: branchetekst, sekvens }));
  const addresses = (section: unknown, use: string): readonly DafTableRow[] =>
    rows(section, (entry) => ({ AdresseringAnvendelse: use, ...addressIn(entry) }));
  const protection = document['reklamebeskyttet'];
  return {
    Navn: [
      ...rows(document['navne'], ({ navn }) => ({ vaerdi: navn, sekvens: 0 })),
      ...rows(document['binavne'], ({ navn }, place) => ({ vaerdi: navn, sekvens: place + 1 })),
    ],
    Adressering: [
      ...addresses(document['beliggenhedsadresse'], 'beliggenhedsadresse'),
      ...addresses(document['postadresse'], 'postadresse'),
    ],
    Branche: [
      ...industries(document['hovedbranche'], 0),
      ...[1, 2, 3].flatMap((place) => industries(document[`bibranche${place}`], place)),
    ],
    Telefonnummer: contacts(document['telefonNummer']),
    Telefaxnummer: contacts(document['telefaxNummer']),
    e_mailadresse: contacts(document['elektroniskPost']),
    Reklamebeskyttelse: typeof protection === 'boolean' ? [row({ vaerdi: protection })] : [],
  };
}

function addressIn(entry: JsonObject): JsonObject {
  const { kommune } = entry;
  const { kommuneKode, kommuneNavn } = isJsonObject(kommune) ? kommune : {};
  const house = (number: unknown, letter: unknown): string | null => {
    const text = `${textIn(number) ?? ''}${textIn(letter) ?? ''}`;
    return text === '' ? null : text;
  };
  const columns = {
    vejnavn: entry['vejnavn'],
    vejkode: entry['vejkode'],
    husnummerFra: house(entry['husnummerFra'], entry['bogstavFra']),
    husnummerTil: house(entry['husnummerTil'], entry['bogstavTil']),
    etagebetegnelse: entry['etage'],
    doerbetegnelse: entry['sidedoer'],
    postnummer: entry['postnummer'],
    postdistrikt: entry['postdistrikt'],
    supplerendeBynavn: entry['bynavn'],
    postboks: entry['postboks'],
    kommunekode: kommuneKode,
    kommunenavn: kommuneNavn,
    landekode: entry['landekode'],
    adresseFritekst: entry['fritekst'],
  };
  const address = Object.entries(columns).map(([column, value]) => [`CVRAdresse_${column}`, textIn(value)] as const);
  return { coNavn: textIn(entry['conavn']), Adresse: textIn(entry['adresseId']), ...Object.fromEntries(address) };
}

const companyTables = (id: string, document: JsonObject): UnitTables => {
  const { rows } = writerFor(document, { CVREnhedsId: id });
  const cvr = textIn(document['cvrNummer']);
  return {
    CVREnhed: [enhed(id, 'Virksomhed', cvr, 'CVRNummer')],
    Virksomhed: lifeRows(id, document),
    ...sharedTables(id, document),
    Virksomhedsform: rows(document['virksomhedsform'], ({ virksomhedsformkode, langBeskrivelse }) => ({
      vaerdi: textIn(virksomhedsformkode) ?? '',
      vaerdiTekst: textIn(langBeskrivelse) ?? '',
    })),
    AnsvarligDataleverandoer: rows(document['virksomhedsform'], ({ ansvarligDataleverandoer }) => ({
      vaerdi: textIn(ansvarligDataleverandoer) ?? 'E&S',
      vaerdiTekst: 'Erhvervsstyrelsen',
    })),
    Kreditoplysninger: rows(document['status'], (entry) => ({
      Kreditoplysning: textIn(entry['kreditoplysningkode']) ?? '',
      kreditoplysningstekst: textIn(entry['kreditoplysningtekst']) ?? '',
      statusvaerdi: textIn(entry['statuskode']) ?? '',
      statusvaerdiTekst: textIn(entry['statustekst']) ?? '',
    })),
    FuldtAnsvarligDeltagerRelation: partnersIn(document).flatMap(({ partner, entries }) =>
      rows(entries, () => ({ deltagendeEnhedsId: textIn(partner['enhedsNummer']) ?? '' })),
    ),
  };
};

const enhed = (id: string, enhedsType: string, key: string | null, forretningsnoegletype: string): DafTableRow => ({
  id,
  enhedsType,
  forretningsnoegle: key ?? id,
  forretningsnoegletype,
  status: 'aktiv',
});

const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

/** A row for each status, with the days of its life. */
function lifeRows(id: string, document: JsonObject): readonly DafTableRow[] {
  const { row } = writerFor(document, { id, CVRNummer: Number(document['cvrNummer']) });
  const lives = list(document['livsforloeb']).map(periodIn);
  const [first = { virkningFra: LONG_AGO, virkningTil: null }] = lives;
  const lifeAt = (day: string) => lives.findLast(({ virkningFra }) => virkningFra <= day) ?? first;
  const metadata = document['virksomhedMetadata'];
  const composed = isJsonObject(metadata) ? metadata['sammensatStatus'] : undefined;
  const stated = list(document['virksomhedsstatus']).map((entry) => ({
    ...periodIn(entry),
    status: statusWord(entry['status']),
  }));
  const lived = lives.flatMap(({ virkningFra, virkningTil }) => [
    { virkningFra, virkningTil, status: 'aktiv' },
    ...(virkningTil === null ? [] : [{ virkningFra: dayAfter(virkningTil), virkningTil: null, status: 'inaktiv' }]),
  ]);
  const bare = [{ ...first, status: statusWord(composed) }];
  const periods = stated.length > 0 ? stated : lived.length > 0 ? lived : bare;
  return periods.map(({ virkningFra, virkningTil, status }) => {
    const life = lifeAt(virkningFra);
    const days = { virksomhedStartdato: life.virkningFra, virksomhedOphoersdato: life.virkningTil };
    return row({ status, virkningFra, virkningTil, ...days });
  });
}

const memberRow = (id: string, pNummer: string, cvr: unknown): JsonObject => ({
  id,
  pNummer: Number(pNummer),
  status: 'aktiv',
  tilknyttetVirksomhedsCVRNummer: Number(cvr),
});

const days = (entry: JsonObject): JsonObject => {
  const { virkningFra, virkningTil } = periodIn(entry);
  return {
    produktionsenhedStartdato: virkningFra,
    produktionsenhedOphoersdato: null,
    tilknyttetTilVirksomhedStartdato: virkningFra,
    tilknyttetTilVirksomhedOphoersdato: virkningTil,
  };
};

function membersOf(company: JsonObject): readonly TranslatedUnit[] {
  const byNumber = Map.groupBy(list(company['penheder']), ({ pNummer }) => textIn(pNummer) ?? '');
  return [...byNumber].map(([number, entries]) => {
    const id = memberUnitId(number);
    const { rows } = writerFor(company, memberRow(id, number, company['cvrNummer']));
    const tables = {
      CVREnhed: [enhed(id, 'Produktionsenhed', number, 'PNummer')],
      Produktionsenhed: rows(entries, days),
    };
    return { id, rows: tables, isPart: true };
  });
}

function unitTables(document: JsonObject): UnitTables {
  const number = textIn(document['pNummer']) ?? '';
  const id = memberUnitId(number);
  const { rows } = writerFor(document, { id });
  const [life] = list(document['livsforloeb']).map(periodIn);
  const ended = life?.virkningTil ?? null;
  return {
    CVREnhed: [enhed(id, 'Produktionsenhed', number, 'PNummer')],
    Produktionsenhed: rows(document['virksomhedsrelation'], (entry) => ({
      ...memberRow(id, number, entry['cvrNummer']),
      ...days(entry),
      produktionsenhedOphoersdato: ended,
    })),
    ...sharedTables(id, document),
  };
}

/** The fully liable partners of a company, with the periods of each. */
const partnersIn = (
  company: JsonObject,
): readonly { readonly partner: JsonObject; readonly entries: readonly JsonObject[] }[] =>
  list(company['deltagerRelation']).flatMap(({ deltager, organisationer }) => {
    const bodies = list(organisationer).filter(({ hovedtype }) => hovedtype === 'FULDT_ANSVARLIG_DELTAGERE');
    const partner = isJsonObject(deltager) ? deltager : undefined;
    if (partner === undefined || bodies.length === 0) return [];
    return [{ partner, entries: bodies.flatMap(membershipsIn) }];
  });

function membershipsIn(organisation: JsonObject): readonly JsonObject[] {
  const attributes = list(organisation['medlemsData']).flatMap(({ attributter }) => list(attributter));
  const roles = attributes.filter(({ type }) => type === 'FUNKTION').flatMap(({ vaerdier }) => list(vaerdier));
  return attributes.length === 0 ? list(organisation['organisationsNavn']) : roles;
}

const KINDS: Readonly<Record<string, string>> = { VIRKSOMHED: 'Virksomhed', PERSON: 'CVRPerson' };

function partnersOf(company: JsonObject): readonly TranslatedUnit[] {
  return partnersIn(company).map(({ partner }) => {
    const id = textIn(partner['enhedsNummer']) ?? '';
    const kind = KINDS[textIn(partner['enhedstype']) ?? ''] ?? 'AndreDeltagere';
    const { rows } = writerFor(partner, { CVREnhedsId: id });
    const isCompany = kind === 'Virksomhed';
    const CVREnhed = [enhed(id, kind, textIn(partner['forretningsnoegle']), isCompany ? 'CVRNummer' : 'CVREnhedsid')];
    const Navn = rows(partner['navne'], ({ navn }) => ({ vaerdi: navn, sekvens: 0 }));
    return { id, rows: { CVREnhed, Navn }, isPart: true };
  });
}
