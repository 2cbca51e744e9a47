/** A real {@link Http} for tests: one deadline over the whole answer, no redirects, no pace, every call counted. */
import { type Http, type HttpRequest, ProviderError } from '../provider.ts';

export interface TestHttp {
  readonly http: Http;
  /** Every request that was asked for, oldest first. */
  readonly requests: readonly HttpRequest[];
  /** The next call has only so long, in ms. */
  hurry(forMs: number): void;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Opens an Http; `deadlineMs` ends a call whose whole answer has not come by then. */
export function openTestHttp(deadlineMs = 5_000): TestHttp {
  const requests: HttpRequest[] = [];
  let nextMs: number | undefined;
  return {
    requests,
    hurry: (forMs) => {
      nextMs = forMs;
    },
    http: async (asked) => {
      requests.push(asked);
      asked.signal.throwIfAborted();
      const late = AbortSignal.timeout(nextMs ?? asked.timeoutMs ?? deadlineMs);
      nextMs = undefined;
      let isAnswered = false;
      try {
        const answer = await fetch(asked.url, {
          method: asked.method,
          headers: { ...asked.headers },
          ...(asked.body !== undefined && { body: asked.body }),
          redirect: 'manual',
          signal: AbortSignal.any([asked.signal, late]),
        });
        isAnswered = true;
        const body = await answer.text();
        if (REDIRECTS.includes(answer.status)) throw new Error(`a redirect (${answer.status}) is never followed`);
        return { status: answer.status, headers: Object.fromEntries(answer.headers), body };
      } catch (cause) {
        asked.signal.throwIfAborted();
        const why = late.aborted ? 'it came too late' : isAnswered ? 'it was cut off' : 'none came';
        throw new ProviderError('unavailable', `no whole answer from ${new URL(asked.url).host}: ${why}`, { cause });
      }
    },
  };
}
