/** A real {@link Http} for provider tests: one deadline over the whole answer, no redirects, every call counted. */
import { Agent, request } from 'undici';
import { type Http, type HttpRequest, ProviderError } from '../../providers/provider.ts';

export interface CountedHttp {
  readonly http: Http;
  /** Every request that was asked for, oldest first. */
  readonly requests: readonly HttpRequest[];
  close(): Promise<void>;
}

/** Opens an Http without pacing; `deadlineMs` ends a call whose whole answer has not come by then. */
export function openHttp(deadlineMs = 5_000): CountedHttp {
  const agent = new Agent();
  const requests: HttpRequest[] = [];
  return {
    requests,
    close: () => agent.destroy(),
    http: async (asked) => {
      requests.push(asked);
      asked.signal.throwIfAborted();
      const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(asked.timeoutMs ?? deadlineMs)]);
      try {
        const answer = await request(asked.url, {
          method: asked.method,
          headers: { ...asked.headers },
          body: asked.body ?? null,
          dispatcher: agent,
          signal,
        });
        const body = await answer.body.text();
        if ([301, 302, 303, 307, 308].includes(answer.statusCode))
          throw new Error(`redirect ${answer.statusCode} refused`);
        return { status: answer.statusCode, headers: flat(answer.headers), body };
      } catch (cause) {
        asked.signal.throwIfAborted();
        throw new ProviderError('unavailable', `no whole answer from ${new URL(asked.url).host}`, { cause });
      }
    },
  };
}

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
