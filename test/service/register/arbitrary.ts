/** Arbitrary register documents: a few values and a few days in every list, so that much overlaps and repeats. */
import fc from 'fast-check';
import {
  address,
  attribute,
  contact,
  document,
  entry,
  firm,
  type Json,
  organisation,
  person,
  relation,
} from './documents.ts';

/** Days around which the documents' periods lie. */
export const DAYS = ['2025-01-01', '2025-06-30', '2025-07-01', '2026-03-10', '2026-03-11', '2026-12-31'] as const;

const day = fc.option(fc.constantFrom(...DAYS));
const at = fc.option(
  fc.constantFrom('2025-01-02T10:00:00.000+01:00', '2025-07-01T10:00:00.000+02:00', '2026-03-01T10:00:00.000+01:00'),
);
const word = fc.constantFrom('A', 'B', 'C');

const dated = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.tuple(value, day, day, at).map(([fields, from, to, time]) => ({ ...fields, ...entry({}, from, to, time) }));
const list = (value: fc.Arbitrary<Json>, maxLength = 4): fc.Arbitrary<readonly Json[]> =>
  fc.array(dated(value), { maxLength });

const named = list(word.map((navn) => ({ navn: `${navn} ApS` })));
const contacts = list(fc.tuple(word, fc.boolean()).map(([text, secret]) => contact(text, secret)));
const industries = list(word.map((branchekode) => ({ branchekode, branchetekst: branchekode })));

const values = (vaerdi: fc.Arbitrary<string>) =>
  list(
    vaerdi.map((text) => ({ vaerdi: text })),
    3,
  );
const attributeOf = (type: string, vaerdi: fc.Arbitrary<string>) =>
  values(vaerdi).map((each) => attribute(type, ...each));
const share = fc.constantFrom('0.05', '0.25', '0.3333', '1.0');

const attributes = fc
  .tuple(
    fc.array(attributeOf('FORMÅL', word), { maxLength: 2 }),
    attributeOf('TEGNINGSREGEL', word),
    attributeOf('VEDTÆGT_SENESTE', fc.constantFrom(...DAYS)),
    attributeOf('KAPITAL', fc.constantFrom('40000.00', '50000')),
    attributeOf('KAPITALVALUTA', fc.constantFrom('DKK', 'EUR')),
  )
  .map(([purposes, ...others]) => [...purposes, ...others]);

const BODIES = [
  ['LEDELSESORGAN', 'Bestyrelse'],
  ['LEDELSESORGAN', 'Direktion'],
  ['REVISION', 'Revision'],
  ['FULDT_ANSVARLIG_DELTAGERE', 'Interessenter'],
  ['STIFTERE', 'Stiftere'],
  ['HVIDVASK', 'Hvidvask'],
] as const;
const roles = fc
  .tuple(fc.constantFrom(...BODIES), fc.array(attributeOf('FUNKTION', word), { maxLength: 2 }))
  .map(([[kind, name], members]) => organisation(kind, name, ...members));
const owned = fc
  .tuple(
    fc.constantFrom('EJERREGISTER', 'Reelle ejere'),
    fc.array(fc.oneof(attributeOf('EJERANDEL_PROCENT', share), attributeOf('EJERANDEL_STEMMERET_PROCENT', share)), {
      maxLength: 3,
    }),
  )
  .map(([name, members]) => organisation('REGISTER', name, ...members));
const participant = fc.constantFrom(
  null,
  person(4_999_000_002, 'Anna Testesen'),
  person(4_999_000_003, 'Bo Opdigtsen'),
  firm(95_000_027, 'Ejer Holding ApS'),
);
const relations = fc.array(
  fc
    .tuple(participant, fc.array(fc.oneof(roles, owned), { maxLength: 3 }))
    .map(([who, organisations]) => relation(who, ...organisations)),
  { maxLength: 5 },
);

const months = fc.array(
  fc
    .tuple(fc.integer({ min: 2024, max: 2025 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 3 }), at)
    .map(([aar, number, antalAnsatte, sidstOpdateret]) => {
      const code = `ANTAL_${antalAnsatte}_${antalAnsatte}`;
      return { aar, maaned: number, kvartal: number, antalAnsatte, intervalKodeAntalAnsatte: code, sidstOpdateret };
    }),
  { maxLength: 4 },
);

/** The `_source` of a company. */
export const arbitraryDocument: fc.Arbitrary<Json> = fc
  .record(
    {
      navne: named,
      binavne: named,
      beliggenhedsadresse: list(word.map((vejnavn) => address({ vejnavn }))),
      hovedbranche: industries,
      bibranche1: industries,
      bibranche2: industries,
      telefonNummer: contacts,
      elektroniskPost: contacts,
      hjemmeside: contacts,
      virksomhedsstatus: list(fc.constantFrom('NORMAL', 'UNDER KONKURS').map((status) => ({ status }))),
      virksomhedsform: list(fc.constantFrom(60, 80).map((virksomhedsformkode) => ({ virksomhedsformkode }))),
      livsforloeb: list(fc.constant({}), 2),
      penheder: list(fc.constantFrom(1_990_000_001, 1_990_000_002, 1_990_000_003).map((pNummer) => ({ pNummer }))),
      attributter: attributes,
      deltagerRelation: relations,
      erstMaanedsbeskaeftigelse: months,
      kvartalsbeskaeftigelse: months,
      aarsbeskaeftigelse: months,
      reklamebeskyttet: fc.boolean(),
      virksomhedMetadata: fc.record({ sammensatStatus: fc.option(fc.constantFrom('NORMAL', 'Aktiv', 'Ophørt')) }),
    },
    { requiredKeys: [] },
  )
  .map(document);
