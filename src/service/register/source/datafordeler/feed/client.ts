/** Sends queries to Datafordeler: compressed, limited in size and rate. An answer is complete or refused. */
import type { OutboundHttp, OutboundResponse } from '../../../../../http/outbound/client.ts';
import { HttpFault } from '../../../../../http/outbound/fault.ts';
import { retryAfterMs } from '../../../../../http/outbound/retry-after.ts';
import { isJsonObject, type JsonObject } from '../../../../../protocol/text/json.ts';
import { withoutSlash } from '../../../../../protocol/text/trim.ts';
import { createRateLimiter } from '../../../../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../../../../store/store.ts';
import { SourceError } from '../../source.ts';
import { type DafCredentials, openAccess } from './access.ts';

export interface DafClientOptions extends DafCredentials {
  /** Without a path; the client adds one. */
  readonly graphqlUrl: string;
  readonly requestsPerSecond: number;
  readonly http: OutboundHttp;
  /** Holds the rate limit that all processes share. */
  readonly store: Store;
  readonly now: () => number;
}

/** Datafordeler does not have this root field, or refuses it to this user. */
export class RootRefused extends Error {
  override readonly name = 'RootRefused';
}

/** The query names a column that the schema does not have. */
export class ColumnMissing extends Error {
  override readonly name = 'ColumnMissing';
  readonly column: string;
  constructor(column: string) {
    super(`Datafordeler has no column ${column}`);
    this.column = column;
  }
}

/** The answer came late or was too large, or the server failed: a smaller query may succeed. */
export class TooMuch extends SourceError {}

/** Datafordeler refuses the key or the token for any query. */
class CredentialsRefused extends SourceError {
  constructor(root: string, answer: string | number) {
    super(`Datafordeler refuses ${root} (${answer}): check service.register.apiKey or oauth, and when the key ends`, {
      retryAfterMs: 60_000,
    });
  }
}

export interface DafClient {
  /**
   * Returns the content of the root field. Throws {@link SourceError}, {@link RootRefused} or {@link ColumnMissing}.
   */
  ask(root: string, query: string, variables: JsonObject, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

const VERSION = '/CVR/v2';
/** Some answers take 18 seconds or more. */
const DEADLINE_MS = 120_000;
const LONGEST_WAIT_MS = 3_600_000;
const SHOWN = 200;

/** How two kinds of GraphQL servers report a missing column. */
const NO_COLUMN = /field [`'"](\w+)[`'"] (?:does not exist )?on (?:the )?type/i;

export function openDafClient(options: DafClientOptions): DafClient {
  const { http, now, store } = options;
  const access = openAccess(options, { http, now });
  const rateLimiter = createRateLimiter({
    store,
    key: 'datafordeler',
    budgets: { query: { calls: options.requestsPerSecond * 10, perMs: 10_000 } },
    now,
  });
  const address = `${withoutSlash(options.graphqlUrl)}${VERSION}`;

  async function send(body: string, signal: AbortSignal): Promise<OutboundResponse> {
    await rateLimiter.acquire('query', signal);
    const { url, headers } = await access.sign(address, signal);
    const all = {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'gzip',
    };
    try {
      return await http({ method: 'POST', url, headers: all, body, signal, timeoutMs: DEADLINE_MS });
    } catch (error) {
      if (!(error instanceof HttpFault) || error.kind === 'aborted') throw error;
      const isTooMuch = error.kind === 'timeout' || error.kind === 'too-large';
      // Not the error itself: its cause could hold the URL with the key.
      const cause = new HttpFault(error.kind, error.message);
      throw new (isTooMuch ? TooMuch : SourceError)(`Datafordeler: ${error.message}`, { cause });
    }
  }

  async function askOnce(root: string, body: string, signal: AbortSignal): Promise<unknown> {
    const answer = await send(body, signal);
    refuse(answer, root, now());
    return dataIn(answer.body, root, access.hide);
  }

  return {
    async ask(root, query, variables, signal) {
      const body = JSON.stringify({ query, variables });
      try {
        return await askOnce(root, body, signal);
      } catch (error) {
        if (!(error instanceof CredentialsRefused) || options.oauth === undefined) throw error;
        // The token may have ended early.
        access.forget();
        return askOnce(root, body, signal);
      }
    },
    close: () => access.close(),
  };
}

/** Throws unless the status is 200 or 400, whose body explains errors. */
function refuse({ status, headers }: OutboundResponse, root: string, now: number): void {
  if (status === 200 || status === 400) return;
  if (status === 401) throw new CredentialsRefused(root, status);
  if (status === 403) throw new RootRefused(`Datafordeler refuses ${root} (${status})`);
  const asked = retryAfterMs(headers['retry-after'], now);
  const waits = { retryAfterMs: asked && Math.min(asked, LONGEST_WAIT_MS) };
  if (status === 429) throw new SourceError('Datafordeler answered 429: too many requests', waits);
  if (status >= 500) throw new TooMuch(`Datafordeler answered ${root} with ${status}`, waits);
  throw new SourceError(`Datafordeler answered ${status}, check service.register.graphqlUrl`, { retryAfterMs: 60_000 });
}

function dataIn(body: string, root: string, masked: (text: string) => string): unknown {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new SourceError('Datafordeler answered with JSON that is cut or broken');
  }
  const { data, errors } = isJsonObject(json) ? json : {};
  if (Array.isArray(errors) && errors.length > 0) throw errorOf(errors[0], root, masked);
  const found = isJsonObject(data) ? data[root] : undefined;
  if (!isJsonObject(found)) throw new SourceError(`Datafordeler answered ${root} with nothing`);
  return found;
}

function errorOf(error: unknown, root: string, masked: (text: string) => string): Error {
  const { message, extensions } = isJsonObject(error) ? error : {};
  const text = masked(typeof message === 'string' ? message : 'an error without a message').slice(0, SHOWN);
  const code = masked(isJsonObject(extensions) ? String(extensions['code'] ?? '') : '').slice(0, SHOWN);
  const [, column = ''] = NO_COLUMN.exec(text) ?? [];
  if (column === root) return new RootRefused(`Datafordeler has no ${root}`);
  if (column !== '') return new ColumnMissing(column);
  if (/UNAUTHENTICATED|NOT_AUTHENTICATED/i.test(code)) return new CredentialsRefused(root, code);
  if (/^AUTH|FORBIDDEN|UNAUTH/i.test(code)) return new RootRefused(`Datafordeler refuses ${root} (${code})`);
  return new SourceError(`Datafordeler answered ${root} with an error${code === '' ? '' : ` ${code}`}: ${text}`);
}
