/**
 * The company fields: our names for the register's facts about a company. A configuration maps them to CRM properties.
 * Each event yields one or more (`src/connector/facts/extract.ts`), and each is one fact with its own clock.
 */

export type FieldKind =
  | 'text' // one line; compared without regard to runs of blanks
  | 'multiline' // free text with line breaks
  | 'phone' // as the register spells it, usually eight digits without a country code
  | 'email'
  | 'url' // website, with or without scheme
  | 'code' // a code out of a list, always text (leading zeros count)
  | 'integer'
  | 'number'
  | 'interval' // `2-4`, `1000+`
  | 'date' // YYYY-MM-DD
  | 'datetime' // ISO 8601, UTC
  | 'boolean'
  | 'list';

/** The type of the property that `check` creates for a field of each kind. */
export const KIND_TYPES = {
  text: 'string',
  multiline: 'multiline',
  phone: 'string',
  email: 'string',
  url: 'url',
  code: 'string',
  integer: 'number',
  number: 'number',
  interval: 'string',
  date: 'date',
  datetime: 'datetime',
  boolean: 'boolean',
  list: 'multiline',
} as const satisfies Record<FieldKind, string>;

/** One entry of a list field: a board member, an owner, an alternate name (its `id` is the name). */
export interface Member {
  readonly id: string;
  readonly name: string;
  /** `Company`, `Person` or a place type; absent for plain texts. */
  readonly type?: string | undefined;
  /** Ownership or vote rights, as the event spells them: `10-15`, `33.34`. */
  readonly share?: string | undefined;
}

/** `null`: the register has no value, or no longer has one. */
export type FieldValue = string | number | boolean | null | readonly Member[];

export interface Field {
  readonly kind: FieldKind;
  /** One line for documentation and `config init`. */
  readonly about: string;
  /** The values name natural persons: no preset maps the field. */
  readonly persons?: true;
  readonly percent?: true;
  /** Events name one member at a time, never the whole list: no property can hold it. */
  readonly partial?: true;
}

const field = (kind: FieldKind, about: string): Field => ({ kind, about });
const oneAtATime = (about: string): Field => ({ kind: 'list', about, partial: true });
const perCent = (about: string): Field => ({ kind: 'number', about, percent: true });
const people = (about: string): Field => ({ kind: 'list', about, persons: true });

export const FIELDS = {
  cvrNumber: field('code', 'CVR number, eight digits; blank if it is not a company'),
  name: field('text', 'company name'),
  altNames: field('list', 'alternate names'),
  street: field('text', 'street, house number, floor and door; free text for a foreign address'),
  coName: field('text', 'c/o name'),
  postalBox: field('text', 'postal box'),
  postalCode: field('code', 'postal code, four digits in Denmark'),
  city: field('text', 'postal district: the town of the postal code'),
  village: field('text', 'village within the postal district, if the address has one'),
  municipality: field('text', 'municipality'),
  countryCode: field('code', 'ISO 3166 country code, DK'),
  country: field('text', 'country in English, Denmark'),
  region: field('text', 'region or state: cvrsync only clears it, with the address that it belonged to'),
  industryCode: field('code', 'main industry code, six digits'),
  industryText: field('text', 'main industry in Danish'),
  altIndustries: field('list', 'alternate industries'),
  purpose: field('multiline', 'purpose'),
  powerToBind: field('multiline', 'power to bind the company'),
  bylawsChangedDate: field('date', 'date of the last change of the bylaws'),
  capital: field('number', 'registered capital'),
  capitalCurrency: field('code', 'currency of the capital'),
  formCode: field('code', 'company form code, 80 for ApS'),
  form: field('text', 'company form, short: ApS'),
  formText: field('text', 'company form, long: Anpartsselskab'),
  email: field('email', 'e-mail'),
  fax: field('phone', 'fax number'),
  phone: field('phone', 'phone number'),
  website: field('url', 'website'),
  status: field('text', 'status in the register, NORMAL'),
  startDate: field('date', 'date the company started'),
  endDate: field('date', 'date the company ended'),
  advertisingProtected: field('boolean', 'protected against advertising'),
  owners: people('legal owners with their shares'),
  trueOwners: people('beneficial owners with their shares'),
  trueVoteRights: people('beneficial owners with their vote rights'),
  accountant: field('list', 'auditor'),
  board: people('board members'),
  management: people('managers'),
  stakeholders: people('fully liable partners'),
  productionUnits: oneAtATime('production units, for notes only: events name one at a time'),
  subsidiaries: oneAtATime('subsidiaries founded while monitored, for notes only: events name one at a time'),
  mergedInto: field('text', 'entity id of the company this one was merged into'),
  employees: field('integer', 'employees, exact, newest month'),
  employeesMonth: field('text', 'the month of that count, 2026-08'),
  employeesQuarterly: field('interval', 'employees, interval of the newest quarter'),
  employeesYearly: field('interval', 'employees, interval of the newest year'),
  reportYear: field('integer', 'year of the newest annual report'),
  reportUrl: field('url', 'the newest annual report, PDF'),
  reportPublished: field('datetime', 'when the newest annual report was published'),
  reportCurrency: field('code', 'currency of the report figures'),
  revenue: field('number', 'revenue in the newest annual report'),
  grossResult: field('number', 'gross result in the newest annual report'),
  ebitda: field('number', 'EBITDA in the newest annual report'),
  resultBeforeTax: field('number', 'result before tax in the newest annual report'),
  result: field('number', 'result in the newest annual report'),
  equity: field('number', 'equity in the newest annual report'),
  assets: field('number', 'assets in the newest annual report'),
  debt: field('number', 'debt in the newest annual report'),
  solvencyRatio: perCent('solvency ratio in the newest annual report, per cent'),
  reportEmployees: field('number', 'average employees in the newest annual report'),
  newsHeadline: field('text', 'headline of the newest article'),
  newsLink: field('url', 'link of the newest article'),
  newsTime: field('datetime', 'time of the newest article'),
  registerChangedAt: field('datetime', 'time of the newest change in the register that reached us'),
  dashboardUrl: field('url', "address of the company's page on the dashboard, if admin.publicUrl is set"),
  composed: field(
    'text',
    'a text of other fields and words, such as "{street}, {postalCode} {city}"; only a configuration maps it',
  ),
} as const satisfies Record<string, Field>;

/** Fields that mean something only together: cvrsync writes, sets aside and takes them back as one. */
export const GROUPS = {
  address: ['street', 'coName', 'postalBox', 'postalCode', 'city', 'village', 'region', 'countryCode', 'country'],
} as const satisfies Readonly<Record<string, readonly (keyof typeof FIELDS)[]>>;

export const CURRENCY_OF = {
  capital: 'capitalCurrency',
  revenue: 'reportCurrency',
  grossResult: 'reportCurrency',
  ebitda: 'reportCurrency',
  resultBeforeTax: 'reportCurrency',
  result: 'reportCurrency',
  equity: 'reportCurrency',
  assets: 'reportCurrency',
  debt: 'reportCurrency',
} as const satisfies Partial<Record<keyof typeof FIELDS, keyof typeof FIELDS>>;

export type FieldName = keyof typeof FIELDS;

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];

export const isFieldName = (text: string): text is FieldName => Object.hasOwn(FIELDS, text);
