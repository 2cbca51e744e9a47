/** Rows of Datafordeler for invented units, for tests that state only what matters. */
import type { DafRow, UnitRows } from '../../../../../src/service/register/source/datafordeler/rows.ts';

export const COMPANY_ID = '4999000001';
export const UNIT_ID = '4999000077';
/** When the unit was last registered, where a test does not say. */
export const REGISTERED = '2026-03-01T11:00:00.000000Z';

export const row = (fields: DafRow, from: string | null = '2020-01-01', to: string | null = null): DafRow => ({
  CVREnhedsId: COMPANY_ID,
  registreringFra: REGISTERED,
  registreringTil: null,
  registreringsaktoer: 'CVR',
  virkningFra: from,
  virkningTil: to,
  virkningsaktoer: 'CVR',
  ...fields,
});

export const companyRow = (fields: DafRow = {}, ...when: readonly (string | null)[]): DafRow => {
  const { CVREnhedsId: id, ...rest } = row(
    {
      CVRNummer: 95_000_019,
      status: 'aktiv',
      virksomhedStartdato: '2020-01-01',
      virksomhedOphoersdato: null,
      ...fields,
    },
    ...when,
  );
  return { id, ...rest };
};

export const unitRow = (fields: DafRow = {}, ...when: readonly (string | null)[]): DafRow => {
  const { CVREnhedsId: _, ...rest } = row(
    {
      id: UNIT_ID,
      pNummer: 1_995_000_011,
      status: 'aktiv',
      produktionsenhedStartdato: '2020-01-01',
      produktionsenhedOphoersdato: null,
      tilknyttetVirksomhedsCVRNummer: 95_000_019,
      tilknyttetTilVirksomhedStartdato: '2020-01-01',
      tilknyttetTilVirksomhedOphoersdato: null,
      ...fields,
    },
    ...when,
  );
  return rest;
};

export const addressRow = (fields: DafRow = {}, ...when: readonly (string | null)[]): DafRow =>
  row(
    {
      AdresseringAnvendelse: 'beliggenhedsadresse',
      CVRAdresse_vejnavn: 'Prøvegade',
      CVRAdresse_vejkode: '0011',
      CVRAdresse_husnummerFra: '4B',
      CVRAdresse_etagebetegnelse: '1',
      CVRAdresse_doerbetegnelse: 'th',
      CVRAdresse_postnummer: '8000',
      CVRAdresse_postdistrikt: 'Aarhus C',
      CVRAdresse_kommunekode: '751',
      CVRAdresse_kommunenavn: 'AARHUS',
      CVRAdresse_landekode: 'DK',
      ...fields,
    },
    ...when,
  );

/** All entities of a small company. */
export const companyRows = (changes: UnitRows = {}): UnitRows => ({
  CVREnhed: [
    {
      id: COMPANY_ID,
      enhedsType: 'Virksomhed',
      forretningsnoegle: '95000019',
      forretningsnoegletype: 'CVRNummer',
      status: 'aktiv',
    },
  ],
  Virksomhed: [companyRow()],
  Navn: [row({ vaerdi: 'Prøvelund Møbler ApS', sekvens: 0 })],
  Adressering: [addressRow()],
  Branche: [row({ vaerdi: '310900', vaerdiTekst: 'Fremstilling af møbler', sekvens: 0 })],
  Virksomhedsform: [row({ vaerdi: '80', vaerdiTekst: 'Anpartsselskab' })],
  AnsvarligDataleverandoer: [row({ vaerdi: 'E&S', vaerdiTekst: 'Erhvervsstyrelsen' })],
  Telefonnummer: [row({ vaerdi: '70100001' })],
  Telefaxnummer: [],
  e_mailadresse: [row({ vaerdi: 'post@eksempel.invalid' })],
  Reklamebeskyttelse: [row({ vaerdi: true })],
  Kreditoplysninger: [],
  FuldtAnsvarligDeltagerRelation: [],
  Produktionsenhed: [unitRow()],
  ...changes,
});

/** As a file of CSV has them: every value is text. */
export const asCsv = (rows: UnitRows): UnitRows =>
  Object.fromEntries(
    Object.entries(rows).map(([entity, list]) => [
      entity,
      (list ?? []).map((each) =>
        Object.fromEntries(
          Object.entries(each).map(([column, value]) => [column, value === null ? '' : String(value)]),
        ),
      ),
    ]),
  );
