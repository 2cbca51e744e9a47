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
      let why = 'none came';
      try {
        const answer = await fetch(asked.url, {
          method: asked.method,
          headers: { ...asked.headers },
          ...(asked.body !== undefined && { body: asked.body }),
          redirect: 'manual',
          signal: AbortSignal.any([asked.signal, late]),
        });
        const { status } = answer;
        why = 'it was cut off';
        const body = await answer.text();
        if (!REDIRECTS.includes(status) || asked.showRedirects === true)
          return { status, headers: Object.fromEntries(answer.headers), body };
        why = `it was a redirect (${status}), which is never followed; showRedirects makes it an answer`;
        throw new Error(`status ${status}`);
      } catch (cause) {
        asked.signal.throwIfAborted();
        if (late.aborted) why = 'it came too late';
        throw new ProviderError('unavailable', `no whole answer from ${new URL(asked.url).host}: ${why}`, { cause });
      }
    },
  };
}
