/** Tells requests from the dashboard's pages from those that another site makes a browser send. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether one of the dashboard's pages sent a form. Browsers state it on a safe connection; otherwise the page's
 * origin must be the requested address. Without either the answer is no.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined || host === undefined) return false;
  return hostOf(origin) === host.toLowerCase();
}

/**
 * Whether a person followed a link on another site. Browsers withhold the session's cookie from such a request and its
 * redirects, and send it again when a page of the dashboard asks.
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
