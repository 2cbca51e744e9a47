import { HttpFault } from './fault.ts';

/** The error of `new URL` would quote the whole address with its keys. */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new HttpFault('network', 'the address of a request is not a URL: check the base URL');
  return url;
}

/** Method and address without query and user name: both may hold secrets. */
export const nameOf = (method: string, url: URL): string => `${method} ${url.origin}${url.pathname}`;

/** Lower-cases header names and joins repeated ones by a comma. `before`: headers that these replace. */
export function lowerCased(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const lower = { ...before };
  // Builds no list of pairs, because this runs twice for every delivery.
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) lower[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return lower;
}

const MOST_SHOWN = 300;

/** The target of a redirect, as ` to <address>` without query and user name (both may hold secrets); else empty. */
export function redirectText(url: URL, status: number, headers: Readonly<Record<string, string>>): string {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) return '';
  const target = URL.parse(location, url);
  return ` to ${target === null ? 'something that is not a URL' : `${target.origin}${target.pathname}`.slice(0, MOST_SHOWN)}`;
}
