/**
 * The contract's data as TypeBox schemas: what opens a connection, and an account's properties. cvrsync checks them at
 * run time, the conformance suite when the author tests. `wanted` and the like are the words of a {@link Misfit}.
 */
import Type, { type TSchema } from 'typebox';
import { listOf, type Misfit, misfitFinder, objectOf } from './misfit.ts';
import type { Connection, Limits, Notes, Parents, Property, Window } from './provider.ts';
import { PROPERTY_TYPES } from './record.ts';

type MembersOf<T> = Readonly<Record<keyof T, TSchema>>;

const LONGEST_NAME = 255;
/** A number cannot be rounded to more digits. */
const MOST_DIGITS = 100;

const absentIf = (condition: string): string => `, and absent if ${condition}`;
const text = (more = '') => Type.String({ wanted: `it is a text${more}` });
const whole = (minimum: number, maximum: number, wanted: string) => Type.Integer({ minimum, maximum, wanted });
const verb = (more = '') => Type.Function([], Type.Unknown(), { wanted: `it is a function${more}` });

const MARK = Type.Optional(Type.Boolean({ wanted: `it is true${absentIf('it is not so')}` }));
const COUNT = 'it is a whole number from 1';
const SCALE = `it is a whole number from 0 to ${MOST_DIGITS}`;
const NAME = Type.String({
  minLength: 1,
  maxLength: LONGEST_NAME,
  wanted: `it is a text of ${LONGEST_NAME} characters at most`,
});

const OPTION = objectOf({ value: text(), label: text() }, { wanted: 'it is an object with a value and a label' });

/** All members but the label, which is for people: the name replaces an unusable one. */
const PROPERTY = {
  name: NAME,
  type: Type.Enum([...PROPERTY_TYPES], { wanted: `it is one of ${PROPERTY_TYPES.join(', ')}` }),
  writable: Type.Boolean({ wanted: 'it is true or false' }),
  readOnly: Type.Optional(text(absentIf('a right is missing, or it can be written'))),
  maxLength: Type.Optional(whole(1, Number.MAX_SAFE_INTEGER, COUNT + absentIf('the CRM has no limit'))),
  options: Type.Optional(listOf(OPTION, `it is a list${absentIf('the CRM has none')}`)),
  open: MARK,
  scale: Type.Optional(whole(0, MOST_DIGITS, SCALE + absentIf('the CRM has no limit'))),
  unique: MARK,
  money: MARK,
  currency: Type.Optional(text(absentIf('the CRM does not say it'))),
  currencyIn: Type.Optional(text(absentIf('all records have one'))),
  ownSite: MARK,
  fraction: MARK,
  unreadable: MARK,
} satisfies MembersOf<Omit<Property, 'label'>>;

const PROPERTIES = listOf(
  objectOf(PROPERTY, { wanted: 'it is an object', title: 'a property', by: 'name' }),
  'a list of properties',
);

const propertyMisfit = misfitFinder(PROPERTIES);

/** The first misfit among the properties of an account: in one of them, or between two. */
export function propertiesMisfit(properties: unknown): Misfit | undefined {
  const misfit = propertyMisfit(properties);
  if (misfit !== undefined || !Array.isArray(properties)) return misfit;
  const names = new Set<string>();
  for (const { name } of properties as readonly Property[]) {
    if (names.has(name)) return { part: 'the name of two properties', got: name, wanted: 'each name is unique' };
    names.add(name);
  }
  return undefined;
}

const BATCH = whole(1, Number.MAX_SAFE_INTEGER, COUNT);
const WINDOW = objectOf(
  {
    calls: Type.Number({
      exclusiveMinimum: 0,
      wanted:
        'it is a finite number above 0; for a CRM without a limit one that is never reached, such as 1000 a second',
    }),
    perMs: Type.Number({ exclusiveMinimum: 0, wanted: 'it is a finite number of milliseconds above 0' }),
  } satisfies MembersOf<Window>,
  { wanted: 'it is an object with calls and perMs' },
);

const LIMITS = objectOf(
  {
    batch: objectOf({ read: BATCH, update: BATCH }, { wanted: 'it is an object with read and update' }),
    concurrency: BATCH,
    budgets: objectOf(
      { default: WINDOW },
      { wanted: 'it is an object of windows, one of them named default' },
      { additionalProperties: WINDOW },
    ),
  } satisfies MembersOf<Limits>,
  { wanted: 'they are an object with batch, concurrency and budgets' },
);

/** The first misfit in a provider's limits: the runtime could not fill a batch or limit the rate. */
export const limitsMisfit = misfitFinder(LIMITS, 'limits');

const LACKS = absentIf('the CRM lacks it');
const VERB = verb();
const ABILITY = Type.Optional(verb(LACKS));
const abilities = <P extends Readonly<Record<string, TSchema>>>(verbs: P) =>
  Type.Optional(objectOf(verbs, { wanted: `it is an object${LACKS}` }));

const CONNECTION = objectOf(
  {
    check: VERB,
    properties: VERB,
    read: VERB,
    update: VERB,
    scan: VERB,
    changes: ABILITY,
    find: ABILITY,
    create: ABILITY,
    defineProperties: ABILITY,
    removeProperties: ABILITY,
    rules: ABILITY,
    missingRights: ABILITY,
    edits: ABILITY,
    notes: abilities({ find: VERB, add: VERB } satisfies MembersOf<Notes>),
    parents: abilities({ read: VERB, write: VERB } satisfies MembersOf<Parents>),
  } satisfies MembersOf<Connection>,
  { wanted: 'it is an object with check, properties, read, update and scan', title: 'the connection' },
);

/** The first misfit in a connection: a missing verb, or an ability of another kind. */
export const connectionMisfit = misfitFinder(CONNECTION, 'the connection');
