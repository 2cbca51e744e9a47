/** The register's own documents as rows of Datafordeler, and as the documents that are composed of those. */
import { compose } from '../../../../../src/service/register/source/datafordeler/compose.ts';
import type { DafRow, UnitRows } from '../../../../../src/service/register/source/datafordeler/rows.ts';

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const contentOf = (document: Json): Json => Object.values(document).find(isJson) ?? {};

const instant = (value: unknown): string => {
  const ms = Date.parse(String(value));
  return new Date(Number.isNaN(ms) ? 0 : ms).toISOString();
};

/** How Datafordeler words a text; the same by default. */
export type Wording = (text: string) => string;

const SAME: Wording = (text) => text;

/** The rows of a company or production unit that its document states. */
export function rowsOfDocument(document: Json, worded: Wording = SAME): UnitRows {
  const content = contentOf(document);
  const isCompany = 'Vrvirksomhed' in document;
  const id = String(content['enhedsNummer'] ?? `4${content['cvrNummer'] ?? content['pNummer']}`);
  const registered = instant(content['sidstOpdateret']);
  const row = (entry: Json, fields: Json): DafRow => {
    const { gyldigFra = null, gyldigTil = null } = isJson(entry['periode']) ? entry['periode'] : {};
    return {
      ...{ CVREnhedsId: id, registreringFra: registered, registreringTil: null },
      ...{ virkningFra: gyldigFra, virkningTil: gyldigTil },
      ...fields,
    };
  };
  const rows = (list: unknown, fields: (entry: Json) => Json): readonly DafRow[] =>
    listOf(list).map((entry) => row(entry, fields(entry)));
  const contact = ({ kontaktoplysning }: Json): Json => ({ vaerdi: kontaktoplysning });
  const name =
    (sekvens: number) =>
    (entry: Json): Json => ({ vaerdi: worded(String(entry['navn'])), sekvens });
  const industry =
    (sekvens: number) =>
    (entry: Json): Json => ({
      ...{ vaerdi: entry['branchekode'], vaerdiTekst: entry['branchetekst'], sekvens },
    });
  const shared: UnitRows = {
    Navn: [...rows(content['navne'], name(0)), ...rows(content['binavne'], name(1))],
    Adressering: rows(content['beliggenhedsadresse'], (entry) => addressColumns(entry, worded)),
    Branche: [
      ...rows(content['hovedbranche'], industry(0)),
      ...[1, 2, 3].flatMap((place) => rows(content[`bibranche${place}`], industry(place))),
    ],
    Telefonnummer: rows(content['telefonNummer'], contact),
    Telefaxnummer: rows(content['telefaxNummer'], contact),
    e_mailadresse: rows(content['elektroniskPost'], contact),
    Reklamebeskyttelse: [row({}, { vaerdi: content['reklamebeskyttet'] })],
  };
  const [first] = listOf(content['livsforloeb']);
  const { gyldigFra: started = null, gyldigTil: ended = null } = isJson(first?.['periode']) ? first['periode'] : {};
  const unit = { enhedsType: isCompany ? 'Virksomhed' : 'Produktionsenhed', forretningsnoegle: keyOf(content) };
  const enhed = [{ id, ...unit, status: ended === null ? 'aktiv' : 'inaktiv' }];
  return isCompany
    ? { ...shared, CVREnhed: enhed, ...companyRows(content, { id, started, ended, registered }, rows) }
    : { ...shared, CVREnhed: enhed, Produktionsenhed: unitRows(content, { id, started, ended, registered }) };
}

const keyOf = ({ cvrNummer, pNummer }: Json): string => String(cvrNummer ?? pNummer);

interface Life {
  readonly id: string;
  readonly started: unknown;
  readonly ended: unknown;
  readonly registered: string;
}

const companyRows = (
  content: Json,
  { id, started, ended, registered }: Life,
  rows: (list: unknown, fields: (entry: Json) => Json) => readonly DafRow[],
): UnitRows => ({
  Virksomhed: [
    {
      ...{ id, CVRNummer: content['cvrNummer'], status: ended === null ? 'aktiv' : 'inaktiv' },
      ...{ virksomhedStartdato: started, virksomhedOphoersdato: ended, registreringFra: registered },
      ...{ registreringTil: null, virkningFra: started, virkningTil: null },
    },
  ],
  Virksomhedsform: rows(content['virksomhedsform'], (entry) => ({
    ...{ vaerdi: String(entry['virksomhedsformkode']), vaerdiTekst: entry['langBeskrivelse'] },
  })),
  AnsvarligDataleverandoer: [],
  Kreditoplysninger: [],
  FuldtAnsvarligDeltagerRelation: [],
  Produktionsenhed: rows(content['penheder'], (entry) => ({
    ...{ pNummer: entry['pNummer'], tilknyttetVirksomhedsCVRNummer: content['cvrNummer'], id: `9${entry['pNummer']}` },
  })),
});

const unitRows = (content: Json, { id, started, ended, registered }: Life): readonly DafRow[] =>
  listOf(content['virksomhedsrelation']).map(({ cvrNummer, periode }) => ({
    ...{ id, pNummer: content['pNummer'], produktionsenhedStartdato: started, produktionsenhedOphoersdato: ended },
    ...{ tilknyttetVirksomhedsCVRNummer: cvrNummer, registreringFra: registered, registreringTil: null },
    tilknyttetTilVirksomhedStartdato: isJson(periode) ? periode['gyldigFra'] : null,
    tilknyttetTilVirksomhedOphoersdato: isJson(periode) ? periode['gyldigTil'] : null,
    ...{ virkningFra: isJson(periode) ? periode['gyldigFra'] : null, virkningTil: null },
  }));

const addressColumns = (entry: Json, worded: Wording): Json => {
  const { kommuneKode, kommuneNavn } = isJson(entry['kommune']) ? entry['kommune'] : {};
  const house = (number: unknown, letter: unknown): string | null =>
    typeof number === 'number' ? `${number}${letter ?? ''}` : null;
  return {
    AdresseringAnvendelse: 'beliggenhedsadresse',
    coNavn: entry['conavn'],
    Adresse: entry['adresseId'],
    CVRAdresse_vejnavn: typeof entry['vejnavn'] === 'string' ? worded(entry['vejnavn']) : null,
    CVRAdresse_vejkode: entry['vejkode'],
    CVRAdresse_husnummerFra: house(entry['husnummerFra'], entry['bogstavFra']),
    CVRAdresse_husnummerTil: house(entry['husnummerTil'], entry['bogstavTil']),
    CVRAdresse_etagebetegnelse: entry['etage'],
    CVRAdresse_doerbetegnelse: entry['sidedoer'],
    CVRAdresse_postnummer: entry['postnummer'] === null ? null : String(entry['postnummer'] ?? ''),
    CVRAdresse_postdistrikt: entry['postdistrikt'],
    CVRAdresse_supplerendeBynavn: entry['bynavn'],
    CVRAdresse_postboks: entry['postboks'],
    CVRAdresse_kommunekode: kommuneKode === undefined ? null : String(kommuneKode),
    CVRAdresse_kommunenavn: kommuneNavn ?? null,
    CVRAdresse_landekode: entry['landekode'],
    CVRAdresse_adresseFritekst: entry['fritekst'],
  };
};

/** The document that Datafordeler's rows of a register document make. */
export function translated(document: Json, loadedAt: number, worded: Wording = SAME): Json {
  const composed = compose(rowsOfDocument(document, worded), new Date(loadedAt).toISOString());
  if (composed === undefined) throw new Error('no document can be composed of its rows');
  return composed;
}

/** The same document, loaded at another time. */
export const loadedAgain = (document: Json, loadedAt: number): Json =>
  Object.fromEntries(
    Object.entries(document).map(([kind, content]) => [
      kind,
      isJson(content) ? { ...content, sidstIndlaest: new Date(loadedAt).toISOString() } : content,
    ]),
  );
