/** Syncs records that are behind: reads them in the CRM, decides, writes, and remembers. */

import { fieldsOf } from '../../../providers/composed.ts';
import { type Patch, type Property, type PropertyValue, ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { type Claim, held, mark, settleAll } from '../../runtime/lanes/lanes.ts';
import { leaseOf } from '../../runtime/lanes/lease.ts';
import { type PendingWrite, settleWrites } from '../../runtime/lanes/pending-writes.ts';
import { ASIDE, type Store, type Tx } from '../../store/store.ts';
import type { DebugLog } from '../../telemetry/debug-log.ts';
import { inSpan, isTracing } from '../../telemetry/trace.ts';
import type { Crm } from '../crm/crm.ts';
import { guardOf, type LostLeaseDeps, reportLostLeases } from '../crm/lost-lease.ts';
import type { CallPair } from '../crm/send-guard.ts';
import { type FaultSettlement, settleFault } from '../crm/settle.ts';
import type { PropertyMemory } from '../decide/memory.ts';
import { RETURNED } from '../decide/planned.ts';
import { withLeftBehind } from '../decide/refusal.ts';
import { markBlindWrites, type WrittenRecord } from '../edits/due.ts';
import { readMatch } from '../follow/match-property.ts';
import { markContested, mayEnd } from '../follow/safety-limit.ts';
import { forgetUndecided } from '../history/differences.ts';
import {
  changesState,
  type Decided,
  heldRecords,
  rememberStates,
  rememberSynced,
  writeHistory,
  writtenBy,
} from '../history/history.ts';
import { forgetOverwritten, type OverwrittenProperty, rememberOverwritten } from '../history/overwritten.ts';
import { rememberWritten } from '../history/written.ts';
import { readUnsyncedTraces } from '../intake/receipt.ts';
import { endLink } from '../links/links.ts';
import { healQueue } from '../names/queues.ts';
import { endUsedOverrides, type Spent } from '../overrides/override.ts';
import { withRulesInForce } from '../rules/accepted.ts';
import { rememberBatchSize } from '../write/batch-size.ts';
import { readFresh } from '../write/freshness.ts';
import { inHalves, type SmallerReason, writePatches } from '../write/write.ts';
import { type LinkedRecord, loadRecords } from './load.ts';
import { logResults } from './log-results.ts';
import { endOf, type Plan, settleLate } from './pending.ts';
import { type Preparation, type Prepared, patchesOf, prepare } from './prepare.ts';
import { faultyResult, type RecordResult, resultOfObjection, resultOfRead, resultOfWrite } from './record-result.ts';

export interface SyncDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log?: (DebugLog & LostLeaseDeps['log']) | undefined;
  readonly now: () => number;
}

/** After so many failures, a record may be the one that breaks its batch. */
const SUSPECT_AFTER = 3;
/** After so many calls in a row without an answer, the CRM is down. */
const MOST_UNANSWERED = 4;

interface AttemptedBatch {
  readonly schema: ReadonlyMap<string, Property>;
  readonly results: readonly RecordResult[];
  readonly fault?: FaultSettlement | undefined;
}

export async function syncRecords(
  deps: SyncDeps,
  connection: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const crm = await withRulesInForce(deps.store, connection);
  const ids = claims.map(({ key }) => key);
  const links = isTracing() ? await readUnsyncedTraces(deps.store.db, crm.name, ids) : [];
  const attributes = { 'cvrsync.provider': crm.name, 'cvrsync.records': claims.length };
  return inSpan(
    'sync',
    () => ({ kind: 'lane', attributes, links }),
    () => syncClaims(deps, crm, claims, signal),
  );
}

async function syncClaims(deps: SyncDeps, crm: Crm, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
  const others = claims.filter((claim) => claim.attempts < SUSPECT_AFTER);
  if (others.length > 0) await recordResults(deps, crm, await attempt(deps, crm, others, signal));
  await syncSuspects(
    deps,
    crm,
    claims.filter((claim) => claim.attempts >= SUSPECT_AFTER),
    signal,
  );
}

/**
 * Syncs records that often got no answer: either the CRM is down, or one of them breaks every batch. Halving finds it
 * in few calls, and ends if no part gets an answer.
 */
async function syncSuspects(deps: SyncDeps, crm: Crm, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
  const parts = claims.length > 0 ? [claims] : [];
  let unansweredParts = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const attempted = await attempt(deps, crm, part, signal);
    const open = attempted.results.filter((result) => result.unanswered === true).map((result) => result.claim);
    unansweredParts = open.length === part.length ? unansweredParts + 1 : 0;
    const isAway = attempted.fault?.paused === true || unansweredParts >= MOST_UNANSWERED;
    const divides = open.length > 0 && part.length > 1 && !isAway;
    if (divides) parts.push(...inHalves(open));
    await recordResults(deps, crm, {
      ...attempted,
      results: attempted.results.filter((result) => !divides || result.unanswered !== true),
    });
    const { fault } = attempted;
    if (!isAway || fault === undefined) continue;
    const left = parts.splice(0).flat();
    await recordResults(deps, crm, {
      ...attempted,
      results: left.map((claim) => ({ claim, settlement: fault.of(claim) })),
    });
  }
}

async function attempt(
  deps: SyncDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<AttemptedBatch> {
  let schema: AttemptedBatch['schema'] = new Map();
  try {
    schema = await crm.schema(signal);
    return await syncBatch(deps, { crm, schema, claims }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // The CRM may have refused a property that was removed since the schema was read.
    if (error instanceof ProviderError && error.fault === 'refused') crm.forgetSchema();
    const fault = await settleFault(error, crm.rateLimiter, deps.now());
    return { schema, fault, results: claims.map((claim) => faultyResult(claim, fault)) };
  }
}

async function syncBatch(
  { store, metrics, now }: SyncDeps,
  batch: Pick<Preparation, 'crm' | 'schema' | 'claims'>,
  signal: AbortSignal,
): Promise<AttemptedBatch> {
  const { crm, claims } = batch;
  let { schema } = batch;
  const fields = fieldsOf(crm.mapping);
  const keys = claims.map((claim) => claim.key);
  const records = await loadRecords(store.db, { provider: crm.name, ids: keys, fields }, now());
  const match = await readMatch(store, crm, schema, now());
  const last = new Map<string, Prepared>();
  const begun: PendingWrite[] = [];
  const pair: CallPair = { second: undefined };
  let readFrom = 0;
  let isDivided = false;
  let smaller: { readonly size: number; readonly reason: SmallerReason } | undefined;
  const began = now();
  const readAndDecide = async (some: readonly LinkedRecord[]): Promise<readonly Patch[]> => {
    // The CRM may refuse a call for a property whose type has changed.
    if (isDivided) schema = await crm.schema(signal, Math.max(0, now() - began));
    const latest = await prepare({ store, now }, { crm, schema, match, records: some, claims, pair }, signal);
    ({ readFrom, schema } = latest);
    begun.push(...latest.begun);
    for (const each of latest.prepared) last.set(each.record.id, each);
    return patchesOf(latest.prepared);
  };
  const patches = await readAndDecide(records);
  const fresh = readFresh({
    provider: crm.name,
    metrics,
    now,
    pair,
    readFrom: () => readFrom,
    read: (ids) => readAndDecide(records.filter(({ id }) => ids.includes(id))),
  });
  const lease = leaseOf(store, claims, now);
  const written = await writePatches(crm.connection, patches, signal, {
    fresh: { ...fresh, guard: guardOf(lease, fresh.guard) },
    withLeftBehind: (id, refused) => withLeftBehind(last.get(id)?.planned ?? [], refused),
    onDivided() {
      isDivided = true;
      metrics.dividedCalls.inc({ provider: crm.name });
    },
    onSmaller(size, reason) {
      // Another schema may have allowed other values.
      if (reason === 'slow' || isSameSchema(schema, batch.schema)) smaller = { size, reason };
    },
  });
  if (smaller !== undefined) await rememberBatchSize(store, crm.name, { ...smaller, now: now() });
  const failed = [...written.values()].find((each) => each.outcome.kind === 'fault')?.outcome;
  const fault = failed?.kind === 'fault' ? await settleFault(failed.error, crm.rateLimiter, now()) : undefined;
  const resultFor = (claim: Claim): RecordResult => {
    const prepared = last.get(claim.key);
    if (prepared === undefined) return { claim, settlement: { kind: 'done' } };
    const { record, read, planned, objection, asLoaded } = prepared;
    if (!asLoaded) return { claim, settlement: { kind: 'again', at: now(), free: true } };
    if (objection !== undefined) return resultOfObjection({ claim, record }, objection.reason, now());
    if (planned === undefined) return resultOfRead(crm, { claim, record }, read, now());
    return resultOfWrite(crm, { claim, record, planned, schema }, { written: written.get(claim.key), fault }, now());
  };
  const begunOf = Map.groupBy(begun, ({ key }) => key);
  const results = claims.map((claim): RecordResult => {
    const end = endOf(written.get(claim.key), lease);
    return { ...resultFor(claim), begun: (begunOf.get(claim.key) ?? []).map((write) => ({ write, end })) };
  });
  return { schema, results, fault };
}

const isSameSchema = (a: AttemptedBatch['schema'], b: AttemptedBatch['schema']): boolean =>
  a === b || JSON.stringify([...a]) === JSON.stringify([...b]);

/** Stores, in one transaction, the effects of results whose lanes are still ours, and settles the lanes. */
async function recordResults(deps: SyncDeps, crm: Crm, { schema, results }: AttemptedBatch): Promise<void> {
  if (results.length === 0) return;
  const { store, metrics, log } = deps;
  const now = deps.now();
  const resultsOf = (kind: 'contested' | 'moved' | 'gone') => results.filter(({ effect }) => effect?.kind === kind);
  const keysOf = (kind: 'contested' | 'moved') => resultsOf(kind).map(({ claim }) => claim.key);
  const left = resultsOf('gone').flatMap(({ record }) => record?.entity ?? []);
  const { ours, overtaken } = await store.write(async (tx) => {
    // Before the claims: heal locks its lanes, and those of companies, before it marks those of syncs.
    await mark(tx, 'apply', left, now);
    await markContested(tx, crm.name, keysOf('contested'), now);
    // A link follows a merged record only after both records were read.
    await mark(tx, healQueue(crm.name), keysOf('moved'), now);
    const claims = results.map(({ claim }) => claim);
    const keys = await held(tx, claims);
    const live = results.filter((result) => keys.has(result.claim.key));
    const decided = live.flatMap((result) =>
      (result.decided ?? []).filter((each) => belongsInHistory(each, result.record)),
    );
    const happened = live.flatMap((result) => result.happened ?? []);
    const holds = happened.filter(({ rule }) => rule === 'hold').map(({ id }) => id);
    const alreadyHeld = await heldRecords(tx, crm.name, holds);
    const newEvents = happened.filter(({ rule, id }) => rule !== 'hold' || !alreadyHeld.has(id));
    await settleLate(tx, crm, live.flatMap(editsPutBackOf), now);
    await writeHistory(tx, decided, newEvents, now);
    await rememberWritten(
      tx,
      crm.name,
      writtenBy(
        live.flatMap((result) => result.decided ?? []),
        now,
      ),
    );
    await rememberStates(
      tx,
      live.flatMap(({ record, decided = [] }) =>
        decided.filter((each) => changesState(each, record?.remembered.get(each.planned.property))),
      ),
      schema,
      now,
    );
    await forgetUndecided(tx, crm.name, live.flatMap(undecidedPropertiesOf));
    await recordOverwritten(tx, crm, { live, results }, now);
    await endUsedOverrides(tx, crm.name, live.flatMap(usedOverridesOf));
    await rememberSynced(tx, crm.name, live.flatMap(syncedRecordOf), now);
    await endLinks(tx, crm.name, live, now);
    const ended = results.flatMap(({ begun = [], claim }) =>
      begun.map((each) => ({ ...each, isOurs: keys.has(claim.key) })),
    );
    const overtaken = (await settleWrites(tx, ended, now)).size;
    await settleAll(
      tx,
      live.map((result) => [result.claim, result.settlement]),
    );
    return { ours: keys, overtaken };
  }, ASIDE);
  reportLostLeases({ metrics, log }, `sync:${crm.name}`, { lost: results.length - ours.size, sent: overtaken });
  countResults(metrics, crm, results);
  await logResults(
    { db: store.db, log },
    crm.name,
    results.filter(({ claim }) => ours.has(claim.key)),
  );
  if (results.some(({ decided }) => decided?.some(({ refused }) => refused !== undefined))) crm.forgetSchema();
}

/**
 * Ends the links of deleted records. Behind the safety limit, a link ends only after another read and an operator's
 * release.
 */
async function endLinks(tx: Tx, provider: string, live: readonly RecordResult[], now: number): Promise<void> {
  const gone = live.filter(({ effect }) => effect?.kind === 'gone').map(({ claim }) => claim.key);
  if (!(await mayEnd(tx, provider, gone.length, now))) return mark(tx, healQueue(provider), gone, now);
  for (const recordId of gone)
    await endLink(tx, { provider, recordId, now, state: 'gone', reason: 'deleted in the CRM' });
}

interface RecordedResults {
  /** Those whose lanes are still ours. */
  readonly live: readonly RecordResult[];
  readonly results: readonly RecordResult[];
}

/**
 * Remembers edits that writes replaced, and marks records for a check whose answers did not show it. An edit counts
 * also under a lost lease: only this answer shows it, and the new owner takes our value for its own.
 */
async function recordOverwritten(tx: Tx, crm: Crm, { live, results }: RecordedResults, now: number): Promise<void> {
  const { name: provider } = crm;
  await forgetOverwritten(tx, provider, live.flatMap(settledEditsOf));
  const overwritten = results.flatMap((result) => result.overwritten ?? []);
  await rememberOverwritten(tx, provider, overwritten, now);
  await markBlindWrites(tx, crm, live.flatMap(blindWriteOf), now);
  const newEdits = live.filter(keepsNewEdit);
  await markBlindWrites(
    tx,
    crm,
    newEdits.map(({ claim }) => ({ id: claim.key, window: { from: now, to: now } })),
    now,
  );
}

const keepsNewEdit = ({ record, decided = [] }: RecordResult): boolean =>
  decided.some(
    ({ planned: { action, property, old } }) =>
      action === 'keep' && record?.remembered.get(property)?.kept?.crm !== JSON.stringify(old),
  );

const blindWriteOf = ({ claim, window }: RecordResult): readonly WrittenRecord[] =>
  window === undefined ? [] : [{ id: claim.key, window }];

/** Edits that were restored or will not be; an edit under a hold waits for its end. */
function settledEditsOf({ record, decided = [], synced }: RecordResult): readonly OverwrittenProperty[] {
  if (record === undefined || synced !== true) return [];
  const waiting = new Set(
    decided.flatMap(({ planned }) => (planned.overwritten === undefined ? [] : planned.property)),
  );
  return [...record.remembered].flatMap(([property, { overwritten }]) =>
    overwritten === undefined || waiting.has(property) ? [] : [{ id: record.id, property, ...overwritten }],
  );
}

function countResults(metrics: Metrics, { name: provider }: Crm, results: readonly RecordResult[]): void {
  for (const { effect, settlement } of results)
    metrics.records.inc({ provider, outcome: effect?.kind ?? settlement.kind });
  const decided = results.flatMap(({ decided = [] }) => decided);
  metrics.editsPutBack.inc({ provider }, results.flatMap(putBackEditsOf).length);
  for (const [rule, alike] of Map.groupBy(decided, ({ planned }) => planned.rule))
    metrics.decisions.inc({ provider, rule }, alike.length);
}

/** The restored edits, without the values restored together with them. */
const putBackEditsOf = ({ record, decided = [] }: RecordResult): readonly Decided[] =>
  decided.filter(
    ({ planned: { rule, late, property }, refused }) =>
      rule === RETURNED &&
      refused === undefined &&
      late?.isOverUndo !== true &&
      record?.remembered.get(property)?.overwritten?.beside !== true,
  );

/** A skip of an unchanged field is not a new decision; a difference left to a person is. */
const belongsInHistory = ({ planned, refused, isCarried }: Decided, record: LinkedRecord | undefined): boolean => {
  if (isCarried === true || planned.seq > (record?.syncedSeq ?? 0)) return true;
  const known = record?.remembered.get(planned.property);
  if (planned.action === 'keep') return known?.kept === undefined;
  return planned.action === 'write' && !(refused !== undefined && isKnownRefusal(known, planned.now, refused));
};

const isKnownRefusal = (memory: PropertyMemory | undefined, value: PropertyValue, reason: string): boolean =>
  memory?.refused?.value === JSON.stringify(value) && memory.refused.reason === reason;

/** Restored edits: history first shows the write that replaced them. */
const editsPutBackOf = ({ record, decided = [] }: RecordResult): readonly Plan[] => {
  const planned = decided.flatMap((each) => (each.planned.rule === RETURNED ? [each.planned] : []));
  return record === undefined || planned.length === 0 ? [] : [{ record, planned }];
};

function undecidedPropertiesOf({ record, decided = [], synced }: RecordResult): { id: string; property: string }[] {
  if (record === undefined || synced !== true) return [];
  const names = new Set(decided.map(({ planned }) => planned.property));
  return [...record.remembered].flatMap(([property, { kept, refused }]) =>
    (kept ?? refused) === undefined || names.has(property) ? [] : [{ id: record.id, property }],
  );
}

/** Single-use releases whose value the CRM holds now, or whose value changed. */
const usedOverridesOf = ({ decided = [] }: RecordResult): Spent[] =>
  decided.flatMap(({ id, planned: { action, rule, override, outdated, property }, refused }) => {
    const isDone = override?.once === true && refused === undefined && (action === 'write' || rule === 'same');
    const ended = isDone ? override : outdated;
    return ended === undefined ? [] : [{ id, property, createdAt: ended.createdAt }];
  });

const syncedRecordOf = ({ record, synced }: RecordResult): { id: string; seq: number }[] =>
  record === undefined || synced !== true ? [] : [{ id: record.id, seq: Math.max(record.syncedSeq, record.newestSeq) }];
