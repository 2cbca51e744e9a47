/** Request validation by TypeBox schemas: texts of a query become numbers and flags, defaults are filled in, problems get a path. */
import type { FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import type { Static, TSchema } from 'typebox';
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

/** Compiles a route's schema once, at start. */
export const compileSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'request' }) => {
  const validator = Compile(schema);
  const isText = httpPart !== 'body';
  return (data: unknown) => {
    const filled = validator.Default(data ?? {});
    const value = isText ? validator.Convert(filled) : filled;
    if (validator.Check(value)) return { value };
    return { error: new InvalidRequest(problemsOf(httpPart, validator.Errors(value))) };
  };
};
