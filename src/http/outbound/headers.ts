/** Addresses and headers as requests and answers have them. */
import { HttpFault } from './fault.ts';

/** The parser's own error quotes the whole address, keys included. */
export function readUrl(text: string): URL {
  if (!URL.canParse(text)) throw new HttpFault('network', 'the address of a request is not a URL: check the base URL');
  return new URL(text);
}

/** Method and address without the query and any user name: both may hold secrets. */
export const nameOf = (method: string, url: URL): string => `${method} ${url.origin}${url.pathname}`;

export const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Names in lower case; repeated headers joined by a comma. */
export const joined = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
