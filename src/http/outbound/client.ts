/** The outbound HTTP client: one deadline over the whole answer, abortable, no redirects, a bounded body. */

import { promisify } from 'node:util';
import { brotliDecompress, inflate } from 'node:zlib';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { describeSpan, inSpan, isTracing, traceparent } from '../../telemetry/trace.ts';
import { guardedConnector } from './connect.ts';
import { askForExcerpt } from './excerpt.ts';
import { faultOf, HttpFault } from './fault.ts';
import type { Guard } from './guard.ts';
import { gunzip } from './gunzip.ts';
import { lowerCased, nameOf, readUrl, redirectText } from './headers.ts';
import { skippingContinue } from './skip-continue.ts';

/** The shape of a provider's `HttpRequest`; the rate limiter reads `budget`, the client ignores it. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly budget?: string | undefined;
  /** The deadline over connect, headers and body; overrides the client's. */
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number;
  readonly wantBytes?: true;
  /**
   * Takes the body of a successful answer in pieces without decoding, instead of in the answer. The deadline then counts from
   * the last piece.
   */
  readonly onChunk?: (chunk: Buffer, status: number) => Promise<void>;
  /** Returns a redirect instead of failing, for callers that inspect its target. */
  readonly showRedirects?: true;
}

export interface OutboundResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes?: Buffer;
}

/** Resolves for every status but a redirect; throws {@link HttpFault} without a whole answer. */
export type OutboundHttp = (request: OutboundRequest) => Promise<OutboundResponse>;

export interface HttpClient {
  readonly http: OutboundHttp;
  close(): Promise<void>;
}

export interface ClientOptions {
  /** 30,000 by default. */
  readonly deadlineMs?: number;
  /** The most bytes of an answer's body, before and after decompression; 32 MiB by default. */
  readonly maxBytes?: number;
  /** Source of HTTP_PROXY, HTTPS_PROXY and NO_PROXY; no proxy by default. Loopback never uses one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly userAgent?: string;
  /** Decides which addresses to connect to; all by default. Excludes a proxy, which would connect in our place. */
  readonly guard?: Guard;
  /** For the look-up of the host and the connection; only with a guard. */
  readonly connectMs?: number;
  /** PEM of the client certificate and its key; only without a guard. */
  readonly identity?: { readonly cert: string; readonly key: string };
  /**
   * For callers that need only the status: keeps this many bytes of the body, never decompressed. A body that is
   * longer, breaks off or misses the deadline ends there, and the connection is dropped. Redirects are answers like any
   * other.
   */
  readonly excerptBytes?: number;
}

const DEADLINE = 30_000;
const CONNECT_MS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const LOOPBACK = 'localhost,127.0.0.1,[::1]';

const inflated = promisify(inflate);
const unbrotlied = promisify(brotliDecompress);

/** Each throws a RangeError above `maxBytes`. */
const DECODERS: Readonly<Record<string, (body: Buffer, maxBytes: number) => Promise<Buffer>>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: (body, maxBytes) => inflated(body, { maxOutputLength: maxBytes }),
  br: (body, maxBytes) => unbrotlied(body, { maxOutputLength: maxBytes }),
};

/** Opens a client. It connects on demand and keeps connections for 20 s, or as long as the server says. */
export function openClient(options: ClientOptions = {}): HttpClient {
  const { guard, excerptBytes } = options;
  const dispatcher =
    guard === undefined ? dispatcherFor(options.env ?? {}, options.identity) : guardedAgent(guard, options.connectMs);
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  const userAgent = options.userAgent ?? 'cvrsync';

  const http: OutboundHttp = async (asked) => {
    const url = readUrl(asked.url);
    const what = nameOf(asked.method, url);
    const deadlineMs = asked.timeoutMs ?? options.deadlineMs ?? DEADLINE;
    if (asked.signal.aborted) throw stopped(what, asked.signal);
    // Not AbortSignal.any: each result would stay attached to a signal that lives as long as the process.
    const ending = new AbortController();
    const onAbort = () => ending.abort();
    asked.signal.addEventListener('abort', onAbort, { once: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      ending.abort();
    }, deadlineMs);
    try {
      return await exchange(url, what, { ...asked, isAlive: () => timer.refresh() }, ending.signal);
    } catch (error) {
      if (error instanceof HttpFault) throw error;
      if (isLate) throw new HttpFault('timeout', `${what} got no complete answer within ${deadlineMs} ms`, error);
      throw asked.signal.aborted ? stopped(what, asked.signal) : faultOf(error, what);
    } finally {
      clearTimeout(timer);
      asked.signal.removeEventListener('abort', onAbort);
    }
  };

  async function exchange(
    url: URL,
    what: string,
    asked: OutboundRequest & { readonly isAlive: () => void },
    signal: AbortSignal,
  ) {
    const answer = await request(url, {
      method: asked.method,
      headers: lowerCased(asked.headers ?? {}, { 'user-agent': userAgent }),
      body: asked.body ?? null,
      dispatcher,
      signal,
    });
    const { statusCode: status } = answer;
    const headers = lowerCased(answer.headers);
    if (REDIRECTS.includes(status) && asked.showRedirects !== true) {
      answer.body.on('error', () => undefined).destroy();
      throw new HttpFault(
        'redirect',
        `${what} was answered with a redirect (${status})${redirectText(url, status, headers)}, which is never followed: check the base URL`,
      );
    }
    if (asked.onChunk !== undefined && status >= 200 && status < 300) {
      for await (const chunk of answer.body) {
        await asked.onChunk(chunk, status);
        asked.isAlive();
      }
      return { status, headers, body: '' };
    }
    const bytes = await readBody(answer.body, headers, asked.maxBytes ?? maxBytes, what);
    return asked.wantBytes === true
      ? { status, headers, body: '', bytes }
      : { status, headers, body: bytes.toString('utf8') };
  }

  const close = () => dispatcher.destroy();
  if (excerptBytes === undefined) return { http: traced(http), close };
  const excerpt = { most: excerptBytes, deadlineMs: options.deadlineMs ?? DEADLINE, userAgent };
  return { http: traced((asked) => askForExcerpt(dispatcher, asked, excerpt)), close };
}

/** Runs each request in a span and sends the span's context with it. */
const traced =
  (http: OutboundHttp): OutboundHttp =>
  (asked) =>
    isTracing() ? askInSpan(http, asked) : http(asked);

const askInSpan = (http: OutboundHttp, asked: OutboundRequest) =>
  inSpan(
    'http',
    () => ({
      kind: 'client',
      attributes: { 'http.request.method': asked.method, 'server.address': readUrl(asked.url).hostname },
    }),
    async () => {
      const context = traceparent();
      const answer = await http({ ...asked, headers: { ...asked.headers, ...(context && { traceparent: context }) } });
      describeSpan({ 'http.response.status_code': answer.status });
      return answer;
    },
  );

const stopped = (what: string, { reason }: AbortSignal): HttpFault =>
  new HttpFault('aborted', `${what} was stopped`, reason);

const COMMON = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 20_000, allowH2: false };

const guardedAgent = (guard: Guard, connectMs = DEADLINE): Dispatcher =>
  new Agent({ ...COMMON, connect: guardedConnector(guard, connectMs) });

function dispatcherFor(
  env: Readonly<Record<string, string | undefined>>,
  identity: ClientOptions['identity'],
): Dispatcher {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'] ?? '';
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? '';
  const direct = {
    ...COMMON,
    connect: skippingContinue(buildConnector({ allowH2: false, timeout: CONNECT_MS, ...identity })),
  };
  if (httpProxy === '' && httpsProxy === '') return new Agent(direct);
  const noProxy = [env['no_proxy'] ?? env['NO_PROXY'] ?? '', LOOPBACK].filter(Boolean).join(',');
  const proxies = { httpProxy, httpsProxy: httpsProxy || httpProxy, noProxy };
  return new EnvHttpProxyAgent({ ...direct, ...proxies, ...(identity !== undefined && { requestTls: identity }) });
}

async function readBody(
  stream: AsyncIterable<Buffer>,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  what: string,
): Promise<Buffer> {
  const tooLarge = () => new HttpFault('too-large', `${what} was answered with more than ${maxBytes} bytes`);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks, length);
  const decode = DECODERS[headers['content-encoding']?.toLowerCase() ?? ''];
  if (decode === undefined || length === 0) return bytes;
  try {
    return await decode(bytes, maxBytes);
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw new HttpFault('cut', `${what} was answered with a body that cannot be decompressed`, error);
  }
}
