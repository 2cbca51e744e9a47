/**
 * Reads a value by its schema: applies defaults, converts texts of the environment to numbers and flags, and names
 * every problem. No message quotes a value, which might be a secret.
 */
import Type, { type TArray, type TObject, type TRecord, type TSchema, type TUnion } from 'typebox';
import { Value } from 'typebox/value';
import { misspelt } from '../../protocol/misspelt.ts';
import type { Issue } from '../../protocol/shape.ts';
import { didYouMean } from './nearest.ts';

/** A path is like `connector.webhook.path`. */
export interface ConfigProblem extends Issue {
  /** The key itself is wrong, not its value. */
  readonly isKey?: true;
}

/** Marks a text with a variable that has no value; no file that a person writes contains it. */
export const UNSET = '\u{10FFFF}unset';

/** Replacements for an unset value, so that the rest of the file can be used. */
const STAND_INS: readonly unknown[] = [
  'unset'.repeat(9),
  'https://unset.invalid',
  'smtp://unset.invalid',
  1,
  1024,
  false,
];

type Section = Readonly<Record<string, unknown>>;

const join = (path: string, key: string | number): string => (path === '' ? String(key) : `${path}.${key}`);
const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const numberIn = (schema: TSchema, key: string): number | undefined => {
  const value: unknown = Object.getOwnPropertyDescriptor(schema, key)?.value;
  return typeof value === 'number' ? value : undefined;
};
export const defaultOf = (schema: TSchema): unknown => Object.getOwnPropertyDescriptor(schema, 'default')?.value;

/**
 * The value with defaults; meaningless if it pushed problems. A null section, which YAML makes of an empty one, counts
 * as absent.
 */
export function fill(schema: TSchema, given: unknown, path: string, problems: ConfigProblem[]): unknown {
  if (given === undefined || (given === null && !Value.Check(schema, null))) return fillAbsent(schema, path, problems);
  if (typeof given === 'string' && given.includes(UNSET)) return fillUnset(schema, path, problems);
  if (Type.IsObject(schema)) return fillObject(schema, given, path, problems);
  if (Type.IsRecord(schema)) return fillRecord(schema, given, path, problems);
  if (Type.IsUnion(schema)) return fillUnion(schema, given, path, problems);
  if (Type.IsArray(schema)) return fillArray(schema, given, path, problems);
  return fillScalar(schema, given, path, problems);
}

function fillUnset(schema: TSchema, path: string, problems: ConfigProblem[]): unknown {
  const literals = Type.IsUnion(schema) ? schema.anyOf.filter(Type.IsLiteral).map((option) => option.const) : [];
  const standIn = [defaultOf(schema), ...STAND_INS, ...literals].find((value) => Value.Check(schema, value));
  return standIn ?? fail(problems, path, 'is not set');
}

function fillArray(schema: TArray, given: unknown, path: string, problems: ConfigProblem[]): unknown {
  if (!Array.isArray(given)) return fail(problems, path, 'should be a list');
  const items = given.map((item: unknown, index) => fill(schema.items, item, join(path, index), problems));
  const [least, most] = [numberIn(schema, 'minItems') ?? 0, numberIn(schema, 'maxItems') ?? Number.POSITIVE_INFINITY];
  if (items.length >= least && items.length <= most) return items;
  return fail(
    problems,
    path,
    most === Number.POSITIVE_INFINITY ? 'is empty' : `should be a list of ${least} to ${most}`,
  );
}

function fail(problems: ConfigProblem[], path: string, message: string): undefined {
  problems.push({ path, message });
  return undefined;
}

const failKey = (problems: ConfigProblem[], path: string, message: string): void =>
  void problems.push({ path, message, isKey: true });

function fillAbsent(schema: TSchema, path: string, problems: ConfigProblem[]): unknown {
  const preset = defaultOf(schema);
  // A section that is empty by default has the defaults of its keys.
  if (preset !== undefined && Type.IsObject(schema)) return fillObject(schema, preset, path, problems);
  if (preset !== undefined) return structuredClone(preset);
  if (Type.IsOptional(schema)) return undefined;
  // The missing keys are more useful than the missing section.
  if (Type.IsObject(schema)) return fillObject(schema, {}, path, problems);
  return fail(problems, path, explain(schema, 'is missing'));
}

function fillObject(schema: TObject, given: unknown, path: string, problems: ConfigProblem[]): unknown {
  const names = Object.keys(schema.properties);
  if (!isSection(given)) return fail(problems, path, `should be a section with ${names.slice(0, 6).join(', ')}`);
  if (Object.hasOwn(schema, 'additionalProperties')) {
    const free = names.filter((name) => !Object.hasOwn(given, name));
    for (const key of Object.keys(given))
      if (!names.includes(key)) failKey(problems, join(path, key), `is not known${didYouMean(key, free)}`);
  }
  const entries = names.map((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return [name, fill(schema.properties[name] ?? Type.Unknown(), value, join(path, name), problems)] as const;
  });
  const open = Object.hasOwn(schema, 'additionalProperties') ? {} : given;
  return { ...open, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
}

function fillRecord(schema: TRecord, given: unknown, path: string, problems: ConfigProblem[]): unknown {
  if (!isSection(given)) return fail(problems, path, 'should be a section');
  const keys = Object.keys(given);
  const pattern = new RegExp(Type.RecordPattern(schema));
  for (const key of keys)
    if (!pattern.test(key))
      failKey(problems, join(path, key), `is not a name: use letters, digits, - and _, 64 at most`);
  if (keys.length < (numberIn(schema, 'minProperties') ?? 0)) return fail(problems, path, 'is empty');
  const value = Type.RecordValue(schema);
  return Object.fromEntries(keys.map((key) => [key, fill(value, given[key], join(path, key), problems)]));
}

const isContainer = (schema: TSchema): boolean =>
  Type.IsObject(schema) || Type.IsRecord(schema) || Type.IsArray(schema);
const takes = (schema: TSchema, given: unknown): boolean => {
  if (Type.IsArray(schema)) return Array.isArray(given);
  return isContainer(schema) ? isSection(given) : !isSection(given) && !Array.isArray(given);
};

function fillUnion(schema: TUnion, given: unknown, path: string, problems: ConfigProblem[]): unknown {
  const options = schema.anyOf.filter((option) => takes(option, given));
  const objects = options.filter(Type.IsObject);
  const takesSeveral = schema.anyOf.some(Type.IsArray);
  if (objects.length > 1 && isSection(given)) return fillTagged({ objects, takesSeveral }, given, path, problems);
  const [only] = options;
  if (only !== undefined && options.length === 1 && isContainer(only)) return fill(only, given, path, problems);
  const fitting = options.find((option) => Value.Check(option, given));
  if (fitting !== undefined) return given;
  const converted = options.map((option) => convert(option, given)).find((value) => Value.Check(schema, value));
  if (converted !== undefined) return converted;
  const literals = options.filter(Type.IsLiteral).map((option) => String(option.const));
  const isChoice = literals.length === schema.anyOf.length;
  const { tag, values } = tagOf(schema.anyOf.filter(Type.IsObject));
  if (values.some((value) => value === given)) return fail(problems, path, `should be { ${tag}: ${given}, … }`);
  const hint = isChoice && typeof given === 'string' ? didYouMean(given, literals) : '';
  return fail(
    problems,
    path,
    isChoice ? `should be one of ${literals.join(', ')}${hint}` : explain(schema, 'is not what this takes'),
  );
}

/** The property that distinguishes objects, because it is a literal in each of them. */
function tagOf(objects: readonly TObject[]): { readonly tag: string; readonly values: readonly string[] } {
  const tag =
    Object.keys(objects[0]?.properties ?? {}).find((name) =>
      objects.every((each) => Type.IsLiteral(each.properties[name])),
    ) ?? '';
  const values = objects.map((each) =>
    String(Object.getOwnPropertyDescriptor(each.properties[tag] ?? {}, 'const')?.value),
  );
  return { tag, values };
}

function fillTagged(
  { objects, takesSeveral }: { readonly objects: readonly TObject[]; readonly takesSeveral: boolean },
  given: Section,
  path: string,
  problems: ConfigProblem[],
): unknown {
  const { tag, values } = tagOf(objects);
  const named = String(given[tag])
    .split(',')
    .map((each) => each.trim());
  if (takesSeveral && named.length > 1 && named.every((each) => values.includes(each)))
    return fail(
      problems,
      join(path, tag),
      `is one of several: write a list, ${path.split('.').at(-1)}: [${named.map((each) => `{ ${tag}: ${each}, … }`).join(', ')}]`,
    );
  const chosen = objects[values.indexOf(String(given[tag]))];
  if (chosen !== undefined) return fill(chosen, given, path, problems);
  if (!Object.hasOwn(given, tag)) return fail(problems, join(path, tag), `is missing; one of ${values.join(', ')}`);
  return fail(
    problems,
    join(path, tag),
    `should be one of ${values.join(', ')}${didYouMean(String(given[tag]), values)}`,
  );
}

/** Converts a text that means a number or flag, and a number or flag that means a text. */
function convert(schema: TSchema, given: unknown): unknown {
  if (Type.IsString(schema)) return typeof given === 'number' || typeof given === 'boolean' ? String(given) : given;
  if (typeof given !== 'string') return given;
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) return given.trim() === '' ? given : Number(given);
  const isFlag = Type.IsBoolean(schema) || (Type.IsLiteral(schema) && typeof schema.const === 'boolean');
  if (isFlag && (given === 'true' || given === 'false')) return given === 'true';
  return given;
}

function fillScalar(schema: TSchema, given: unknown, path: string, problems: ConfigProblem[]): unknown {
  const value = convert(schema, given);
  if (Value.Check(schema, value)) return value;
  const [error] = Value.Errors(schema, value);
  if (error?.keyword === 'enum') {
    const names = error.params.allowedValues.map(String);
    const shown = names.length > 8 ? 'is not a known name' : `should be one of ${names.join(', ')}`;
    return fail(problems, path, shown + (typeof value === 'string' ? didYouMean(value, names) : ''));
  }
  if (value === '') return fail(problems, path, 'is empty');
  return fail(problems, path, error?.keyword === 'pattern' ? misspelt(schema) : (error?.message ?? 'is not valid'));
}

const explain = (schema: TSchema, message: string): string => {
  const about: unknown = Object.getOwnPropertyDescriptor(schema, 'description')?.value;
  return typeof about === 'string' ? `${message}: ${about}` : message;
};
