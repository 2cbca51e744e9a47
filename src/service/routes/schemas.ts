import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import { errorBody } from '../../protocol/api.ts';
import { readMonitorable } from '../monitors/monitorable.ts';

/** The common error body, with a description for one status. */
export const failure = (description: string) => Type.Object(errorBody.properties, { description });

export const nothing = (description: string) => Type.Null({ description });

/** Routes take an API key in the query or the header. */
export const KEY_SECURITY = [{ accessKeyQuery: [] }, { accessKeyHeader: [] }];

export const KEY_FAILURES = {
  400: failure('Several access keys that differ'),
  401: failure('No access key, or one that is not known or was revoked'),
  403: failure('The access key has not the scope'),
  429: failure('Over the limit of calls a minute; Retry-After says in how many seconds to come again. Its code is 26'),
};

export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Text without control characters, which both engines can store. */
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

export const EXAMPLE_ID = '7e0f5b3c-2a51-4a0e-9d0e-3a4f1c2b6d10';

export const tokenText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1_000, description, examples: ['MTAw.Zm9yZ2VkLXRva2Vucy1hcmUtcmVmdXNlZA'] });

/** The form of an entity id; {@link readMonitored} checks its meaning. */
export const entityIdText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 128, description, examples: ['CVR-1-10000001'] });

export const timeText = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-01T09:14:02Z'] });

export const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** A 422 for a well-formed request with an invalid value. */
export const unprocessable = (path: string, message: string): HttpError =>
  new HttpError(422, 'The request is not valid.', { errors: [{ path, message }] });

/** The canonical id of a company or person. Throws a 422 that names the path. */
export function readMonitored(text: string, path: string): string {
  const read = readMonitorable(text);
  if (!read.ok) throw unprocessable(path, read.reason);
  return read.entity;
}
