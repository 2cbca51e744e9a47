/** The one error body of every failed request. */
import type { FastifyReply } from 'fastify';
import type { ErrorBody } from '../../protocol/api.ts';

/** The specification's code for too many calls; all other codes equal the status. */
const TOO_MANY_CALLS = 26;

export interface ErrorDetails {
  /** The HTTP status by default; 26 for 429. */
  readonly errorCode?: number;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly retryAfter?: number;
}

/**
 * An error that a route throws to answer with another status. The caller sees the message, so it must hold no secret.
 */
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

export const errorBodyOf = (status: number, message: string, details: ErrorDetails = {}): ErrorBody => ({
  errorMessage: message,
  httpStatusCode: status,
  errorCode: details.errorCode ?? (status === 429 ? TOO_MANY_CALLS : status),
  ...(details.errors !== undefined && { errors: [...details.errors] }),
});

/** Sends the error body, for routes that answer an expected failure without throwing. */
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
