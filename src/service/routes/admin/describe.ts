/** What the routes of the administration say of themselves, and how they refuse. */
import { failure } from '../schemas.ts';

/** What a route says of itself. */
export const forOperators = (operationId: string, summary: string, description = summary) => ({
  operationId,
  summary,
  description,
  tags: ['admin'],
  security: [{ adminToken: [] }],
});

/** How administration refuses whoever may not. */
export const ADMIN_FAILURES = {
  401: failure('No token, or a wrong one'),
  403: failure('An API key without the scope admin'),
  429: failure('Over the limit of calls a minute of an API key; Retry-After says in how many seconds to come again'),
};

/** The same where there is a body. */
export const BODY_FAILURES = {
  400: failure('A body that is not JSON'),
  413: failure('A body over 1 MiB'),
  415: failure('A body that is not application/json'),
};
