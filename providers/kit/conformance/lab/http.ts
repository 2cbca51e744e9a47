/** A real {@link Http} for tests: one deadline over the whole answer, no redirects, no rate limit, every call counted. */
import { request } from 'undici';
import { type Http, type HttpRequest, ProviderError } from '../../../provider.ts';

export interface TestHttp {
  readonly http: Http;
  readonly requests: readonly HttpRequest[];
  /** Gives the next call only this long, in ms. */
  hurry(forMs: number): void;
  /** From now on changes the answers to calls that match `METHOD /path`, before the provider gets them. */
  alter(match: string, change: (body: string) => string): void;
  /** Acts right before the next matching call leaves, as somebody in the CRM might; returns whether it did. */
  meet(fits: (request: HttpRequest) => boolean, act: () => void): () => boolean;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** `deadlineMs` ends a call whose whole answer has not arrived by then. */
export function openTestHttp(deadlineMs = 5_000): TestHttp {
  const requests: HttpRequest[] = [];
  let nextMs: number | undefined;
  const met: { readonly fits: (request: HttpRequest) => boolean; readonly act: () => void; isDone: boolean }[] = [];
  const altered: { readonly match: RegExp; readonly change: (body: string) => string }[] = [];
  const alterBody = ({ method, url }: HttpRequest, body: string): string =>
    altered
      .filter(({ match }) => match.test(`${method} ${new URL(url).pathname}`))
      .reduce((text, { change }) => change(text), body);
  return {
    requests,
    hurry: (forMs) => {
      nextMs = forMs;
    },
    alter: (match, change) => void altered.push({ match: new RegExp(match), change }),
    meet(fits, act) {
      const one = { fits, act, isDone: false };
      met.push(one);
      return () => one.isDone;
    },
    http: async (asked) => {
      requests.push(asked);
      asked.signal.throwIfAborted();
      for (const one of met.filter(({ fits, isDone }) => !isDone && fits(asked))) {
        one.isDone = true;
        one.act();
      }
      const late = nextMs === undefined ? AbortSignal.timeout(asked.timeoutMs ?? deadlineMs) : lateAfter(nextMs);
      nextMs = undefined;
      let why = 'none came';
      try {
        const answer = await request(asked.url, {
          method: asked.method,
          headers: { ...asked.headers },
          ...(asked.body !== undefined && { body: asked.body }),
          signal: AbortSignal.any([asked.signal, late]),
        });
        const { statusCode: status } = answer;
        why = 'it was cut off';
        const body = alterBody(asked, await answer.body.text());
        if (!REDIRECTS.includes(status) || asked.showRedirects === true)
          return { status, headers: joined(answer.headers), body };
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

const joined = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));

/** Turns of the event loop in which a sent request reaches a server of this process. */
const ROUNDS = 20;

/**
 * Aborts after a time, and after this process has handled what was waiting: on a busy machine the fake might otherwise
 * not have seen the call yet, and would hang at the next one.
 */
function lateAfter(ms: number): AbortSignal {
  const late = new AbortController();
  const end = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) await new Promise((resolve) => setImmediate(resolve));
    late.abort();
  };
  setTimeout(() => void end(), ms);
  return late.signal;
}
