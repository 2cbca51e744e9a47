/** Sends the desired state of links upstream and stores the observed state; a failed call is always retried. */
import { sql } from 'kysely';
import type { Metrics } from '../../http/metrics.ts';
import { backoff } from '../../runtime/backoff.ts';
import { untilDone } from '../../runtime/housekeeping/prune.ts';
import { type Claim, held, mark, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import { leaseOf } from '../../runtime/lanes/lease.ts';
import {
  beginWrites,
  type EndedWrite,
  type PendingWrite,
  pendingUnder,
  readPendingWrites,
  settleWrites,
} from '../../runtime/lanes/pending-writes.ts';
import { each } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import { hasNoRow } from '../../store/has-row.ts';
import type { Store, Tx } from '../../store/store.ts';
import { guardOf, type LostLeaseDeps, reportLostLeases } from '../crm/lost-lease.ts';
import { withSendGuard } from '../crm/send-guard.ts';
import { findLink, type Link } from '../links/links.ts';
import { linkKey, MONITORING_QUEUE, readLinkKey } from '../names/queues.ts';
import type { Upstream, UpstreamResult } from './upstream.ts';

export const MONITORING_BATCH = 64;

export interface MonitoringDeps {
  readonly store: Store;
  /** Undefined without a configured service: links are stored here only. */
  readonly upstream: Upstream | undefined;
  readonly now: () => number;
  readonly log?: LostLeaseDeps['log'];
  readonly metrics?: Pick<Metrics, 'sentAfterLeaseLost' | 'attempts' | 'leaseLost'>;
  /** Parallel calls; default 16. At the usual 500 calls a minute, a service may take 2 s to answer. */
  readonly concurrency?: number;
}

/** Undefined if upstream has confirmed the desired state. */
export function dueCall(link: Pick<Link, 'desired' | 'observed' | 'send_update'>): 'add' | 'remove' | undefined {
  if (link.desired === 'on') return link.observed !== 'on' || link.send_update === 1 ? 'add' : undefined;
  return link.observed === 'on' || link.observed === 'unknown' ? 'remove' : undefined;
}

interface CallResult {
  readonly claim: Claim;
  readonly isUnsent?: boolean;
  readonly link?: Link;
  readonly call?: 'add' | 'remove';
  readonly result: UpstreamResult;
}

/**
 * Makes the due calls, a few at a time; each group is settled before the next. The calls are idempotent, so a call that
 * a crash or signal cut off is repeated. Once the account is paused, the rest waits without a call.
 */
export async function monitorLinks(deps: MonitoringDeps, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
  const { concurrency = 16 } = deps;
  for (let start = 0; start < claims.length; start += concurrency) {
    signal.throwIfAborted();
    const some = claims.slice(start, start + concurrency);
    const begun = await beginCalls(deps, some);
    const ends = await Promise.allSettled(
      some.map((claim) => callUpstream(deps, claim, begun.uncertain.has(claim.key), signal)),
    );
    const results = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    await recordResults(deps, results, begun.writes);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const paused = results.map(({ result }) => result).find(({ kind }) => kind === 'rate' || kind === 'auth');
    if (paused === undefined) continue;
    const rest = claims.slice(start + concurrency).map((claim) => ({ claim, result: paused }));
    return recordResults(deps, rest, []);
  }
}

/**
 * Stores which calls are about to be made. `uncertain`: a call that another process began may still arrive, or have
 * arrived, so the observed state no longer counts.
 */
async function beginCalls(
  { store, now }: MonitoringDeps,
  claims: readonly Claim[],
): Promise<{ readonly writes: readonly PendingWrite[]; readonly uncertain: ReadonlySet<string> }> {
  const keys = claims.map(({ key }) => key);
  const open = await readPendingWrites(store.db, MONITORING_QUEUE, keys);
  const at = now();
  const writes = await store.write(async (tx) => {
    const ours = await held(tx, claims);
    const begun = claims.filter(({ key }) => ours.has(key)).map((claim) => pendingUnder(claim, at, {}));
    await beginWrites(tx, begun);
    return begun;
  });
  return { writes, uncertain: new Set(open.map(({ key }) => key)) };
}

async function callUpstream(
  { store, upstream, now }: MonitoringDeps,
  claim: Claim,
  isUncertain: boolean,
  signal: AbortSignal,
): Promise<CallResult> {
  const done = { kind: 'done' } as const;
  const link = await findLink(store.db, readLinkKey(claim.key));
  const call = link === undefined ? undefined : dueCall(isUncertain ? { ...link, observed: 'unknown' } : link);
  if (link === undefined || call === undefined || upstream === undefined)
    return { claim, result: done, isUnsent: true };
  const item = { entityId: link.entity, id: link.record_id };
  const lease = leaseOf(store, [claim], now);
  const result = await withSendGuard(guardOf(lease), () =>
    call === 'add'
      ? upstream.add(item, link.send_update === 1, link.provider, signal)
      : upstream.remove(item, link.provider, signal),
  );
  return { claim, link, call, result, isUnsent: lease.isUnsent };
}

async function recordResults(
  deps: MonitoringDeps,
  results: readonly CallResult[],
  begun: readonly PendingWrite[],
): Promise<void> {
  if (results.length === 0) return;
  const { store, now, metrics } = deps;
  const at = now();
  const resultFor = new Map(results.map((result) => [result.claim.key, result]));
  const { keys: ours, overtaken } = await store.write(async (tx) => {
    const keys = await settleAll(
      tx,
      results.map(({ claim, result }) => [claim, settlementOf(result, claim, at)]),
    );
    for (const result of results) if (keys.has(result.claim.key)) await recordAnswer(tx, result, at);
    const ended = begun.flatMap((write): EndedWrite[] => {
      const result = resultFor.get(write.key);
      const isOurs = keys.has(write.key);
      return result === undefined ? [] : [{ write, isOurs, end: result.isUnsent === true ? 'unsent' : 'answered' }];
    });
    const overtaken = await settleWrites(tx, ended, at);
    // The other process's confirmation may be outdated: ask again.
    for (const key of overtaken) await forgetConfirmation(tx, resultFor.get(key)?.link, at);
    return { keys, overtaken };
  });
  for (const { result } of results) metrics?.attempts.inc({ queue: MONITORING_QUEUE, result: result.kind });
  reportLostLeases(deps, MONITORING_QUEUE, { lost: results.length - ours.size, sent: overtaken.size });
}

/** An outage never parks a lane; a refusal does. */
function settlementOf(result: UpstreamResult, { attempts }: Claim, now: number): Settlement {
  switch (result.kind) {
    case 'done':
      return { kind: 'done' };
    case 'refused':
      return { kind: 'parked', at: now, error: result.message };
    case 'rate':
    case 'auth':
      return { kind: 'again', at: now + result.retryAfterMs, error: result.message, free: true };
    case 'unavailable':
      return { kind: 'again', at: now + backoff(attempts + 1), error: result.message };
  }
}

async function forgetConfirmation(tx: Tx, link: Link | undefined, at: number): Promise<void> {
  if (link === undefined) return;
  await tx
    .updateTable('link')
    .set({ observed: 'unknown', updated_at: at })
    .where('provider', '=', link.provider)
    .where('record_id', '=', link.record_id)
    .where('observed', 'in', ['on', 'off'])
    .execute();
}

/** Stores what upstream did, even if the desired state has changed since: then the lane runs again. */
async function recordAnswer(tx: Tx, { link, call, result }: CallResult, at: number): Promise<void> {
  if (link === undefined || call === undefined || result.kind === 'rate' || result.kind === 'auth') return;
  const isAdd = call === 'add';
  let change: Partial<Link>;
  if (result.kind === 'done') {
    const sent = isAdd && link.send_update === 1;
    change = {
      observed: isAdd ? 'on' : 'off',
      observed_at: at,
      observed_error: null,
      ...(sent && { send_update: 0 }),
    };
  } else if (result.kind === 'refused') {
    // Neither a refused update nor a refused removal ends the monitoring.
    const observed = isAdd && link.observed !== 'on' ? 'refused' : link.observed;
    const [observed_error = null] = await redactTexts(tx, [result.message]);
    change = { observed, observed_at: at, observed_error };
  } else {
    // The call may have succeeded, so the observed state is uncertain.
    change = { observed: isAdd && link.observed === 'on' ? 'on' : 'unknown' };
  }
  await tx
    .updateTable('link')
    .set({ ...change, updated_at: at })
    .where('provider', '=', link.provider)
    .where('record_id', '=', link.record_id)
    .where('entity', '=', link.entity)
    .execute();
}

const REMARKED = 1_000;

/** Repeats the condition of the index `link_unconfirmed`, without parameters; otherwise no engine uses it. */
const UNCONFIRMED = sql<boolean>`observed_error is null
  and (desired = 'on' and (observed in ('unknown', 'off') or send_update = 1)
    or desired = 'off' and observed in ('unknown', 'on'))`;

/**
 * Marks up to 1,000 links without a lane whose desired state upstream has not confirmed: after an upstream was
 * configured, or work was lost. Refused links are left to people. Returns the number marked; 1,000 means that more may
 * be left.
 */
export async function markUnconfirmed(tx: Tx, now: number): Promise<number> {
  const links = await tx
    .selectFrom('link')
    .select(['provider', 'record_id'])
    .where(UNCONFIRMED)
    .where(({ selectFrom }) =>
      hasNoRow(
        selectFrom('lane')
          .select('key')
          .where('queue', '=', MONITORING_QUEUE)
          .where('key', '=', sql<string>`link.provider || ':' || link.record_id`),
      ),
    )
    .orderBy('provider')
    .orderBy('record_id')
    .limit(REMARKED)
    .execute();
  const keys = links.map((link) => linkKey(link.provider, link.record_id));
  if (keys.length > 0) await mark(tx, MONITORING_QUEUE, keys, now);
  return keys.length;
}

/** Retries refused links of connections that have a job by now. */
export async function retryRefused(store: Store, providers: readonly string[], now: () => number): Promise<void> {
  for (const provider of providers) while ((await store.write((tx) => retrySome(tx, provider, now()))) === REMARKED);
}

async function retrySome(tx: Tx, provider: string, now: number): Promise<number> {
  const links = await tx
    .selectFrom('link')
    .select('record_id')
    .where('provider', '=', provider)
    .where('observed', '=', 'refused')
    .where('desired', '=', 'on')
    .orderBy('record_id')
    .limit(REMARKED)
    .execute();
  const ids = links.map(({ record_id }) => record_id);
  if (ids.length === 0) return 0;
  await mark(
    tx,
    MONITORING_QUEUE,
    ids.map((id) => linkKey(provider, id)),
    now,
  );
  await tx
    .updateTable('link')
    .set({ observed: 'unknown', observed_error: null, updated_at: now })
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, ids))
    .where('observed', '=', 'refused')
    .execute();
  return ids.length;
}

/** In short transactions, so that others can write in between. */
export async function markAllUnconfirmed(store: Store, now: () => number, signal: AbortSignal): Promise<void> {
  await untilDone(store, signal, async (tx) => (await markUnconfirmed(tx, now())) === REMARKED);
}
