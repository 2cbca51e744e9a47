/** An operation as a route below `/admin/api`, with its part of the OpenAPI document. */
import type { FastifyRequest } from 'fastify';
import Type, { type TProperties, type TSchema } from 'typebox';
import { HttpError } from '../http/server/error.ts';
import type { Server } from '../http/server/server.ts';
import {
  type Endpoint,
  type Ground,
  type Operation,
  perform,
  preview,
  Refused,
} from '../operations/definition/operation.ts';
import { failure, nothing } from '../service/routes/schemas.ts';
import { ADMIN_FAILURES, adminOperation, BODY_FAILURES } from './describe.ts';

/** Who sent a request that the guard let in. */
export type CallerOf = (request: FastifyRequest) => string | undefined;

/** Adds the route of an operation; none if it has no endpoint. */
export function addRoute<N extends object>(
  scope: Server,
  operation: Operation<Type.TObject, unknown, N>,
  deps: Ground & N,
  callerOf: CallerOf,
): void {
  const { api } = operation;
  if (api === undefined) return;
  const { method, path, status } = api;
  const { schema, partOf } = describe(operation, api);
  if (operation.preview !== undefined)
    scope.route({
      method,
      url: `/admin/api${path}/preview`,
      schema: describe({ ...operation, about: `preview: ${operation.about}` }, previewOf(api)).schema,
      async handler(request) {
        const input = Object.assign({}, request.params, request.query, request.body);
        const caller = { actor: { kind: 'key', name: callerOf(request) ?? '' }, via: 'api' } as const;
        return await preview(operation, input, deps, caller).catch((error: unknown) => {
          throw error instanceof Refused ? refused(error, partOf) : error;
        });
      },
    });
  scope.route({
    method,
    url: `/admin/api${path}`,
    schema,
    async handler(request, reply) {
      const input = Object.assign({}, request.params, request.query, request.body);
      const caller = { actor: { kind: 'key', name: callerOf(request) ?? '' }, via: 'api' } as const;
      const value = await perform(operation, input, deps, caller).catch((error: unknown) => {
        throw error instanceof Refused ? refused(error, partOf) : error;
      });
      if (status === 204) return reply.code(status).send(null);
      return reply.code(status).send(operation.view === undefined ? value : operation.view(value, deps));
    },
  });
}

/** The route that says what an operation on many things would do. */
const previewOf = ({ operationId, ...api }: Endpoint): Endpoint => ({
  ...api,
  operationId: `preview${capital(operationId)}`,
  answer: Type.Object({ count: Type.Integer({ description: 'How many things it would change' }) }),
});

const STATUS = { unknown: 404, conflict: 409, invalid: 422 } as const;

/** An imperative in lower case as a sentence, or as the summary of an operation. */
const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

function refused({ kind, message, issues }: Refused, partOf: (property: string) => string): HttpError {
  const errors = issues.map(({ path, message }) => {
    const [property = '', ...rest] = path.slice(1).split('/');
    return { path: [partOf(property), property, ...rest].join('.'), message };
  });
  return new HttpError(STATUS[kind], `${capital(message)}.`, kind === 'invalid' ? { errors } : {});
}

/** The schemas of a route, and the part of the request that a property of the input is in. */
function describe({ about, more, input }: Pick<Operation, 'about' | 'more' | 'input'>, api: Endpoint) {
  const { method, path, status, answer, hasQuery = false, examples, leavesOut = [], refusals = {}, operationId } = api;
  const inPath = new Set([...path.matchAll(/:(?<name>\w+)/gu)].map(({ groups }) => groups?.['name'] ?? ''));
  const others = method === 'GET' || method === 'DELETE' || hasQuery ? 'querystring' : 'body';
  const params = propertiesOf(input.properties, (name) => inPath.has(name));
  const rest = propertiesOf(input.properties, (name) => !inPath.has(name) && !leavesOut.includes(name));
  const hasRest = Object.keys(rest).length > 0;
  const closed = others === 'body' && { additionalProperties: false };
  const failures = Object.entries({
    ...(hasRest && { 422: 'A parameter is missing or cannot be read; `errors` names each' }),
    ...refusals,
  }).map(([code, description]) => [code, failure(description)]);
  const schema = {
    ...adminOperation(operationId, capital(about), more),
    ...(inPath.size > 0 && { params: Type.Object(params) }),
    ...(hasRest && { [others]: Type.Object(rest, { ...closed, ...(examples && { examples }) }) }),
    response: {
      [status]: typeof answer === 'string' ? nothing(answer) : answer,
      ...(hasRest && others === 'body' && BODY_FAILURES),
      ...Object.fromEntries(failures),
      ...ADMIN_FAILURES,
    },
  };
  return { schema, partOf: (property: string) => (inPath.has(property) ? 'params' : others) };
}

/** What has a default may be left out. */
const propertiesOf = (properties: TProperties, isMeant: (name: string) => boolean): TProperties =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => isMeant(name))
      .map(([name, schema]) => [name, Object.hasOwn(schema, 'default') ? Type.Optional(schema) : schema]),
  ) satisfies Record<string, TSchema>;
