/** Small register documents of an invented company, for tests that state only what matters. */

import type { DiffOptions } from '../../../src/service/register/diff/differ.ts';
import type { Company } from '../../../src/service/register/document/company.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';

export type Json = Readonly<Record<string, unknown>>;

export const TODAY = '2026-03-10';
export const ENTITY = 'CVR-1-95000019';

export const OPTIONS: DiffOptions = { today: TODAY, placeType: 'Place', isRecoded: () => false };

/** When an entry was registered, where a test does not say. */
export const AT = '2020-01-02T09:30:00.000+01:00';

/** An entry of a list, valid from a day, to a day. */
export const entry = (
  value: Json,
  from: string | null = '2020-01-01',
  to: string | null = null,
  at: string | null = AT,
): Json => ({ ...value, periode: { gyldigFra: from, gyldigTil: to }, sidstOpdateret: at });

export const name = (navn: string, ...when: readonly (string | null)[]): Json => entry({ navn }, ...when.slice(0, 3));

export const contact = (kontaktoplysning: string, hemmelig = false): Json => entry({ kontaktoplysning, hemmelig });

export const address = (fields: Json, ...when: readonly (string | null)[]): Json =>
  entry(
    {
      landekode: 'DK',
      fritekst: null,
      vejkode: 11,
      kommune: { kommuneKode: 751, kommuneNavn: 'AARHUS', periode: { gyldigFra: '2007-01-01', gyldigTil: null } },
      husnummerFra: 4,
      vejnavn: 'Prøvegade',
      postnummer: 8000,
      postdistrikt: 'Aarhus C',
      adresseId: 'a',
      sidstValideret: '2020-01-03T10:00:00.000+01:00',
      ...fields,
    },
    ...when.slice(0, 3),
  );

export const industry = (branchekode: string, ...when: readonly (string | null)[]): Json =>
  entry({ branchekode, branchetekst: `Branche ${branchekode}` }, ...when.slice(0, 3));

export const attribute = (type: string, ...vaerdier: readonly Json[]): Json => ({
  sekvensnr: 0,
  type,
  vaerditype: 'string',
  vaerdier,
});

export const value = (vaerdi: string, ...when: readonly (string | null)[]): Json =>
  entry({ vaerdi }, ...when.slice(0, 3));

/** A participant: a person by unit number, a company by CVR number. */
export const person = (enhedsNummer: number, navn: string, enhedstype = 'PERSON'): Json => ({
  enhedsNummer,
  enhedstype,
  forretningsnoegle: null,
  navne: [{ navn, periode: { gyldigFra: null, gyldigTil: null }, sidstOpdateret: null }],
});
export const firm = (cvr: number, navn: string): Json => ({
  enhedsNummer: 4_990_000_000 + (cvr % 1_000_000),
  enhedstype: 'VIRKSOMHED',
  forretningsnoegle: cvr,
  navne: [name(navn)],
});

/** What a participant is in one organisation. */
export const organisation = (hovedtype: string, navn: string, ...attributter: readonly Json[]): Json => ({
  enhedsNummerOrganisation: 4_008_000_000,
  hovedtype,
  organisationsNavn: [name(navn)],
  attributter: [attribute('FUNKTION', value(navn))],
  medlemsData: attributter.length === 0 ? [] : [{ attributter }],
});

export const role = (hovedtype: string, navn: string, funktion: string, ...when: readonly (string | null)[]): Json =>
  organisation(hovedtype, navn, attribute('FUNKTION', value(funktion, ...when)));
export const owns = (share: string, ...when: readonly (string | null)[]): Json =>
  organisation('REGISTER', 'EJERREGISTER', attribute('EJERANDEL_PROCENT', value(share, ...when)));
export const trulyOwns = (share: string, votes: string, ...when: readonly (string | null)[]): Json =>
  organisation(
    'REGISTER',
    'Reelle ejere',
    attribute('FUNKTION', value('Reel ejer')),
    attribute('EJERANDEL_PROCENT', value(share, ...when)),
    attribute('EJERANDEL_STEMMERET_PROCENT', value(votes, ...when)),
  );

export const relation = (deltager: Json | null, ...organisationer: readonly Json[]): Json => ({
  deltager,
  organisationer,
});

/** The `_source` of a company with what a test says of it. */
export const document = (fields: Json = {}): Json => ({
  Vrvirksomhed: {
    cvrNummer: 95_000_019,
    enhedsNummer: 4_999_000_001,
    enhedstype: 'VIRKSOMHED',
    reklamebeskyttet: false,
    navne: [name('Prøvelund Møbler ApS')],
    livsforloeb: [entry({})],
    virksomhedMetadata: { sammensatStatus: null },
    sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
    sidstIndlaest: '2026-03-02T12:00:00.000+01:00',
    naermesteFremtidigeDato: null,
    ...fields,
  },
});

/** Reads a document that must be a company's. */
export const read = (fields: Json = {}, today = TODAY): { company: Company; aheadOn: string | null } => {
  const reading = readDocument(document(fields), today);
  if (reading.kind !== 'company') throw new Error(`the document is ${reading.kind}`);
  return reading;
};

export const companyOf = (fields: Json = {}, today = TODAY): Company => read(fields, today).company;
