/** The questions that a settings schema asks, for forms and terminals. They work for the schemas of plugins too. */
import Type, { type TObject, type TSchema } from 'typebox';
import { parseConfig } from '../config/parse.ts';
import { defaultOf } from '../config/schema/fill.ts';

/** One value. `list`: YAML of more than one line. */
export interface Question {
  readonly kind: 'text' | 'secret' | 'number' | 'flag' | 'list';
  /** Unique among the questions of the schema. */
  readonly name: string;
  /** The path of its value. */
  readonly path: readonly string[];
  readonly about: string;
  readonly isRequired: boolean;
  readonly preset?: unknown;
  /** Whether to ask it like a question without a default. */
  readonly isProminent?: true;
}

/** One of several values, some of which ask further questions. */
export interface ChoiceQuestion {
  readonly kind: 'choice';
  readonly name: string;
  readonly path: readonly string[];
  readonly about: string;
  readonly isRequired: boolean;
  readonly preset?: unknown;
  readonly options: readonly {
    readonly value: string;
    readonly about: string;
    readonly parts: readonly QuestionPart[];
  }[];
}

/** Questions that belong together. */
export interface Group {
  readonly kind: 'group';
  readonly name: string;
  readonly path: readonly string[];
  readonly about: string;
  readonly isRequired: boolean;
  readonly parts: readonly QuestionPart[];
}

export type QuestionPart = Question | ChoiceQuestion | Group;

export type Settings = Readonly<Record<string, unknown>>;

export const questionsOf = (schema: TObject): readonly QuestionPart[] => partsOf(schema, { path: [], name: '' });

/** A value with a default, or an optional one, needs no answer unless its schema says `prominent`. */
export const isNeeded = (part: QuestionPart): boolean =>
  part.isRequired &&
  (part.kind === 'group'
    ? part.parts.some(isNeeded)
    : part.preset === undefined || (part.kind !== 'choice' && part.isProminent === true));

interface Position {
  readonly path: readonly string[];
  /** The name of the choice; options have names of their own. */
  readonly name: string;
}

const partsOf = (schema: TObject, { path, name }: Position): readonly QuestionPart[] =>
  Object.entries<TSchema>(schema.properties)
    .filter(([, each]) => !isFixed(each))
    .map(([key, each]) => partOf(each, { path: [...path, key], name: name === '' ? key : `${name}.${key}` }));

/** Whether only one value is possible. */
const isFixed = (schema: TSchema): boolean => Type.IsLiteral(schema);

function partOf(schema: TSchema, place: Position): QuestionPart {
  const common = { ...place, about: textOf(schema, 'description'), isRequired: !Type.IsOptional(schema) };
  const preset = defaultOf(schema);
  const asked = {
    ...common,
    ...(preset !== undefined && { preset }),
    ...(propertyOf(schema, 'prominent') === true && ({ isProminent: true } as const)),
  };
  if (Type.IsObject(schema)) return { ...common, kind: 'group', parts: partsOf(schema, place) };
  if (Type.IsUnion(schema)) {
    const options = optionsOf(schema.anyOf, place);
    return options === undefined ? { ...asked, kind: 'list' } : { ...asked, ...options, kind: 'choice' };
  }
  if (Type.IsEnum(schema)) {
    const options = schema.enum.map((value) => ({ value: String(value), about: '', parts: [] }));
    return { ...asked, kind: 'choice', options };
  }
  if (Type.IsBoolean(schema)) return { ...asked, kind: 'flag' };
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) return { ...asked, kind: 'number' };
  if (Type.IsString(schema)) return { ...asked, kind: propertyOf(schema, 'secret') === undefined ? 'text' : 'secret' };
  return { ...asked, kind: 'list' };
}

/** The options of a union of strings, or of objects that a literal distinguishes; undefined for any other union. */
function optionsOf(schemas: readonly TSchema[], place: Position): Pick<ChoiceQuestion, 'path' | 'options'> | undefined {
  if (schemas.every((each) => Type.IsLiteral(each)))
    return {
      path: place.path,
      options: schemas.map((each) => ({ value: String(each.const), about: textOf(each, 'description'), parts: [] })),
    };
  const objects = schemas.filter(Type.IsObject);
  const tag = Object.keys(objects[0]?.properties ?? {}).find((key) =>
    objects.every((each) => Type.IsLiteral(each.properties[key])),
  );
  if (objects.length !== schemas.length || tag === undefined) return undefined;
  const options = objects.map((each) => {
    const value = String(propertyOf(each.properties[tag] ?? {}, 'const'));
    const inside = { path: place.path, name: `${place.name}[${value}]` };
    return { value, about: textOf(each, 'description'), parts: partsOf(each, inside) };
  });
  return { path: [...place.path, tag], options };
}

const propertyOf = (schema: object, key: string): unknown => Object.getOwnPropertyDescriptor(schema, key)?.value;

function textOf(schema: TSchema, key: string): string {
  const text = propertyOf(schema, key);
  return typeof text === 'string' ? text : '';
}

/** A typed secret, which goes into a file of its own. */
export interface TypedSecret {
  readonly path: readonly string[];
  readonly value: string;
}

export interface SettingAnswers {
  readonly settings: Settings;
  readonly secrets: readonly TypedSecret[];
}

/** The suffix of a key that names a file with the value. */
const FILE_SUFFIX = '_FILE';

/**
 * Reads the answers, as texts by the names of their questions. An empty secret stays as it was in `before`, as a value
 * or a file. Leaves out empty answers and defaults; keeps unreadable text, for the check of settings to report.
 */
export function readAnswers(
  parts: readonly QuestionPart[],
  answer: (name: string) => string,
  before: Settings = {},
): SettingAnswers {
  const settings: Record<string, unknown> = {};
  const secrets: TypedSecret[] = [];
  for (const part of askedParts(parts, answer)) {
    const text = answer(part.name).trim();
    if (part.kind !== 'secret') {
      const value = part.kind === 'flag' ? text !== '' && text !== 'false' : valueIn(part, text);
      if (!isUsual(part, value)) putAt(settings, part.path, value);
      continue;
    }
    const kept = [withSuffix(part.path), part.path].find((path) => valueAt(before, path) !== undefined);
    if (text !== '') secrets.push({ path: part.path, value: text });
    else if (kept !== undefined) putAt(settings, kept, valueAt(before, kept));
  }
  return { settings, secrets };
}

/** The questions to ask, given the answers to the choices among them. */
export const askedParts = (
  parts: readonly QuestionPart[],
  answer: (name: string) => string,
): readonly (Question | ChoiceQuestion)[] =>
  parts.flatMap((part) => {
    if (part.kind === 'group') return askedParts(part.parts, answer);
    if (part.kind !== 'choice') return [part];
    const chosen = part.options.find(({ value }) => value === answer(part.name).trim());
    return [part, ...askedParts(chosen?.parts ?? [], answer)];
  });

/** Whether the file omits a value: nothing, or the default. A choice whose options ask more is always written. */
function isUsual(part: Question | ChoiceQuestion, value: unknown): boolean {
  if (value === undefined) return true;
  const usual = part.preset ?? (part.kind === 'flag' ? false : '');
  const isTag = part.kind === 'choice' && part.options.some(({ parts }) => parts.length > 0);
  return !isTag && String(value) === String(usual);
}

export const withSuffix = (path: readonly string[]): readonly string[] => [
  ...path.slice(0, -1),
  `${path.at(-1) ?? ''}${FILE_SUFFIX}`,
];

function valueIn(part: Question | ChoiceQuestion, text: string): unknown {
  if (text === '') return undefined;
  if (part.kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (part.kind !== 'list') return text;
  const parsed = parseConfig(text);
  return parsed.ok ? parsed.value : text;
}

export const valueAt = (settings: Settings, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => propertyOf(Object(value), key), settings);

/** Sets the value at a path, and creates the sections on it. */
export function putAt(settings: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    settings[key] = value;
    return;
  }
  const section: Record<string, unknown> = { ...Object(settings[key]) };
  settings[key] = section;
  putAt(section, rest, value);
}
