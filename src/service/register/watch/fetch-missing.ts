/** Fetches monitored companies that the register has not sent (queue `ask`). */

import { parseEntityId } from '../../../protocol/entity-id.ts';
import { backoff } from '../../../runtime/backoff.ts';
import { type Claim, mark, type Settlement, settleAll } from '../../../runtime/lanes/lanes.ts';
import { readValue } from '../../../store/kv.ts';
import type { Db, Tx } from '../../../store/store.ts';
import { ASK_QUEUE } from '../../names/queues.ts';
import { type RegisterSource, SourceError } from '../source/source.ts';
import { ingestPage, type WatchDeps } from './ingest-page.ts';
import { AGAIN_MS, cursorKey, LeaseLost } from './watch-page.ts';

/** A large document has 500 KB. */
export const ASK_BATCH = 50;
const MOST_BACKOFF_MS = 15 * 60_000;

/** Requests a company, known or not. Ring `ask` after the commit. */
export const requestCompany = (tx: Tx, entity: string, now: number): Promise<void> =>
  mark(tx, ASK_QUEUE, [entity], now);

/** An unanswered request for a company, with the last error. */
export const findRequest = (db: Db, entity: string): Promise<{ readonly error: string | null } | undefined> =>
  db
    .selectFrom('lane')
    .select('error')
    .where('queue', '=', ASK_QUEUE)
    .where('key', '=', entity)
    .where('parked_at', 'is', null)
    .executeTakeFirst();

/** How to ask again for a partly served company: each time after twice the wait, for a day. */
const AGAIN_BACKOFF = { baseMs: AGAIN_MS, capMs: 4 * 3_600_000 };
const AGAIN_FOR_MS = 24 * 3_600_000;

/**
 * Ingests the documents of the claims' companies like a page, source by source, and settles the claims. An unknown
 * company arrives in a page once it is founded. An outage of one source postpones only that source. A partly served
 * company is asked for again for a day.
 */
export async function fetchMissing(
  deps: WatchDeps,
  sources: readonly RegisterSource[],
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const { store, now, log } = deps;
  const settle = async (tx: Tx, settlementOf: (claim: Claim) => Settlement): Promise<void> => {
    const held = await settleAll(
      tx,
      claims.map((claim) => [claim, settlementOf(claim)]),
    );
    if (held.size < claims.length) throw new LeaseLost();
  };
  const numbers = claims.flatMap(({ key }) => parseEntityId(key)?.number ?? []);
  const failures: SourceError[] = [];
  const behind = new Set<string>();
  const settlementOf = ({ key, attempts, since }: Claim): Settlement =>
    behind.has(key) && now() - since < AGAIN_FOR_MS
      ? { kind: 'again', at: now() + backoff(attempts + 1, AGAIN_BACKOFF), error: BEHIND }
      : { kind: 'done' };
  for (const source of sources) {
    try {
      const cursor = await readValue(store.db, cursorKey(source));
      const { documents, again = [] } = (await source.find?.(numbers, signal, cursor)) ?? { documents: [] };
      for (const entity of again) behind.add(entity);
      const isLast = source === sources.at(-1) && failures.length === 0;
      await ingestPage(deps, documents, {
        claims,
        broken: [],
        families: source.families,
        origin: source.origin,
        begin: isLast ? (tx) => settle(tx, settlementOf) : async () => {},
      });
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      failures.push(error);
    }
  }
  const [failure] = failures;
  if (failure === undefined) return;
  const attempts = Math.max(...claims.map((claim) => claim.attempts)) + 1;
  const retryAfterMs = Math.max(0, ...failures.map((each) => each.retryAfterMs ?? 0));
  const wait = Math.max(retryAfterMs, backoff(attempts, { capMs: MOST_BACKOFF_MS }));
  log.warn({ err: failure, companies: claims.length, waitMs: wait }, 'the register cannot be asked now: trying again');
  const later: Settlement = { kind: 'again', at: now() + wait, error: failure.message.slice(0, 500) };
  await store.write((tx) => settle(tx, () => later));
}

const BEHIND = 'the register does not serve all of the company yet';
