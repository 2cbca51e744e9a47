import { errorCodes, type FastifyRequest } from 'fastify';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import { InvalidRequest } from '../../http/server/validate.ts';
import type { Issue } from '../../protocol/shape.ts';

/**
 * Makes this scope answer 422 to requests that are unreadable or do not match their schema. It reads bodies only if a
 * route describes one.
 */
export function readRequests(scope: Server): void {
  answer422(scope);
  readDescribedBodies(scope);
  refuseUnreadableQueries(scope);
}

const invalid = (errors: readonly Issue[]): HttpError => new HttpError(422, 'The request is not valid.', { errors });

function answer422(scope: Server): void {
  scope.setErrorHandler((error) => {
    if (!(error instanceof InvalidRequest)) throw error;
    throw invalid(error.problems);
  });
}

const takesBody = ({ routeOptions }: FastifyRequest): boolean => routeOptions.schema?.body !== undefined;

/**
 * Reads bodies as JSON if the route describes one. Ignores a body or content type that a client sends to other routes.
 */
function readDescribedBodies(scope: Server): void {
  const readJson = scope.getDefaultJsonParser('error', 'error');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) =>
    takesBody(request) ? readJson(request, body, done) : done(null, undefined),
  );
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, _body, done) =>
    takesBody(request) ? done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()) : done(null, undefined),
  );
}

const isPercentEncoded = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** Refuses a query that is not percent-encoded UTF-8, because Fastify would take it literally. */
function refuseUnreadableQueries(scope: Server): void {
  scope.addHook('preValidation', async ({ url }) => {
    const start = url.indexOf('?') + 1;
    const parameters = start === 0 ? [] : url.slice(start).split('&');
    const unreadable = parameters.filter((parameter) => !isPercentEncoded(parameter));
    if (unreadable.length === 0) return;
    const names = new Set(unreadable.map((parameter) => parameter.split('=', 1)[0]));
    throw invalid([...names].map((name) => ({ path: `querystring.${name}`, message: 'is not percent-encoded UTF-8' })));
  });
}

/** Accepts the names of query parameters in any case. Repeated parameters stay repeated. */
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
