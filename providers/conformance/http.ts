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
      let redirect: number | undefined;
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
        redirect = REDIRECTS.includes(answer.status) && asked.showRedirects !== true ? answer.status : undefined;
        if (redirect !== undefined) throw new Error(`status ${redirect}`);
        return { status: answer.status, headers: Object.fromEntries(answer.headers), body };
      } catch (cause) {
        asked.signal.throwIfAborted();
        const cut = isAnswered ? 'it was cut off' : 'none came';
        const shown = `it was a redirect (${redirect}), which is never followed; showRedirects makes it an answer`;
        const why = redirect !== undefined ? shown : late.aborted ? 'it came too late' : cut;
        throw new ProviderError('unavailable', `no whole answer from ${new URL(asked.url).host}: ${why}`, { cause });
      }
    },
  };
}
