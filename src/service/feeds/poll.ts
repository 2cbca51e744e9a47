/** What polls of news sources share: dependencies, stored state, and the end of a poll. */

import type { Metrics } from '../../http/metrics.ts';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { retryAfterMs } from '../../http/outbound/retry-after.ts';
import { backoff } from '../../runtime/backoff.ts';
import { type Claim, settle } from '../../runtime/lanes/lanes.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import type { Change } from '../changes/change.ts';
import { SourceError } from '../register/source/source.ts';

/** The longest wait that a source can ask for. */
const LONGEST_WAIT_MS = 6 * 3_600_000;

export interface NoticeDeps<Settings> {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly now: () => number;
  readonly log: { warn(details: object, message: string): void };
  readonly metrics?: Pick<Metrics, 'articles'>;
  /** Publishes in the transaction that stores the new state. */
  publish(tx: Tx, changes: readonly Change[]): Promise<void>;
  ring(): void;
  readonly settings: Settings;
}

export const pollTask =
  <Deps extends NoticeDeps<{ readonly pollSeconds: number }>>(
    deps: Deps,
    poll: (deps: Deps, signal: AbortSignal, claims: readonly Claim[]) => Promise<void>,
  ) =>
  (claim: Claim, signal: AbortSignal): Promise<void> =>
    runPoll(deps, claim, () => poll(deps, signal, [claim]));

/** Polls once and settles the claim, for the next poll or for a retry. */
async function runPoll(
  deps: NoticeDeps<{ readonly pollSeconds: number }>,
  claim: Claim,
  poll: () => Promise<void>,
): Promise<void> {
  const { store, now, log, settings } = deps;
  try {
    await poll();
    const at = now() + settings.pollSeconds * 1_000;
    await store.write((tx) => settle(tx, claim, { kind: 'again', at, fresh: true }));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const wait = Math.max(error.retryAfterMs ?? 0, backoff(claim.attempts + 1, { baseMs: 30_000, capMs: 3_600_000 }));
    log.warn({ err: error, inMs: wait }, `${claim.key} cannot be read: trying again`);
    await store.write((tx) => settle(tx, claim, { kind: 'again', at: now() + wait, error: error.message }));
  }
}

/** Throws {@link SourceError} for an unwanted answer; `what` begins the message. */
export function refuse(
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  what: string,
  now: number,
): never {
  const asked = retryAfterMs(answer.headers['retry-after'], now);
  throw new SourceError(`${what} was answered with ${answer.status}`, {
    retryAfterMs: asked && Math.min(asked, LONGEST_WAIT_MS),
  });
}

export async function readState(db: Db, key: string): Promise<unknown> {
  const stored = await readValue(db, key);
  return stored === undefined ? undefined : JSON.parse(stored);
}

export const writeState = (tx: Tx, key: string, state: unknown, now: number): Promise<void> =>
  writeValue(tx, key, JSON.stringify(state), now);
