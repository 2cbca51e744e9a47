import type { Server } from './server.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;

/**
 * Makes every JSON body in this scope a Buffer, for routes that verify a webhook before parsing it; other content types
 * get 415. Call it inside the plugin with the routes. Without a body it is `undefined`.
 */
export function acceptRawJson(scope: Server): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

export function acceptRaw(scope: Server): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
