/**
 * The data formats of the events (specification, "Event data formats"), without `updated`. Each schema is the full
 * format: what a reader gets and a writer must provide. Marks on the schemas allow other spellings in input, see
 * `shape.ts`.
 */
import Type, { type Static, type TSchema } from 'typebox';
import type { Marks } from './shape.ts';

/** The schema or null; absent reads as null. */
export const nullable = <S extends TSchema>(schema: S, marks: Marks = {}) => Type.Union([schema, Type.Null()], marks);

/** The schema or null; unreadable data reads as null. For data that nothing depends on. */
export const lenient = <S extends TSchema>(schema: S, marks: Marks = {}) =>
  nullable(schema, { ...marks, lenient: true });

/** A time or date in ISO 8601, with or without time zone; stored as sent. */
export const time = Type.String({ text: 'time' });

const text = (...aliases: readonly string[]) => nullable(Type.String(), { aliases });
const whole = (...aliases: readonly string[]) => nullable(Type.Integer(), { aliases });

/** A change of a value. The specification gives the state before "where available"; the state after is required. */
const change = <S extends TSchema>(schema: S) =>
  Type.Object({ before: lenient(schema), after: nullable(schema, { needed: true }) });

const addedAndRemoved = <S extends TSchema>(schema: S) =>
  Type.Object({ added: Type.Array(schema), removed: Type.Array(schema) });

const addedRemovedAndChanged = <S extends TSchema>(schema: S) =>
  Type.Object({ added: Type.Array(schema), removed: Type.Array(schema), changed: Type.Array(schema) });

const period = Type.Object({
  from: nullable(time),
  to: nullable(time),
  original: Type.Unknown(),
  isNow: nullable(Type.Boolean()),
});

const entityId = Type.String({ text: 'entity', description: 'CVR-1-<CVR number>, CVR-2-<P-number>, CVR-3-<number>' });
const typeName = nullable(Type.String(), { aliases: ['entityType'] });
const entityFields = { entityId, name: text(), type: typeName };

/** A company, person or place by reference. */
const entity = Type.Object(entityFields);
export type Entity = Static<typeof entity>;

/** An owner; the share is an interval such as `10-15`, an exact percentage, or null for a role without a share. */
const owner = Type.Object({ ...entityFields, ownership: text() });
export type Owner = Static<typeof owner>;

const voter = Type.Object({ ...entityFields, voterights: text('voteRights') });
export type Voter = Static<typeof voter>;

const industry = Type.Object({
  period: lenient(period),
  industryCode: Type.String({ aliases: ['code'] }),
  industryText: text('text'),
  lastUpdated: lenient(time),
});
export type Industry = Static<typeof industry>;

const companyForm = Type.Object({
  companyFormCode: Type.Integer({ aliases: ['code'] }),
  shortDescription: text('short'),
  longDescription: text('long'),
  responsibleDataProvider: text(),
  period: lenient(period),
  lastUpdated: lenient(time),
});
export type CompanyForm = Static<typeof companyForm>;

const municipality = Type.Object(
  {
    period: lenient(period),
    name: text(),
    code: lenient(Type.Integer()),
    original: Type.Unknown(),
    lastUpdated: lenient(time),
    relatedEntityId: lenient(Type.String()),
    relatedUpdates: lenient(Type.Array(Type.Unknown())),
  },
  { bare: 'name' },
);

const address = Type.Object({
  countryCode: text(),
  freeText: text(),
  roadCode: whole('streetCode'),
  municipality: nullable(municipality),
  houseNumberFrom: whole(),
  houseNumberTo: whole(),
  houseLetterFrom: text(),
  houseLetterTo: text(),
  floor: text(),
  sideDoor: text('door'),
  coName: text(),
  postalBox: text(),
  streetName: text('street'),
  cityName: text('city'),
  // An integer in the specification, but a foreign one may be a text.
  postalCode: nullable(Type.Union([Type.Integer(), Type.String()])),
  postalDistrict: text(),
  period: lenient(period),
  original: Type.Unknown(),
  lastUpdated: lenient(time),
  relatedEntityId: lenient(Type.String()),
  relatedUpdates: lenient(Type.Array(Type.Unknown())),
});
export type Address = Static<typeof address>;

/** The specification does not show it. A bare number is read as a value without currency. */
const capital = Type.Object(
  {
    value: Type.Number(),
    currency: text(),
    hasClasses: lenient(Type.Boolean()),
    isPartial: lenient(Type.Boolean()),
  },
  { bare: 'value' },
);
export type Capital = Static<typeof capital>;

export const stringChange = change(Type.String());
export const stringListChange = addedAndRemoved(Type.String());
export const dateChange = change(time);
export const boolChange = change(Type.Boolean());
export const capitalChange = change(capital);
export const lifetimeChange = Type.Object({ date: time });
export const entityReference = Type.Object({ entity });
export const relationChanges = addedAndRemoved(entity);
export const ownershipChanges = addedRemovedAndChanged(owner);
export const votingChanges = addedRemovedAndChanged(voter);
export const ownershipReference = Type.Object({ ownership: owner });
export const merger = Type.Object({ entity, dissolved: Type.Boolean() });
export const industryChange = change(industry);
export const industryListChange = addedAndRemoved(industry);
export const companyFormChange = change(companyForm);
export const addressChange = change(address);

const year = Type.Integer();
export const monthlyEmployeeChange = Type.Object({ year, month: Type.Integer(), ...change(Type.Integer()).properties });
export const quarterlyEmployeeChange = Type.Object({
  year,
  quarter: Type.Integer(),
  ...change(Type.String()).properties,
});
export const yearlyEmployeeChange = Type.Object({ year, ...change(Type.String()).properties });

export const newArticle = Type.Object({
  source: text(),
  headline: Type.String(),
  tagline: text(),
  content: text(),
  time: nullable(time),
  link: text('url'),
});

export const monitorChange = Type.Object({ monitorId: Type.String(), monitorName: text() });
