/** What the routes of the service have in common: how they refuse, what an entity and a time look like. */
import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import { InvalidRequest } from '../../http/server/validate.ts';
import { errorBody } from '../../protocol/api.ts';
import { readMonitorable } from '../monitors/monitorable.ts';

/** The one error body as the answer of a status. */
export const failure = (description: string) => Type.Object(errorBody.properties, { description });

/** An answer without a body. */
export const nothing = (description: string) => Type.Null({ description });

/** For routes that take an API key, one way or the other. */
export const KEY_SECURITY = [{ accessKeyQuery: [] }, { accessKeyHeader: [] }];

/** How routes that take an API key refuse a caller. */
export const KEY_FAILURES = {
  400: failure('Several access keys that differ'),
  401: failure('No access key, or one that is not known or was revoked'),
  403: failure('The access key has not the scope'),
  429: failure('Over the limit of calls a minute; Retry-After says in how many seconds to come again. Its code is 26'),
};

/** A value, or null. */
export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A text that both engines keep and a person can read. */
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

/** A point in time as we answer it. */
export const timeText = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-01T09:14:02Z'] });

/** ISO 8601 UTC; null for null. */
export const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** A request that can be read and means nothing: 422, each problem with its path. */
export const unprocessable = (path: string, message: string): HttpError =>
  new HttpError(422, 'The request is not valid.', { errors: [{ path, message }] });

/** Makes requests of this scope that do not match their schema answer 422 instead of 400. */
export function answer422(scope: Server): void {
  scope.setErrorHandler((error) => {
    if (!(error instanceof InvalidRequest)) throw error;
    throw new HttpError(422, 'The request is not valid.', { errors: error.problems });
  });
}

/** For endpoints that take no body: clients send some all the same, and types of bodies that are not there. */
export function ignoreBodies(scope: Server): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined));
}

/** Lets query parameters be named in any case, as callers do who copied them from elsewhere. A repeated one stays repeated. */
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

/** The canonical id of what can be monitored; throws a 422 that names the path for everything else. */
export function readMonitored(text: string, path: string): string {
  const read = readMonitorable(text);
  if (!read.ok) throw unprocessable(path, read.reason);
  return read.entity;
}
