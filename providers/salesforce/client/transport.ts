/**
 * The transport under jsforce: it sends every byte through the Http of the runtime, under one verb's signal. jsforce's
 * own transport has no deadline over the body, follows redirects with the token even for a PATCH, retries and ignores
 * NO_PROXY; nothing of it is used.
 */
import { Duplex } from 'node:stream';
import type { Connection } from 'jsforce/lib/connection.js';
import { type HttpRequest, type HttpResponse, type ProviderContext, ProviderError } from '../../provider.ts';
import { SalesforceRefusal } from './errors.ts';

export type JsforceTransport = Connection['_transport'];

/** The promise with a stream that jsforce expects from a transport. */
export type StreamPromise = typeof import('jsforce/lib/util/promise.js').StreamPromise;

/** 300 (several records match) and 304 (not modified) are answers, not redirects. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A transport that throws {@link SalesforceRefusal} from 400 on: jsforce would drop the status. */
export function guardedTransport(
  { StreamPromise }: { readonly StreamPromise: StreamPromise },
  { http, now }: Pick<ProviderContext, 'http' | 'now'>,
  signal: AbortSignal,
  { budget, onAnswer }: { readonly budget?: string; readonly onAnswer?: (answer: HttpResponse) => void } = {},
): JsforceTransport {
  return {
    httpRequest: (request) =>
      StreamPromise.create(() => ({
        stream: deadEnd(),
        promise: exchange({ http, now }, { ...outgoing(request), budget, signal }, onAnswer),
      })),
    getRequestStreamCreator() {
      throw new Error('the Salesforce connection does not stream');
    },
  };
}

type Outgoing = Parameters<JsforceTransport['httpRequest']>[0];

function outgoing({ method, url, headers = {}, body }: Outgoing): Omit<HttpRequest, 'signal'> {
  if (method === 'OPTIONS' || method === 'HEAD') throw new Error(`the Salesforce connection does not use ${method}`);
  if (body !== undefined && body !== null && typeof body !== 'string') {
    throw new Error('the Salesforce connection sends text only');
  }
  // Http sets the length.
  const kept = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length');
  return {
    method,
    url,
    headers: { accept: 'application/json', ...Object.fromEntries(kept) },
    body: typeof body === 'string' ? body : undefined,
  };
}

async function exchange(
  { http, now }: Pick<ProviderContext, 'http' | 'now'>,
  request: HttpRequest,
  onAnswer?: (answer: HttpResponse) => void,
) {
  const response: HttpResponse = await http(request);
  onAnswer?.(response);
  if (REDIRECTS.has(response.status)) {
    throw new ProviderError(
      'unavailable',
      `Salesforce answered with a redirect (status ${response.status}), which is not followed`,
    );
  }
  if (response.status >= 400) throw new SalesforceRefusal(response, now());
  return { statusCode: response.status, headers: { ...response.headers }, body: response.body };
}

/** jsforce pipes a stream even if nobody reads it. */
const deadEnd = (): Duplex =>
  new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      done();
    },
  });
