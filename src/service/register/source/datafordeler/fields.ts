/** Translates columns of Datafordeler into the fields of the register's own documents. */
import type { JsonObject } from '../../../../protocol/text/json.ts';
import { text, whole } from '../../document/fields.ts';
import { type DafRow, standing } from './rows.ts';
import { textOrder } from './sorted.ts';

/** Short names of the common forms, which Datafordeler lacks. */
const SHORT_FORMS: Readonly<Record<number, string>> = {
  10: 'ENK',
  15: 'PMV',
  30: 'I/S',
  40: 'K/S',
  60: 'A/S',
  70: 'P/S',
  80: 'APS',
  81: 'IVS',
};

const latestValue = (rows: readonly DafRow[] = []): string | null =>
  standing(rows)
    .map(({ virkningFra, vaerdi }) => [text(virkningFra) ?? '', text(vaerdi)] as const)
    .sort(([a, x], [b, y]) => textOrder(b, a) || textOrder(x ?? '', y ?? ''))[0]?.[1] ?? null;

export function formFields(row: DafRow, providers: readonly DafRow[] | undefined): JsonObject {
  const code = whole(row['vaerdi']);
  return {
    virksomhedsformkode: code,
    kortBeskrivelse: code === null ? null : (SHORT_FORMS[code] ?? null),
    langBeskrivelse: text(row['vaerdiTekst']),
    ansvarligDataleverandoer: latestValue(providers),
  };
}

/** The register's words for those of Datafordeler, which are fewer. */
const STATUSES: Readonly<Record<string, string>> = { aktiv: 'Aktiv', inaktiv: 'Ophørt' };

export const statusText = (value: unknown): string | null => {
  const stated = text(value);
  return stated && (STATUSES[stated.toLowerCase()] ?? stated.toUpperCase());
};

const HOUSE = /^(\d{1,4})\s*([A-ZÆØÅ]?)$/iu;

/** Number and letter of a house; null for anything else. */
const houseOf = (value: unknown): readonly [number | null, string | null] => {
  const [, number, letter = ''] = HOUSE.exec(text(value) ?? '') ?? [];
  return number === undefined ? [null, null] : [Number(number), letter === '' ? null : letter.toUpperCase()];
};

export function addressFields(row: DafRow): JsonObject {
  const stated = (column: string): unknown => row[`CVRAdresse_${column}`];
  const [husnummerFra, bogstavFra] = houseOf(stated('husnummerFra'));
  const [husnummerTil, bogstavTil] = houseOf(stated('husnummerTil'));
  const municipality = whole(stated('kommunekode'));
  return {
    landekode: text(stated('landekode')),
    fritekst: text(stated('adresseFritekst')),
    vejkode: whole(stated('vejkode')),
    kommune:
      municipality === null
        ? null
        : {
            kommuneKode: municipality,
            kommuneNavn: text(stated('kommunenavn')),
            periode: { gyldigFra: null, gyldigTil: null },
            sidstOpdateret: null,
          },
    husnummerFra,
    husnummerTil,
    bogstavFra,
    bogstavTil,
    etage: text(stated('etagebetegnelse')),
    sidedoer: text(stated('doerbetegnelse')),
    conavn: text(row['coNavn']),
    postboks: text(stated('postboks')),
    vejnavn: text(stated('vejnavn')),
    bynavn: text(stated('supplerendeBynavn')),
    postnummer: whole(stated('postnummer')) ?? text(stated('postnummer')),
    postdistrikt: text(stated('postdistrikt')),
    adresseId: text(row['Adresse']),
  };
}
