/** Requests that need only the status and the beginning of the answer's text. */
import type { Dispatcher } from 'undici';
import { faultOf, HttpFault } from './fault.ts';
import { lowerCased, nameOf, readUrl } from './headers.ts';
import { onAbort } from './on-abort.ts';

export interface ExcerptRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

export interface Excerpt {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if the body is compressed: it is never unpacked. */
  readonly body: string;
}

export interface ExcerptOptions {
  readonly most: number;
  readonly deadlineMs: number;
  readonly userAgent: string;
}

/**
 * Resolves for every status. A body that breaks off or misses the deadline ends there. Throws HttpFault without a
 * status. Uses undici's dispatcher directly, because the body stream of `request` takes longer than all the rest.
 */
export function askForExcerpt(
  dispatcher: Dispatcher,
  asked: ExcerptRequest,
  { most, deadlineMs, userAgent }: ExcerptOptions,
): Promise<Excerpt> {
  return new Promise((resolve, reject) => {
    const url = readUrl(asked.url);
    const what = () => nameOf(asked.method, url);
    const stopped = () => new HttpFault('aborted', `${what()} was stopped`, asked.signal.reason);
    if (asked.signal.aborted) throw stopped();
    const chunks: Buffer[] = [];
    let length = 0;
    let answer: Omit<Excerpt, 'body'> | undefined;
    let controller: Dispatcher.DispatchController | undefined;
    let over = false;

    const end = (why: () => HttpFault): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      forget();
      if (answer === undefined) reject(why());
      else resolve({ ...answer, body: textOf(chunks, most, answer.headers) });
    };
    const cut = (why: () => HttpFault): void => {
      end(why);
      controller?.abort(new Error('nobody waits for it any more'));
    };
    const late = () => cut(() => new HttpFault('timeout', `${what()} got no answer within ${timeoutMs} ms`));
    const stop = () => cut(stopped);
    const timeoutMs = asked.timeoutMs ?? deadlineMs;
    const timer = setTimeout(late, timeoutMs);
    const forget = onAbort(asked.signal, stop);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        // It waited too long for a connection: send nothing.
        if (over) given.abort(new Error('nobody waits for it any more'));
      },
      onResponseStart(_controller, status, headers) {
        // Informational answers come first.
        if (status >= 200) answer = { status, headers: lowerCased(headers) };
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > most) cut(stopped);
      },
      onResponseEnd: () => end(() => new HttpFault('cut', `${what()} was answered without a status`)),
      onResponseError: (_controller, error) => end(() => faultOf(error, what())),
    };
    const headers = lowerCased(asked.headers ?? {}, { 'user-agent': userAgent });
    const path = `${url.pathname}${url.search}`;
    dispatcher.dispatch({ origin: url.origin, path, method: asked.method, headers, body: asked.body ?? null }, handler);
  });
}

function textOf(chunks: readonly Buffer[], most: number, headers: Excerpt['headers']): string {
  if (chunks.length === 0 || (headers['content-encoding'] ?? 'identity') !== 'identity') return '';
  return Buffer.concat(chunks).subarray(0, most).toString('utf8');
}
