/** Searches the register's distribution. Answers are compressed, limited in size, and complete or refused. */
import type { OutboundHttp, OutboundResponse } from '../../../http/outbound/client.ts';
import { HttpFault } from '../../../http/outbound/fault.ts';
import { retryAfterMs } from '../../../http/outbound/retry-after.ts';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { withoutSlash } from '../../../protocol/text/trim.ts';
import type { RateLimiter } from '../../../runtime/limits/rate-limiter.ts';
import { type AnswerHit, readAnswer } from './hits.ts';
import { SourceError } from './source.ts';
import { whyPartial } from './whole-answer.ts';

export interface SearchOptions {
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  readonly largestBytes?: number;
  readonly http: OutboundHttp;
  readonly now: () => number;
}

/** The longest wait that the register can ask for. */
const LONGEST_WAIT_MS = 3_600_000;
export const LARGEST = 256 * 1024 * 1024;
const LARGE_DEADLINE_MS = 5 * 60_000;

/** Returns the hits; throws {@link SourceError}. `large`: for one document of any reasonable size. */
export type RegisterSearch = (
  index: string,
  query: object,
  signal: AbortSignal,
  how?: { readonly large?: boolean },
) => Promise<readonly AnswerHit[]>;

/** Returns how many documents a query matches; throws {@link SourceError}. */
export type RegisterCounter = (index: string, query: object, signal: AbortSignal) => Promise<number>;

export function createSearch(
  options: SearchOptions,
  rateLimiter: RateLimiter,
): { readonly search: RegisterSearch; readonly count: RegisterCounter } {
  const authorization = `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`;
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json',
    // Compression shrinks documents to a tenth.
    'accept-encoding': 'gzip',
  };
  const large = { maxBytes: options.largestBytes ?? LARGEST, timeoutMs: LARGE_DEADLINE_MS };
  const ask = async (path: string, query: object, signal: AbortSignal, isLarge = false): Promise<Buffer> => {
    const url = `${withoutSlash(options.baseUrl)}/cvr-permanent/${path}`;
    await rateLimiter.acquire('search', signal);
    const request = { method: 'POST', url, headers, body: JSON.stringify(query), signal, wantBytes: true } as const;
    try {
      return bytesOf(await options.http(isLarge ? { ...request, ...large } : request), options.now());
    } catch (error) {
      if (error instanceof HttpFault && error.kind !== 'aborted')
        throw new SourceError(error.message, { cause: error });
      throw error;
    }
  };
  return {
    search: async (index, query, signal, how = {}) =>
      readHits(await ask(`${index}/_search`, query, signal, how.large === true)),
    count: async (index, query, signal) => readCount(await ask(`${index}/_count`, query, signal)),
  };
}

function bytesOf(answer: OutboundResponse, now: number): Buffer {
  const { status, bytes = Buffer.alloc(0) } = answer;
  if (status === 401 || status === 403) {
    throw new SourceError(
      `the register refused the user name or password (${status}): check service.register.username and password`,
      { retryAfterMs: 60_000 },
    );
  }
  if (status === 429 || status >= 500) {
    const asked = retryAfterMs(answer.headers['retry-after'], now);
    throw new SourceError(`the register answered ${status}${status === 429 ? ': too many requests' : ''}`, {
      retryAfterMs: asked && Math.min(asked, LONGEST_WAIT_MS),
    });
  }
  if (status !== 200) {
    throw new SourceError(
      `the register answered ${status}, check service.register.baseUrl: ${bytes.toString('utf8', 0, 300)}`,
      {
        retryAfterMs: 60_000,
      },
    );
  }
  return bytes;
}

/**
 * The hits of a complete answer. Anything else is an outage, because missing hits must not count as absent documents.
 */
function readHits(bytes: Buffer): readonly AnswerHit[] {
  const { json, hits } = readAnswer(bytes);
  if (hits === undefined) throw new SourceError('the register answered with something that is no search result');
  const why = whyPartial(json);
  if (why !== undefined) throw new SourceError(`the register ${why}`);
  return hits;
}

function readCount(bytes: Buffer): number {
  const { json } = readAnswer(bytes);
  const { count } = isJsonObject(json) ? json : {};
  if (typeof count !== 'number') throw new SourceError('the register answered with something that is no count');
  const why = whyPartial(json);
  if (why !== undefined) throw new SourceError(`the register ${why}`);
  return count;
}
