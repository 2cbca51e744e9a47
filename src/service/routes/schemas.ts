/** Schemas and hooks that the routes of the service share. */
import { errorCodes, type FastifyRequest } from 'fastify';
import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import { InvalidRequest } from '../../http/server/validate.ts';
import { errorBody } from '../../protocol/api.ts';
import { readMonitorable } from '../monitors/monitorable.ts';

/** The common error body, with what it means for one status. */
export const failure = (description: string) => Type.Object(errorBody.properties, { description });

/** An answer without a body. */
export const nothing = (description: string) => Type.Null({ description });

/** Security of routes that take an API key in the query or the header. */
export const KEY_SECURITY = [{ accessKeyQuery: [] }, { accessKeyHeader: [] }];

/** The failures that every route with an API key may answer. */
export const KEY_FAILURES = {
  400: failure('Several access keys that differ'),
  401: failure('No access key, or one that is not known or was revoked'),
  403: failure('The access key has not the scope'),
  429: failure('Over the limit of calls a minute; Retry-After says in how many seconds to come again. Its code is 26'),
};

/** A value, or null. */
export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A text without control characters, which both engines can store. */
export const plainText = (description: string, { maxLength = 256, example }: PlainText = {}) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description,
    ...(example !== undefined && { examples: [example] }),
  });

interface PlainText {
  readonly maxLength?: number;
  readonly example?: string;
}

/** The id of a monitor or job, as an example. */
export const EXAMPLE_ID = '7e0f5b3c-2a51-4a0e-9d0e-3a4f1c2b6d10';

/** A `continuationToken`. */
export const tokenText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1_000, description, examples: ['MTAw.Zm9yZ2VkLXRva2Vucy1hcmUtcmVmdXNlZA'] });

/** How an entity id is written; its meaning is checked by {@link readMonitored}. */
export const entityIdText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 128, description, examples: ['CVR-1-10000001'] });

/** A point in time in an answer. */
export const timeText = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-01T09:14:02Z'] });

/** ISO 8601 UTC; null for null. */
export const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The answer 422 to a well-formed request with a value that is not valid. */
export const unprocessable = (path: string, message: string): HttpError =>
  new HttpError(422, 'The request is not valid.', { errors: [{ path, message }] });

/** Makes requests of this scope that do not match their schema answer 422 instead of 400. */
export function answer422(scope: Server): void {
  scope.setErrorHandler((error) => {
    if (!(error instanceof InvalidRequest)) throw error;
    throw new HttpError(422, 'The request is not valid.', { errors: error.problems });
  });
}

const takesBody = ({ routeOptions }: FastifyRequest): boolean => routeOptions.schema?.body !== undefined;

/**
 * Reads bodies as JSON where a route describes one. On other routes some clients send one, or only a content type: both
 * are ignored.
 */
export function readDescribedBodies(scope: Server): void {
  const readJson = scope.getDefaultJsonParser('error', 'error');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) =>
    takesBody(request) ? readJson(request, body, done) : done(null, undefined),
  );
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, _body, done) =>
    takesBody(request) ? done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()) : done(null, undefined),
  );
}

/** Accepts the names of query parameters in any case. A repeated parameter stays repeated. */
export function foldQueryNames(scope: Server, names: readonly string[]): void {
  const byLower = new Map(names.map((name) => [name.toLowerCase(), name]));
  scope.addHook('preValidation', async (request) => {
    const folded: Record<string, unknown> = Object.create(null);
    for (const [given, value] of Object.entries(request.query ?? {})) {
      const name = byLower.get(given.toLowerCase()) ?? given;
      folded[name] = Object.hasOwn(folded, name) ? [folded[name], value].flat() : value;
    }
    request.query = folded;
  });
}

/** The canonical id of a company or person; throws a 422 that names the path for everything else. */
export function readMonitored(text: string, path: string): string {
  const read = readMonitorable(text);
  if (!read.ok) throw unprocessable(path, read.reason);
  return read.entity;
}
