/** Request validation by TypeBox schemas: texts of a query become numbers and flags, defaults are filled in, problems get a path. */
import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';

/** Gives routes the types of their TypeBox schemas. */
export interface TypeBoxTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/** One problem of a request; `path` is like `querystring.take`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** A request that does not match its route's schema. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('the request does not match its schema');
    this.problems = problems;
  }
}

const problemsOf = (part: string, errors: readonly TLocalizedValidationError[]): Problem[] =>
  errors.flatMap((error): Problem[] => {
    const at = [part, ...error.instancePath.split('/').slice(1)].join('.');
    // A forbidden name is reported twice: once with the object, and once here with its own path.
    if (error.keyword === 'additionalProperties') return [];
    if (error.keyword === 'boolean') return [{ path: at, message: 'is not known' }];
    if (error.keyword === 'required')
      return error.params.requiredProperties.map((name) => ({ path: `${at}.${name}`, message: 'is missing' }));
    return [{ path: at, message: error.message }];
  });

/** How whole numbers and flags are written. More would convert: `1.5` was meant otherwise, and `1` is no flag. */
const WHOLE = /^-?\d{1,15}$/;
const FLAG = /^(?:true|false)$/i;

const isMisspelt = (schema: TSchema | undefined, text: string): boolean =>
  Type.IsInteger(schema) ? !WHOLE.test(text) : Type.IsBoolean(schema) && !FLAG.test(text);

const mayBeAbsent = (schema: TSchema): boolean => Type.IsOptional(schema) || Object.hasOwn(schema, 'default');

/** Texts of a query as they are meant: an empty one is left out where it may be, as callers send what they have no value for. */
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

/** Compiles a route's schema once, at start. */
export const compileSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'request' }) => {
  const validator = Compile(schema);
  const isText = httpPart !== 'body';
  return (data: unknown) => {
    const fill = (given: unknown): unknown => validator.Default(given ?? {});
    const value = isText ? readTexts(schema, data, (given) => validator.Convert(fill(given))) : fill(data);
    if (validator.Check(value)) return { value };
    return { error: new InvalidRequest(problemsOf(httpPart, validator.Errors(value))) };
  };
};
