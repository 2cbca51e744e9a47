/** Tells requests of our own pages from those that another site makes a browser send. */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../http/server/loopback.ts';

/**
 * Whether a form was sent by one of our pages. Browsers say so themselves where the way is safe; else the page's origin must
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

const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;

/**
 * Whether somebody on this machine asks, under one of its own names, and not through a proxy: another name in the Host header
 * may belong to a site that has its name resolve to this machine.
 */
export function isFromThisMachine(remoteAddress: string | undefined, headers: IncomingHttpHeaders): boolean {
  if (remoteAddress === undefined || !isLoopback(remoteAddress)) return false;
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const name = /^(\[[\da-f:]+\]|[^:]+)(?::\d+)?$/i.exec(headers.host ?? '')?.[1] ?? '';
  return isLoopback(name.toLowerCase().replace(/^\[(.*)\]$/, '$1'));
}
