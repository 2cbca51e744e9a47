/**
 * Validates requests by TypeBox schemas: converts texts of a query to numbers and flags, fills in defaults, gives each
 * problem a path.
 */
import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { misspelt } from '../../protocol/misspelt.ts';
import type { Issue } from '../../protocol/shape.ts';

export interface TypeBoxTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
  /** Paths are like `querystring.take`. */
  readonly problems: readonly Issue[];

  constructor(problems: readonly Issue[]) {
    super('the request does not match its schema');
    this.problems = problems;
  }
}

/** The errors of a value by its schema; `part` begins each path. */
export const problemsOf = (part: string, errors: readonly TLocalizedValidationError[], schema: TSchema): Issue[] =>
  errors.flatMap((error): Issue[] => {
    const at = [part, ...error.instancePath.split('/').slice(1)].join('.');
    // TypeBox reports a forbidden name twice: for the object, and here with the name's own path.
    if (error.keyword === 'additionalProperties') return [];
    if (error.keyword === 'boolean') return [{ path: at, message: 'is not known' }];
    if (error.keyword === 'required')
      return error.params.requiredProperties.map((name) => ({ path: `${at}.${name}`, message: 'is missing' }));
    if (error.keyword === 'pattern') return [{ path: at, message: misspelt(schemaAt(schema, error.schemaPath)) }];
    return [{ path: at, message: error.message }];
  });

/** The part of a schema that an error is about, by its path such as `#/properties/name`. */
const schemaAt = (schema: TSchema, path: string): object =>
  path
    .split('/')
    .slice(1)
    .reduce<object>((part, name) => Object(Reflect.get(part, name)), schema);

/** Stricter than TypeBox, which would convert `1.5` to a whole number and `1` to a flag. */
const WHOLE = /^-?\d{1,15}$/;
const FLAG = /^(?:true|false)$/i;

const isMisspelt = (schema: TSchema | undefined, text: string): boolean =>
  Type.IsInteger(schema) ? !WHOLE.test(text) : Type.IsBoolean(schema) && !FLAG.test(text);

const mayBeAbsent = (schema: TSchema): boolean => Type.IsOptional(schema) || Object.hasOwn(schema, 'default');

/**
 * Converts the texts of a query. Omits an empty text if the parameter is optional: callers send `name=` for no value.
 */
function readTexts(schema: TSchema, given: unknown, convert: (value: unknown) => unknown): unknown {
  if (!Type.IsObject(schema) || typeof given !== 'object' || given === null) return convert(given);
  const { properties } = schema;
  const isAbsent = ([name, value]: readonly [string, unknown]): boolean =>
    value === '' && mayBeAbsent(properties[name] ?? Type.Unknown());
  const texts = Object.entries(given).filter((entry) => !isAbsent(entry));
  const isWrong = ([name, value]: readonly [string, unknown]): boolean =>
    typeof value === 'string' && isMisspelt(properties[name], value);
  const wrong = texts.filter(isWrong);
  const converted = convert(Object.fromEntries(texts.filter((entry) => !isWrong(entry))));
  return wrong.length === 0 ? converted : Object.assign(Object(converted), Object.fromEntries(wrong));
}

/** Compiles a route's schema once, when a request first needs it: compiling all would take a twentieth of the start-up. */
export const compileSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'request' }) => {
  let compiled: Validator | undefined;
  const isText = httpPart !== 'body';
  return (data: unknown) => {
    compiled ??= Compile(schema);
    const validator = compiled;
    const fill = (given: unknown): unknown => validator.Default(given ?? {});
    const value = isText ? readTexts(schema, data, (given) => validator.Convert(fill(given))) : fill(data);
    if (validator.Check(value)) return { value };
    return { error: new InvalidRequest(problemsOf(httpPart, validator.Errors(value), schema)) };
  };
};
