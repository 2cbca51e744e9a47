/** One request of undici, answered by hand. */
import { hash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { EmulatorAnswer, EmulatorRequest } from '../../providers/kit/emulator/emulator.ts';
import type { Owner } from './time.ts';

export interface Exchange {
  readonly owner: Owner | undefined;
  readonly host: string;
  readonly request: EmulatorRequest;
  /** It was answered, failed, or its sender gave up. */
  readonly isOver: boolean;
  fail(code: string): void;
  /** `isCut`: the second half of the body never comes. */
  answer(given: EmulatorAnswer, isCut: boolean): void;
}

/** Opens an exchange; `onEnd` is called once, with what became of it. */
export function openExchange(
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  owner: Owner | undefined,
  onEnd: (exchange: Exchange, result: string) => void,
): Exchange {
  const request = requestOf(options);
  let isOver = false;
  const end = (result: string): void => {
    isOver = true;
    onEnd(exchange, result);
  };
  const controller: Dispatcher.DispatchController = {
    ...{ paused: false, rawHeaders: null, rawTrailers: null, reason: null },
    get aborted() {
      return isOver;
    },
    pause() {},
    resume() {},
    abort(reason) {
      if (isOver) return;
      end('given up');
      handler.onResponseError?.(controller, reason);
    },
  };
  const exchange: Exchange = {
    owner,
    host: request.url.hostname.replace(/\.sim$/, ''),
    request,
    get isOver() {
      return isOver;
    },
    fail(code) {
      if (isOver) return;
      end(code);
      handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
    },
    answer(given, isCut) {
      if (isOver) return;
      const { text, headers } = written(given);
      const bytes = Buffer.from(text);
      handler.onResponseStart?.(controller, given.status, headers, '');
      if (isOver) return;
      handler.onResponseData?.(controller, isCut ? bytes.subarray(0, bytes.length / 2) : bytes);
      if (isCut) {
        exchange.fail('UND_ERR_SOCKET');
        return;
      }
      end(`${given.status} ${digest(text)}`);
      handler.onResponseEnd?.(controller, {});
    },
  };
  handler.onRequestStart?.(controller, {});
  return exchange;
}

/** A few letters that stand for a text in the trace. */
export const digest = (text: string): string => (text === '' ? '-' : hash('sha256', text).slice(0, 8));

function requestOf({ method, path, headers, body, origin }: Dispatcher.DispatchOptions): EmulatorRequest {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value ?? '')]);
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : body;
  return {
    ...{ method, path, url: new URL(path, origin), headers: Object.fromEntries(given) },
    body: typeof text === 'string' ? text : '',
  };
}

function written({ body, headers }: EmulatorAnswer): { text: string; headers: Record<string, string> } {
  if (typeof body === 'string' || body === undefined) return { text: body ?? '', headers: { ...headers } };
  return { text: JSON.stringify(body), headers: { 'content-type': 'application/json;charset=utf-8', ...headers } };
}
