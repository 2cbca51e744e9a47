import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '../../http/server/error.ts';
import { createSharedCallLimit } from '../../http/server/shared-call-limit.ts';
import type { Store } from '../../store/store.ts';
import { findKey, type Scope, touchKey } from '../keys/keys.ts';

/** The parts of a request that can hold an API key; Fastify requests have them. */
export interface Asking {
  readonly query: unknown;
  readonly headers: IncomingHttpHeaders;
}

export interface Caller {
  readonly keyId: string;
}

export interface Access {
  /**
   * Identifies the caller and counts the call. Throws HttpError: 400 for two different keys, 401 without a valid one,
   * 403 without the scope, 429 over the limit.
   */
  check(request: Asking, scope: Scope): Promise<Caller>;
  /** As `check`, for a key from elsewhere. */
  checkKey(key: string, scope: Scope): Promise<Caller>;
  /**
   * As `check`, as an `onRequest` hook. It runs before parsing, so an unknown caller learns nothing from errors in
   * the request.
   */
  guard(scope: Scope): (request: Asking) => Promise<void>;
  caller(request: Asking): Caller;
}

export interface AccessOptions {
  readonly store: Store;
  /** The calls of a key in a minute, over all daemons on the store. */
  readonly requestsPerMinute: number;
  readonly now: () => number;
  readonly log?: { warn(detail: object, message: string): void };
}

const KEY_NAME = 'accesskey';
const KEY_HEADER = 'x-access-key';
const TOUCHED_EVERY_MS = 60_000;
/** How long a key is cached. A revoked key may work for this long. */
const KNOWN_FOR_MS = 1_000;

/**
 * Checks API keys, their scopes and the number of their calls. Reads the key from the query as `accesskey`, in any
 * case, or from the header `x-access-key`. A key's limit holds for a fixed window of a minute that begins with its
 * first call. No error contains the key.
 */
export function createAccess({ store, requestsPerMinute, now, log }: AccessOptions): Access {
  const known = new Map<string, { readonly id: string; readonly scopes: readonly Scope[]; readonly until: number }>();
  const window = createSharedCallLimit({ store, name: 'api', limit: requestsPerMinute, now });
  const touched = new Map<string, number>();
  const callers = new WeakMap<Asking, Caller>();

  async function find(key: string): Promise<{ readonly id: string; readonly scopes: readonly Scope[] }> {
    const at = now();
    const kept = known.get(key);
    if (kept !== undefined && at < kept.until && at >= kept.until - KNOWN_FOR_MS) return kept;
    const found = await findKey(store.db, key);
    if (found === undefined) {
      known.delete(key);
      throw new HttpError(401, 'The access key is not known or was revoked.');
    }
    known.set(key, { ...found, until: at + KNOWN_FOR_MS });
    return found;
  }

  async function count(id: string): Promise<void> {
    const retryAfter = await window(id);
    if (retryAfter === undefined) return;
    const limit = `The limit of ${requestsPerMinute} calls a minute is reached`;
    throw new HttpError(429, `${limit}: come again in ${retryAfter} s.`, { retryAfter });
  }

  /** In the background, so that the caller does not wait for the store's one writer. */
  function touch(id: string): void {
    const at = now();
    if (at - (touched.get(id) ?? Number.NEGATIVE_INFINITY) < TOUCHED_EVERY_MS) return;
    touched.set(id, at);
    store
      .write((tx) => touchKey(tx, id, at))
      .catch((err) => log?.warn({ err, key: id }, 'could not note that an API key was used'));
  }

  async function checkKey(key: string, scope: Scope): Promise<Caller> {
    const { id, scopes } = await find(key);
    await count(id);
    touch(id);
    if (!scopes.includes(scope))
      throw new HttpError(403, `The access key has not the scope ${scope}: an operator makes one that has.`);
    return { keyId: id };
  }

  const check = async (request: Asking, scope: Scope): Promise<Caller> => checkKey(keyOf(request), scope);

  return {
    check,
    checkKey,
    guard: (scope) => async (request) => {
      callers.set(request, await check(request, scope));
    },
    caller(request) {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error('a route asks who calls, and has no guard');
      return caller;
    },
  };
}

function keyOf({ query, headers }: Asking): string {
  const inQuery = Object.entries(query ?? {})
    .filter(([name]) => name.toLowerCase() === KEY_NAME)
    .flatMap(([, value]: [string, unknown]) => value);
  // Node joins repeated headers with a comma.
  const inHeader = [headers[KEY_HEADER] ?? []].flat().flatMap((value) => value.split(',').map((part) => part.trim()));
  const keys = new Set([...inQuery, ...inHeader].filter((value) => typeof value === 'string' && value !== ''));
  const [key] = keys;
  if (keys.size > 1) throw new HttpError(400, 'The request has several access keys, and they differ: send one.');
  if (typeof key === 'string') return key;
  throw new HttpError(401, `Send an access key: in the query as ${KEY_NAME}, or in the header ${KEY_HEADER}.`);
}
