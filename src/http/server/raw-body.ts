/** Bodies as bytes: a webhook is verified before it is parsed. */
import type { Server } from './server.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/**
 * Makes every JSON body in this scope a Buffer, whatever it holds; other content types answer 415.
 * Scoped: call it inside the plugin that holds the routes. A request without a body has `undefined`.
 */
export function acceptRawJson(scope: Server): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** Makes every body in this scope a Buffer, of whatever content type: for senders whose format is theirs to choose. */
export function acceptRaw(scope: Server): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
