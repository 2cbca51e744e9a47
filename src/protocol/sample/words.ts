/** Words for sample companies. Only the towns and postal codes exist. */

type Words = readonly [string, ...string[]];

export const STEMS: Words = [
  'Prøvelund',
  'Eksempelhavn',
  'Fiktivby',
  'Opdigtet Nord',
  'Skinbjerg',
  'Øvelsessund',
  'Demodal',
  'Attrapgård',
  'Papirtiger',
  'Luftkastel',
  'Ingenmandsland',
  'Mønsterbæk',
];
export const TRADES: Words = [
  'Møbler',
  'Bageri',
  'Vindteknik',
  'Byg',
  'Transport',
  'Fiskeri',
  'Rådgivning',
  'El',
  'Grønt',
  'Software',
];
export const FIRST_NAMES: Words = ['Prøve', 'Eksempla', 'Fiktivia', 'Attrap', 'Dumma', 'Skitse', 'Øvelse', 'Papir'];
export const SURNAMES: Words = [
  'Opdigtsen',
  'Testesen',
  'Skinhøj',
  'Ingenmand',
  'Pladsholder',
  'Mønstergaard',
  'Nulrup',
  'Blankær',
];
export const AUDITORS: Words = ['Tal & Tomrum Revision', 'Opdigtet Revision', 'Kladde Revisorer'];
export const STREETS: Words = [
  'Eksempelvej',
  'Prøvegade',
  'Fiktiv Allé',
  'Opdigtet Stræde',
  'Attrapvænget',
  'Øvelsesvej',
];
export const PURPOSES: Words = [
  'Selskabets formål er at drive handel og hermed beslægtet virksomhed.',
  'Selskabets formål er produktion,\nsalg og udlejning samt dermed beslægtet virksomhed.',
  'Selskabets formål er at eje kapitalandele i andre selskaber.',
];
export const BINDING: Words = [
  'Selskabet tegnes af en direktør alene.',
  'Selskabet tegnes af et medlem af bestyrelsen i forening med en direktør eller af den samlede bestyrelse.',
];
export const ARTICLES: Words = ['åbner nyt værksted', 'ansætter ti lærlinge', 'flytter til større lokaler'];

interface Place {
  readonly postalCode: number;
  readonly district: string;
  readonly municipality: string;
  readonly code: number;
}

const place = (postalCode: number, district: string, municipality: string, code: number): Place => ({
  postalCode,
  district,
  municipality,
  code,
});

export const PLACES: readonly [Place, ...Place[]] = [
  place(8000, 'Aarhus C', 'AARHUS', 751),
  place(5000, 'Odense C', 'ODENSE', 461),
  place(9000, 'Aalborg', 'AALBORG', 851),
  place(6700, 'Esbjerg', 'ESBJERG', 561),
  place(7400, 'Herning', 'HERNING', 657),
  place(4700, 'Næstved', 'NÆSTVED', 370),
  place(3700, 'Rønne', 'BORNHOLM', 400),
];

export const INDUSTRIES: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['310100', 'Fremstilling af kontor- og butiksmøbler'],
  ['107120', 'Fremstilling af friske bageriprodukter'],
  ['412000', 'Opførelse af bygninger'],
  ['494100', 'Vejgodstransport'],
  ['031100', 'Havfiskeri'],
  ['620100', 'Computerprogrammering'],
  ['702200', 'Virksomhedsrådgivning og anden rådgivning om driftsledelse'],
];

export const FORMS: readonly [readonly [number, string, string], ...(readonly [number, string, string])[]] = [
  [80, 'ApS', 'Anpartsselskab'],
  [60, 'A/S', 'Aktieselskab'],
  [70, 'P/S', 'Partnerselskab'],
];

export const STATUSES: Words = ['NORMAL', 'UNDER FRIVILLIG LIKVIDATION', 'UNDER REKONSTRUKTION', 'UNDER KONKURS'];
export const INTERVALS: Words = [
  '0',
  '1',
  '2-4',
  '5-9',
  '10-19',
  '20-49',
  '50-99',
  '100-199',
  '200-499',
  '500-999',
  '1000+',
];
export const SHARES: Words = [
  '5-10',
  '10-15',
  '15-20',
  '20-25',
  '25-33.33',
  '33.33-50',
  '50-66.67',
  '66.67-90',
  '90-100',
  '100',
];
