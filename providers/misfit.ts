/**
 * Checks of the parts that a provider gives, against the contract. The runtime refuses a part that does not fit, and
 * the suite reports it: types do not bind values that come from JSON or JavaScript. Pure.
 */
import type { Connection, Notes, Parents, Property, Window } from './provider.ts';
import { PROPERTY_TYPES } from './record.ts';

export interface Misfit {
  readonly of?: string;
  readonly part: string;
  readonly got: unknown;
  /** The end of a sentence: "it is true or false". */
  readonly wanted: string;
}

/** `the property title with null as writable: it is true or false`; `show` prints a value. */
export const misfitText = ({ of, part, got, wanted }: Misfit, show: (value: unknown) => string): string =>
  `${of === undefined ? '' : `${of} with `}${show(got)} as ${part}: ${wanted}`;

interface Wanted {
  readonly fits: (value: unknown) => boolean;
  readonly wanted: string;
}

type Members = Readonly<Record<string, unknown>>;

/** A promise here is one that the provider forgot to await. */
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !(value instanceof Promise);
const isWhole = (value: unknown, from: number, to: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;

/** The owner of a part, and the prefix of its name. */
interface Place {
  readonly of?: string;
  readonly within?: string;
}

function misfitIn(
  value: Members,
  parts: Readonly<Record<string, Wanted>>,
  { within = '', ...place }: Place,
): Misfit | undefined {
  const found = Object.entries(parts).find(([name, { fits }]) => !fits(value[name]));
  if (found === undefined) return undefined;
  const [name, { wanted }] = found;
  return { ...place, part: `${within}${name}`, got: value[name], wanted };
}

const optional = ({ fits, wanted }: Wanted, condition: string): Wanted => ({
  fits: (value) => value === undefined || fits(value),
  wanted: `${wanted}, and absent if ${condition}`,
});

const LONGEST_NAME = 255;
/** A number cannot be rounded to more digits. */
const MOST_DIGITS = 100;
const TYPES: readonly unknown[] = PROPERTY_TYPES;

const NAME: Readonly<Record<'name', Wanted>> = {
  name: {
    fits: (name) => typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME,
    wanted: `it is a text of ${LONGEST_NAME} characters at most`,
  },
};
const FLAG: Wanted = { fits: (flag) => typeof flag === 'boolean', wanted: 'it is true or false' };
const TEXT: Wanted = { fits: (text) => typeof text === 'string', wanted: 'it is a text' };
const MARK = optional({ ...FLAG, wanted: 'it is true' }, 'it is not so');
const COUNT: Wanted = {
  fits: (count) => isWhole(count, 1, Number.MAX_SAFE_INTEGER),
  wanted: 'it is a whole number from 1',
};
const SCALE: Wanted = {
  fits: (scale) => isWhole(scale, 0, MOST_DIGITS),
  wanted: `it is a whole number from 0 to ${MOST_DIGITS}`,
};

/** All members but the label, which is for people: the name replaces an unusable one. */
const PROPERTY: Readonly<Record<Exclude<keyof Property, 'name' | 'label'>, Wanted>> = {
  type: { fits: (type) => TYPES.includes(type), wanted: `it is one of ${TYPES.join(', ')}` },
  writable: FLAG,
  readOnly: optional(TEXT, 'a right is missing, or it can be written'),
  maxLength: optional(COUNT, 'the CRM has no limit'),
  options: optional({ fits: Array.isArray, wanted: 'it is a list' }, 'the CRM has none'),
  open: MARK,
  scale: optional(SCALE, 'the CRM has no limit'),
  unique: MARK,
  money: MARK,
  currency: optional(TEXT, 'the CRM does not say it'),
  currencyIn: optional(TEXT, 'all records have one'),
  ownSite: MARK,
  fraction: MARK,
  unreadable: MARK,
};
const OPTION: Readonly<Record<'value' | 'label', Wanted>> = { value: TEXT, label: TEXT };

/** The first misfit among the properties of an account: in one of them, or between two. */
export function propertiesMisfit(properties: readonly unknown[]): Misfit | undefined {
  const names = new Set<unknown>();
  for (const property of properties) {
    if (!isObject(property)) return { part: 'a property', got: property, wanted: 'it is an object' };
    const { name } = property;
    const misfit =
      misfitIn(property, NAME, { of: 'a property' }) ?? propertyMisfit(property, `the property ${String(name)}`);
    if (misfit !== undefined) return misfit;
    if (names.has(name)) return { part: 'the name of two properties', got: name, wanted: 'each has one of its own' };
    names.add(name);
  }
  return undefined;
}

function propertyMisfit(property: Members, of: string): Misfit | undefined {
  const misfit = misfitIn(property, PROPERTY, { of });
  const { options } = property;
  if (misfit !== undefined || !Array.isArray(options)) return misfit;
  // A hole in the list is an option, too.
  const misfits = Array.from(options, (option: unknown, at): Misfit | undefined => {
    const part = `options[${at}]`;
    if (!isObject(option)) return { of, part, got: option, wanted: 'it is an object with a value and a label' };
    return misfitIn(option, OPTION, { of, within: `${part}.` });
  });
  return misfits.find((each) => each !== undefined);
}

const isAboveZero = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value > 0;
const WINDOW: Readonly<Record<keyof Window, Wanted>> = {
  calls: {
    fits: isAboveZero,
    wanted: 'it is a finite number above 0; for a CRM without a limit one that is never reached, such as 1000 a second',
  },
  perMs: { fits: isAboveZero, wanted: 'it is a finite number of milliseconds above 0' },
};

/** The first misfit in a provider's limits: the runtime could not fill a batch or limit the rate. */
export function limitsMisfit(limits: unknown): Misfit | undefined {
  if (!isObject(limits))
    return { part: 'limits', got: limits, wanted: 'they are an object with batch, concurrency and budgets' };
  const { batch, budgets } = limits;
  if (!isObject(batch)) return { part: 'limits.batch', got: batch, wanted: 'it is an object with read and update' };
  const misfit =
    misfitIn(batch, { read: COUNT, update: COUNT }, { within: 'limits.batch.' }) ??
    misfitIn(limits, { concurrency: COUNT }, { within: 'limits.' });
  return misfit ?? budgetsMisfit(budgets);
}

function budgetsMisfit(budgets: unknown): Misfit | undefined {
  const wanted = 'it is an object with calls and perMs';
  if (!isObject(budgets))
    return { part: 'limits.budgets', got: budgets, wanted: 'it is an object of windows, one of them named default' };
  // An absent default is a misfit, too.
  for (const [name, window] of Object.entries({ default: undefined, ...budgets })) {
    const of = `the budget ${name}`;
    const misfit = isObject(window) ? misfitIn(window, WINDOW, { of }) : { part: of, got: window, wanted };
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

const VERB: Wanted = { fits: (verb) => typeof verb === 'function', wanted: 'it is a function' };
const ABILITY = optional(VERB, 'the CRM lacks it');
const ABILITIES = optional({ fits: isObject, wanted: 'it is an object' }, 'the CRM lacks it');
const CONNECTION: Readonly<Record<keyof Connection, Wanted>> = {
  check: VERB,
  properties: VERB,
  read: VERB,
  update: VERB,
  scan: VERB,
  changes: ABILITY,
  find: ABILITY,
  create: ABILITY,
  defineProperties: ABILITY,
  rules: ABILITY,
  missingRights: ABILITY,
  edits: ABILITY,
  notes: ABILITIES,
  parents: ABILITIES,
};
const NOTES: Readonly<Record<keyof Notes, Wanted>> = { find: VERB, add: VERB };
const PARENTS: Readonly<Record<keyof Parents, Wanted>> = { read: VERB, write: VERB };

/** The first misfit in a connection: a missing verb, or an ability of another kind. */
export function connectionMisfit(connection: unknown): Misfit | undefined {
  const of = 'the connection';
  if (!isObject(connection))
    return { part: of, got: connection, wanted: 'it is an object with check, properties, read, update and scan' };
  const { notes, parents } = connection;
  return (
    misfitIn(connection, CONNECTION, { of }) ??
    (isObject(notes) ? misfitIn(notes, NOTES, { of, within: 'notes.' }) : undefined) ??
    (isObject(parents) ? misfitIn(parents, PARENTS, { of, within: 'parents.' }) : undefined)
  );
}
