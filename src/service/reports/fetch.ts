/** Fetches the documents of filings, only from trusted hosts and within bounded memory. */
import type { OutboundHttp, OutboundResponse } from '../../http/outbound/client.ts';
import { HttpFault } from '../../http/outbound/fault.ts';
import { gunzip } from '../../http/outbound/gunzip.ts';

/** `later`: a temporary failure; `unreadable`: a permanent one. */
export type Fetched =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'later'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface FetchOptions {
  readonly http: OutboundHttp;
  /** The names of the hosts, which include their sub-domains. */
  readonly hosts: readonly string[];
  /** The most bytes of a document, packed and unpacked. 96 MiB by default: an annual report with all its pictures. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 96 * 1024 * 1024;
const TIMEOUT_MS = 120_000;
const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** The index may list a document before the host has it. */
const PASSING: readonly number[] = [404, 408, 425, 429];

/** Follows redirects within the trusted hosts. Rejects only if the signal aborts. */
export async function fetchDocument(options: FetchOptions, address: string, signal: AbortSignal): Promise<Fetched> {
  let url = readUrl(address);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (url === undefined || !isTrusted(url, options.hosts)) {
      return {
        kind: 'unreadable',
        reason: `the document lies at ${url?.host ?? 'no address'}, which is not a configured host`,
      };
    }
    const fetched = await fetchOnce(options, url, signal);
    if (fetched.kind !== 'redirect') return fetched;
    url = fetched.to;
  }
  return { kind: 'unreadable', reason: 'the document is redirected too often' };
}

interface Redirect {
  readonly kind: 'redirect';
  /** Undefined if the redirect names no address. */
  readonly to: URL | undefined;
}

async function fetchOnce(options: FetchOptions, url: URL, signal: AbortSignal): Promise<Fetched | Redirect> {
  const { http, maxBytes = MAX_BYTES } = options;
  const how = { timeoutMs: TIMEOUT_MS, maxBytes, wantBytes: true, showRedirects: true } as const;
  let answer: OutboundResponse;
  try {
    answer = await http({ method: 'GET', url: url.href, headers: { 'accept-encoding': 'gzip' }, signal, ...how });
  } catch (error) {
    if (signal.aborted || !(error instanceof HttpFault)) throw error;
    return { kind: error.kind === 'too-large' ? 'unreadable' : 'later', reason: error.message };
  }
  const { status, headers, bytes } = answer;
  if (status === 200 && bytes !== undefined) return unpacked(bytes, maxBytes);
  if (REDIRECTS.includes(status)) return { kind: 'redirect', to: readUrl(headers['location'] ?? '', url) };
  const passes = status >= 500 || PASSING.includes(status);
  return { kind: passes ? 'later' : 'unreadable', reason: `${url.origin}${url.pathname} was answered with ${status}` };
}

const readUrl = (text: string, base?: URL): URL | undefined =>
  URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;

function isTrusted({ protocol, hostname, username, password }: URL, hosts: readonly string[]): boolean {
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '') return false;
  const name = hostname.replace(/\.$/, '');
  return hosts.some((host) => name === host.toLowerCase() || name.endsWith(`.${host.toLowerCase()}`));
}

/** Unpacks a document: the host compresses its documents and does not always say so. */
async function unpacked(bytes: Buffer, maxBytes: number): Promise<Fetched> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return { kind: 'bytes', bytes };
  try {
    return { kind: 'bytes', bytes: await gunzip(bytes, maxBytes) };
  } catch (error) {
    if (error instanceof RangeError)
      return { kind: 'unreadable', reason: `the document is larger than ${maxBytes} bytes` };
    return { kind: 'later', reason: 'the document cannot be decompressed' };
  }
}
