/** The one error body, and how every failure of a request becomes it. */
import type { FastifyReply } from 'fastify';
import type { ErrorBody } from '../../protocol/api.ts';

/** The specification's code for too many calls; elsewhere the code is the status. */
const TOO_MANY_CALLS = 26;

export interface ErrorDetails {
  /** The HTTP status where absent, 26 for 429. */
  readonly errorCode?: number;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  /** Seconds; becomes the Retry-After header. */
  readonly retryAfter?: number;
}

/** An answer other than 2xx, thrown by a route. The message is shown to the caller: what happened, never a secret. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly details: ErrorDetails;

  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** The error body of a status. */
export const errorBodyOf = (status: number, message: string, details: ErrorDetails = {}): ErrorBody => ({
  errorMessage: message,
  httpStatusCode: status,
  errorCode: details.errorCode ?? (status === 429 ? TOO_MANY_CALLS : status),
  ...(details.errors !== undefined && { errors: [...details.errors] }),
});

/** Sends the error body; the way for a route that answers an expected failure without throwing. */
export const sendError = (
  reply: FastifyReply,
  status: number,
  message: string,
  details: ErrorDetails = {},
): FastifyReply => {
  if (details.retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(details.retryAfter)));
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(errorBodyOf(status, message, details));
};
