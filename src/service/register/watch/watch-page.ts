/** Reads one page from the source and ingests it together with its cursor. After a crash the page comes again. */

import { backoff } from '../../../runtime/backoff.ts';
import { mark, settle } from '../../../runtime/lanes/lanes.ts';
import type { Claim, Settlement } from '../../../runtime/lanes/settlement.ts';
import { readValue, writeValue } from '../../../store/kv.ts';
import type { Db } from '../../../store/store.ts';
import { inSpan } from '../../../telemetry/trace.ts';
import { ASK_QUEUE } from '../../names/queues.ts';
import { type RegisterSource, SourceError, type SourcePage, withDigest, withText } from '../source/source.ts';
import { ingestPage, WATCH_QUEUE, type WatchDeps } from './ingest-page.ts';
import { familiesOf } from './origins/origins.ts';
import { clearAhead, nextAhead, readAhead } from './snapshots.ts';

/** Works on one lane of the queue `watch`, and settles its claim. */
export type WatchTask = (claim: Claim, signal: AbortSignal) => Promise<void>;

export const cursorKey = (source: Pick<RegisterSource, 'name'>): string => `cursor:${source.name}`;

/** The key that requests a sweep of a source; its next page begins one. */
export const sweepKey = (source: Pick<RegisterSource, 'name'>): string => `sweep:${source.name}`;

/** Documents to reread per run, and the longest sleep of the lane, because the clock may be changed. */
const AHEAD_BATCH = 100;
const AHEAD_IDLE_MS = 3_600_000;
/** When to ask again for partly served companies. */
export const AGAIN_MS = 15 * 60_000;
export const MOST_BACKOFF_MS = 5 * 60_000;

export const readLane = (db: Db, { name }: Pick<RegisterSource, 'name'>) =>
  db
    .selectFrom('lane')
    .select(['error', 'since'])
    .where('queue', '=', WATCH_QUEUE)
    .where('key', '=', name)
    .executeTakeFirst();

/** Reads and ingests the page after the stored cursor. An outage of the source postpones the lane, without limit. */
export const watchPage = (deps: WatchDeps, source: RegisterSource, run: PageRun): Promise<void> =>
  inSpan(
    'register',
    () => ({ kind: 'lane', attributes: { 'cvrsync.source': source.name } }),
    () => readPage(deps, source, run),
  );

interface PageRun {
  readonly claim: Claim;
  readonly signal: AbortSignal;
  readonly pollMs: number;
}

async function readPage(deps: WatchDeps, source: RegisterSource, { claim, signal, pollMs }: PageRun): Promise<void> {
  const { store, now, log } = deps;
  const cursor = await readValue(store.db, cursorKey(source));
  const isAsked = cursor !== undefined && (await readValue(store.db, sweepKey(source))) !== undefined;
  let page: SourcePage;
  try {
    page = await source.page(isAsked ? (source.sweep?.(cursor) ?? cursor) : cursor, signal);
    await ingestNextPage(deps, source, page, { claim, pollMs, beginsSweep: isAsked });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const wait = Math.max(error.retryAfterMs ?? 0, backoff(claim.attempts + 1, { capMs: MOST_BACKOFF_MS }));
    log.warn({ err: error, source: source.name, waitMs: wait }, 'the register cannot be read now: trying again');
    const settlement: Settlement = { kind: 'again', at: now() + wait, error: error.message.slice(0, 500) };
    await store.write((tx) => settle(tx, claim, settlement));
    return;
  }
  if (page.trouble !== undefined)
    log.warn({ source: source.name, trouble: page.trouble }, 'a part of the register cannot be read now: trying again');
  if (page.more) deps.wakeUp.ring(WATCH_QUEUE);
}

async function ingestNextPage(
  deps: WatchDeps,
  source: RegisterSource,
  page: SourcePage,
  { claim, pollMs, beginsSweep }: Pick<PageRun, 'claim' | 'pollMs'> & { readonly beginsSweep: boolean },
): Promise<void> {
  const { now } = deps;
  const settlement: Settlement = { kind: 'again', at: page.more ? now() : now() + pollMs, fresh: true };
  await ingestPage(deps, page.documents, {
    claims: [claim],
    broken: page.broken ?? [],
    families: source.families,
    origin: source.origin,
    async begin(tx) {
      if (!(await settle(tx, claim, settlement))) throw new LeaseLost();
      await writeValue(tx, cursorKey(source), page.cursor, now());
      const again = page.again ?? [];
      if (again.length > 0) await mark(tx, ASK_QUEUE, again, now() + AGAIN_MS);
      if (beginsSweep) await tx.deleteFrom('kv').where('key', '=', sweepKey(source)).execute();
    },
  });
}

/** Rereads the documents in which a day has come; those of one origin at a time. */
export async function watchAhead(deps: WatchDeps, claim: Claim): Promise<void> {
  const { store, now } = deps;
  const all = await readAhead(store.db, now(), AHEAD_BATCH);
  const [first] = all;
  if (first === undefined) {
    const next = (await nextAhead(store.db)) ?? Number.POSITIVE_INFINITY;
    const at = Math.min(next, now() + AHEAD_IDLE_MS);
    await store.write((tx) => settle(tx, claim, { kind: 'again', at, fresh: true }));
    return;
  }
  const { origin } = first;
  const due = all.filter((each) => each.origin === origin);
  const documents = due.map(({ ahead, digest }) => {
    const text = ahead ?? 'null';
    return withDigest(withText(JSON.parse(text), text), digest);
  });
  await ingestPage(deps, documents, {
    again: true,
    claims: [claim],
    broken: [],
    families: familiesOf(origin),
    origin,
    async begin(tx) {
      if (!(await settle(tx, claim, { kind: 'again', at: now(), fresh: true }))) throw new LeaseLost();
      const entities = due.map(({ entity }) => entity);
      await clearAhead(tx, { origin, entities }, now());
    },
  });
  deps.wakeUp.ring(WATCH_QUEUE);
}

/** Another process took the lane while the page was read; nothing was stored. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor() {
    super('the lane went to another process while its page was read: that one goes on');
  }
}
