/**
 * What a document states. Documents carry their whole history, so an ended fact is still there, with an end: a missing
 * section does not mean that anything ended. known.ts decides what an empty section means.
 */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import type { Company } from './company.ts';
import type { Part } from './families.ts';
import { flag } from './fields.ts';
import { isBody, type RelationBody, type Trace, type Traces } from './relations.ts';
import type { UNIT_PARTS, Unit } from './unit.ts';
import { entriesOf, hasEntries } from './validity.ts';

/**
 * `silent`: the section exists and is empty; `missing`: it does not exist; `unreadable`: its content has no known form.
 */
export type Stated = 'stated' | 'silent' | 'missing' | 'unreadable';

export interface DocumentStatement {
  readonly of: (part: string) => Stated;
  /** Whether it states when its company lived, even if another source leads in that. */
  readonly statesLife: boolean;
  readonly traceOf: (body: RelationBody) => Trace | undefined;
}

const ofList = (list: unknown): Stated => {
  if (!Array.isArray(list)) return 'missing';
  return hasEntries(list) ? 'stated' : 'silent';
};

/** Several sections together state what any of them states, and are missing if all are. */
const ofAny = (document: JsonObject, keys: readonly string[]): Stated => {
  let most: Stated = 'missing';
  for (const key of keys) {
    const stated = ofList(document[key]);
    if (stated === 'stated') return stated;
    if (stated === 'silent') most = stated;
  }
  return most;
};

const ofAttribute = (document: JsonObject, wanted: string): Stated => {
  const { attributter: attributes } = document;
  if (!Array.isArray(attributes)) return 'missing';
  const isStated = entriesOf(attributes).some(({ type, vaerdier }) => type === wanted && hasEntries(vaerdier));
  return isStated ? 'stated' : 'silent';
};

type Reader = (document: JsonObject) => Stated;

const list =
  (...keys: readonly string[]): Reader =>
  (document) =>
    ofAny(document, keys);

const attribute =
  (type: string): Reader =>
  (document) =>
    ofAttribute(document, type);

/** Only the newer of the two lists continues: without it, the other says nothing about today. */
const figures =
  (newer: string, older: string): Reader =>
  (document) => {
    const stated = ofAny(document, [newer, older]);
    return stated === 'stated' && ofList(document[newer]) !== 'stated' ? 'silent' : stated;
  };

const COMPANY: { readonly [P in Exclude<Part, RelationBody>]: Reader } = {
  names: list('navne'),
  altNames: list('binavne'),
  address: list('beliggenhedsadresse'),
  industry: list('hovedbranche'),
  altIndustries: list('bibranche1', 'bibranche2', 'bibranche3'),
  purpose: attribute('FORMÅL'),
  powerToBind: attribute('TEGNINGSREGEL'),
  bylawsChangedDate: attribute('VEDTÆGT_SENESTE'),
  capital: attribute('KAPITAL'),
  form: list('virksomhedsform'),
  email: list('elektroniskPost'),
  fax: list('telefaxNummer'),
  phoneNumber: list('telefonNummer'),
  website: list('hjemmeside'),
  // The status comes from two places with different spellings.
  status: ({ virksomhedsstatus: listed, virksomhedMetadata: metadata }) =>
    Array.isArray(listed) && isJsonObject(metadata) && 'sammensatStatus' in metadata ? 'stated' : 'missing',
  credit: list('status'),
  life: list('livsforloeb'),
  mergers: list('fusioner'),
  units: list('penheder'),
  commercialProtection: ({ reklamebeskyttet, reklamebeskyttelse }) =>
    flag(reklamebeskyttet) === null && !hasEntries(reklamebeskyttelse) ? 'missing' : 'stated',
  monthly: figures('erstMaanedsbeskaeftigelse', 'maanedsbeskaeftigelse'),
  quarterly: figures('erstKvartalsbeskaeftigelse', 'kvartalsbeskaeftigelse'),
  yearly: figures('erstAarsbeskaeftigelse', 'aarsbeskaeftigelse'),
};

const DETAILS: Readonly<Record<string, Reader>> = {
  altIndustry1: list('bibranche1'),
  altIndustry2: list('bibranche2'),
  altIndustry3: list('bibranche3'),
  currency: attribute('KAPITALVALUTA'),
  hasClasses: attribute('KAPITALKLASSER'),
  isPartial: attribute('KAPITAL_DELVIST'),
};

const UNIT: { readonly [P in UnitPart]: Reader } = {
  company: list('virksomhedsrelation'),
  names: list('navne'),
  address: list('beliggenhedsadresse'),
  industry: list('hovedbranche'),
  phoneNumber: list('telefonNummer'),
  fax: list('telefaxNummer'),
  email: list('elektroniskPost'),
  altIndustries: COMPANY.altIndustries,
  commercialProtection: COMPANY.commercialProtection,
  life: list('livsforloeb'),
};

type UnitPart = 'life' | (typeof UNIT_PARTS)[number];

const READERS: Readonly<Record<(Company | Unit)['kind'], readonly (readonly [string, Reader])[]>> = {
  company: Object.entries({ ...COMPANY, ...DETAILS }),
  unit: Object.entries({ ...UNIT, ...DETAILS }),
};

/** The parts that are not stated, which are few in most documents. */
const unstatedIn = (document: JsonObject, kind: (Company | Unit)['kind']): Map<string, Stated> => {
  const unstated = new Map<string, Stated>();
  for (const [part, read] of READERS[kind]) {
    const stated = read(document);
    if (stated !== 'stated') unstated.set(part, stated);
  }
  return unstated;
};

const unnamedIn = (document: JsonObject): Stated =>
  Array.isArray(document['deltagerRelation']) ? 'silent' : 'missing';

interface Spoken {
  readonly unspoken: ReadonlySet<string>;
  readonly traces: Traces;
  readonly unread: ReadonlyMap<string, string>;
}

/**
 * Reads what a document states. `unspoken`: parts that its source does not cover; `traces`: people in a company's
 * bodies; `unread`: unreadable parts. The result does not reference the document, which takes ten times the memory of
 * its snapshot; separate functions ensure that.
 */
export const statedBy = (
  document: JsonObject,
  kind: (Company | Unit)['kind'],
  { unspoken, traces, unread }: Spoken,
): DocumentStatement => {
  const unstated = unstatedIn(document, kind);
  const unnamed = unnamedIn(document);
  const of = (part: string): Stated => {
    if (unspoken.has(part)) return 'missing';
    if (unread.has(part)) return 'unreadable';
    if (kind === 'company' && isBody(part)) return traces.has(part) ? 'stated' : unnamed;
    return unstated.get(part) ?? 'stated';
  };
  return { of, statesLife: of('life') === 'stated', traceOf: (body) => traces.get(body) };
};
