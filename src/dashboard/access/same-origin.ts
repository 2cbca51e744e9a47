/** Tells requests of our own pages from those that another site makes a browser send. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a form was sent by one of our pages. Browsers say so themselves if the way is safe; else the page's origin must
 * be the address that was asked. Without either it is not ours.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined || host === undefined) return false;
  return hostOf(origin) === host.toLowerCase();
}

/**
 * Whether a person followed a link on another site. The session's cookie stays away from such a request, as from all that it
 * is redirected to, and comes along again when our own page asks.
 */
export const isFromOtherSite = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] === 'navigate';

const hostOf = (origin: string): string | undefined => {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
};
