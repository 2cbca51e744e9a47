/** Addresses and headers as requests and answers have them. */
import { HttpFault } from './fault.ts';

/** The parser's own error quotes the whole address, keys included. */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new HttpFault('network', 'the address of a request is not a URL: check the base URL');
  return url;
}

/** Method and address without the query and any user name: both may hold secrets. */
export const nameOf = (method: string, url: URL): string => `${method} ${url.origin}${url.pathname}`;

/** The same headers, names in lower case, repeated ones joined by a comma; after those that they may replace. */
export function lowerCased(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const lower = { ...before };
  // No list of pairs: this runs for every delivery, twice.
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) lower[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return lower;
}

const MOST_SHOWN = 300;

/**
 * Where an answer of `url` redirects to, as ` to <address>` without query and user name: both may hold secrets. Empty if it
 * redirects nowhere.
 */
export function redirectText(url: URL, status: number, headers: Readonly<Record<string, string>>): string {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) return '';
  const target = URL.parse(location, url);
  return ` to ${target === null ? 'what is not a URL' : `${target.origin}${target.pathname}`.slice(0, MOST_SHOWN)}`;
}
