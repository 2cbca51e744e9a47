/** The OpenAPI parts that all admin routes share. */
import { failure } from '../service/routes/schemas.ts';

/** The operation id and texts of an admin route. */
export const adminOperation = (operationId: string, summary: string, description = summary) => ({
  operationId,
  summary,
  description,
  tags: ['admin'],
  security: [{ adminToken: [] }],
});

/** The failures that every admin route may answer. */
export const ADMIN_FAILURES = {
  401: failure('No token, or a wrong one'),
  403: failure('An API key without the scope admin'),
  429: failure('The API key made too many calls in this minute; Retry-After says in how many seconds to retry'),
};

/** The failures that every admin route with a body may answer. */
export const BODY_FAILURES = {
  400: failure('A body that is not JSON, or a path that cannot be read'),
  413: failure('A body over 1 MiB'),
  415: failure('A body that is not application/json'),
};
