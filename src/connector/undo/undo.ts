/** undo: puts back what was there before our writes, where the CRM still holds them. */

import { type Patch, ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { claimByKey } from '../../runtime/lanes/claim.ts';
import { owned } from '../../runtime/lanes/lane-state.ts';
import { type Claim, held, mark, settleAll } from '../../runtime/lanes/lanes.ts';
import { leaseOf } from '../../runtime/lanes/lease.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { guardOf, type LostLeaseDeps, reportLostLeases } from '../crm/lost-lease.ts';
import { type CallPair, timeRead } from '../crm/send-guard.ts';
import { settleFault } from '../crm/settle.ts';
import { partnersIn } from '../decide/partners.ts';
import { withLeftBehind } from '../decide/refusal.ts';
import { endUndoHolds, type Placement, type RecordProperty } from '../overrides/override.ts';
import { readFresh } from '../write/freshness.ts';
import { writePatches } from '../write/write.ts';
import { isUndo } from './decide-undo.ts';
import { changedSince, decideGroup, type Restored, type Undone, undoneAfterWrite, undoneOf } from './outcome.ts';
import { together } from './together.ts';
import { holdRestored, type RestoreResult, recordRestored, rememberReplaced, UNDO_HOLD_MS } from './undo-record.ts';
import { type PropertyWrites, readWrites, type Selection } from './writes.ts';

export interface UndoDeps {
  readonly store: Store;
  readonly metrics: Pick<Metrics, 'readToWriteSeconds' | 'rereads' | 'leaseLost' | 'sentAfterLeaseLost'>;
  readonly log?: LostLeaseDeps['log'];
  readonly now: () => number;
  /** How long a page's records are kept from the daemon at most, in ms. */
  readonly leaseMs: number;
  /** How long what is restored is held, in ms; infinite for good, {@link UNDO_HOLD_MS} where absent. */
  readonly holdMs?: number | undefined;
  /** Who undoes: the holds are theirs. */
  readonly by?: Placement['by'];
  /** How long a write may take at most, in ms; 20 s where absent. */
  readonly lastWriteMs?: number;
}

/** A stop has to be over within 25 s. */
const LAST_WRITE_MS = 20_000;

/** What a page came to: records that a daemon works on, or that got no answer, are to be tried again. */
export interface UndoPage {
  readonly done: readonly Undone[];
  readonly open: readonly string[];
  /** Why a record got no answer; the account's rate limiter knows of it already. */
  readonly fault?: unknown;
}

/** Records of one connection, and which of the writes to them are to be undone. At most a batch of ids. */
export interface UndoBatch {
  readonly crm: Crm;
  readonly ids: readonly string[];
  readonly selection: Selection;
}

/** Decides about a batch of records as the CRM holds them now; writes nothing. */
export async function previewPage(deps: UndoDeps, batch: UndoBatch, signal: AbortSignal): Promise<UndoPage> {
  const { done, restored } = await readAndDecide(deps, batch, signal);
  return { done: [...done, ...restored.map((each) => undoneOf(batch.crm.name, each))], open: [] };
}

/**
 * Restores a batch of records while it holds their sync lanes: no daemon writes to them meanwhile. Idempotent, also
 * if the process ends between the CRM's write and our record of it.
 */
export async function undoPage(deps: UndoDeps, batch: UndoBatch, signal: AbortSignal): Promise<UndoPage> {
  const { store, now, leaseMs } = deps;
  const { crm, ids } = batch;
  const claims = await claimByKey(store, `sync:${crm.name}`, ids, { now: now(), leaseMs });
  const taken = new Set(claims.map(({ key }) => key));
  const open = ids.filter((id) => !taken.has(id));
  try {
    const page = await restorePage(deps, { ...batch, ids: [...taken] }, claims, signal);
    return { ...page, open: [...open, ...page.open] };
  } finally {
    // Whatever the result: a sync reads the records again, with the overrides of now.
    await store.write(async (tx) => {
      const queue = `sync:${crm.name}`;
      // Also those that another has by now: what this process sent late may have replaced what that one wrote.
      await mark(tx, queue, [...taken], now());
      await settleAll(
        tx,
        claims.map((claim) => [claim, { kind: 'again', at: now(), free: true }]),
      );
    });
  }
}

async function restorePage(
  deps: UndoDeps,
  batch: UndoBatch,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<UndoPage> {
  const { store, now } = deps;
  const { crm, ids } = batch;
  const pair: CallPair = { second: undefined };
  const found = await readAndDecide(deps, batch, signal, pair);
  signal.throwIfAborted();
  const at = now();
  const { ours, displaced } = await holdFirst(deps, crm, found.restored, { claims, at });
  const live = await owned(store.db, claims);
  // Started writes are finished: a stop must not leave records on hold that were not restored.
  const lastWrite = AbortSignal.timeout(deps.lastWriteMs ?? LAST_WRITE_MS);
  const latest = new Map(ours.map((each): [string, Undone | Restored] => [nameOf(each), each]));
  let { readFrom } = found;
  const fresh = readFresh({
    provider: crm.name,
    metrics: deps.metrics,
    now,
    pair,
    readFrom: () => readFrom,
    async read(some) {
      const latestRead = await readAndDecide(deps, { ...batch, ids: some }, lastWrite, pair);
      ({ readFrom } = latestRead);
      for (const each of [...latestRead.restored, ...latestRead.done])
        if (latest.has(nameOf(each))) latest.set(nameOf(each), each);
      return patchesOf([...latest.values()].filter((each) => some.includes(recordOf(each))));
    },
  });
  const lease = leaseOf(store, claims, now);
  const patches = patchesOf(ours).filter(({ id }) => live.has(id));
  const guard = guardOf(lease, fresh.guard);
  const written = await writePatches(crm.connection, patches, lastWrite, {
    fresh: { ...fresh, guard },
    withLeftBehind: (id, refused) => withLeftBehind(dueOf(latest.values(), id), refused),
  }).catch(unansweredAfter(lastWrite));
  const results = ours.map((each): RestoreResult => {
    const last = latest.get(nameOf(each)) ?? each;
    if (!('isDue' in last)) return { restored: each, undone: last, written: undefined };
    const answer = written.get(last.last.recordId);
    return { restored: last, undone: undoneAfterWrite(crm.name, last, answer), written: answer };
  });
  // A record is reported as a whole: one that is tried again must not find half of it done.
  const unsure = new Set(
    results.flatMap(({ restored, undone }) => (undone === undefined ? [restored.last.recordId] : [])),
  );
  const recorded = await store.write(async (tx) => {
    const keys = await held(tx, claims);
    const sure = results.filter(({ restored: { last } }) => !unsure.has(last.recordId));
    const mine = sure.filter(({ restored: { last } }) => keys.has(last.recordId));
    await endUndoHolds(
      tx,
      crm.name,
      found.abandoned.filter(({ id }) => keys.has(id)),
    );
    await recordRestored(tx, crm, mine, { displaced, heldAt: at, now: now() });
    await rememberReplaced(tx, crm, sure, now());
    return { keys, undone: mine.flatMap(({ undone }) => undone ?? []) };
  });
  const lost = ids.filter((id) => !recorded.keys.has(id));
  const sent = lease.isUnsent ? [] : lost.filter((id) => written.has(id));
  reportLostLeases(deps, `sync:${crm.name}`, { lost: lost.length, sent: sent.length });
  const isOpen = (id: string): boolean => !live.has(id) || !recorded.keys.has(id) || unsure.has(id);
  const faulty = [...written.values()].find(({ outcome }) => outcome.kind === 'fault')?.outcome;
  if (faulty?.kind === 'fault') await settleFault(faulty.error, crm.rateLimiter, now());
  return {
    done: [...found.done, ...recorded.undone].filter(({ record }) => !isOpen(record)),
    open: ids.filter(isOpen),
    ...(faulty?.kind === 'fault' && { fault: faulty.error }),
  };
}

/** A write that was cut off: nobody knows what it wrote, and the next try looks. */
const unansweredAfter =
  (lastWrite: AbortSignal) =>
  (error: unknown): never => {
    if (!lastWrite.aborted) throw error;
    throw new ProviderError('unavailable', 'the CRM did not answer a write in time', { cause: error });
  };

/** Holds what is to be restored before it is: were we to end after the write, the next sync would write our value again. */
function holdFirst(
  { store, holdMs = UNDO_HOLD_MS, by }: UndoDeps,
  { name }: Crm,
  restored: readonly Restored[],
  { claims, at }: { readonly claims: readonly Claim[]; readonly at: number },
) {
  return store.write(async (tx) => {
    const live = await held(tx, claims);
    const ours = restored.filter(({ last }) => live.has(last.recordId));
    const until = Number.isFinite(holdMs) ? at + holdMs : null;
    return { ours, displaced: await holdRestored(tx, name, ours, { at, until, by }) };
  });
}

const recordOf = (each: Undone | Restored): string => ('isDue' in each ? each.last.recordId : each.record);

const nameOf = (each: Undone | Restored): string =>
  `${recordOf(each)} ${'isDue' in each ? each.last.property : each.property}`;

/** The properties of a record that are to be written, with those that each is written together with. */
const dueOf = (all: Iterable<Undone | Restored>, id: string) =>
  [...all].flatMap((each) =>
    'isDue' in each && each.isDue && recordOf(each) === id ? [{ property: each.last.property, needs: each.needs }] : [],
  );

/** What is to be written to each record, if anything. */
const patchesOf = (all: readonly (Undone | Restored)[]): readonly Patch[] =>
  [...Map.groupBy(all, recordOf)].map(([id, some]) => {
    const due = some.flatMap((each) => ('isDue' in each && each.isDue ? [each] : []));
    return { id, properties: Object.fromEntries(due.map(({ last, sent }) => [last.property, sent])) };
  });

interface Found {
  /** Properties that are not restored. */
  readonly done: readonly Undone[];
  readonly restored: readonly Restored[];
  /** Properties that a person edited since: a hold that an undo which did not get to its end left on them ends. */
  readonly abandoned: readonly RecordProperty[];
  /** When the read left, in ms since 1970. */
  readonly readFrom: number;
}

async function readAndDecide(
  { store, now }: UndoDeps,
  { crm, ids, selection }: UndoBatch,
  signal: AbortSignal,
  pair?: CallPair,
): Promise<Found> {
  if (ids.length === 0) return { done: [], restored: [], abandoned: [], readFrom: now() };
  const schema = await crm.schema(signal);
  const properties: PropertyWrites[] = [];
  const arePartners = partnersIn(crm.mapping, schema);
  // One by one: for a list PostgreSQL may read the history of all records.
  for (const recordId of ids) {
    const all = await readWrites(store.db, { provider: crm.name, recordId }, selection);
    const wanted = all.filter(isSelected);
    // An amount stands and falls with its currency, and an address with its parts, even where only one of them is selected.
    properties.push(
      ...all.filter((each) => wanted.some(({ last }) => last === each.last || arePartners(last, each.last))),
    );
  }
  const names = [...new Set(properties.map(({ last }) => last.property))].filter((property) => schema.has(property));
  const { answer: reads, from: readFrom } = await timeRead(now, () => crm.connection.read(ids, names, signal), pair);
  const readOf = new Map(ids.map((id, index) => [id, reads[index]]));
  const decided = properties.map((each) => ({
    ...each,
    seen: decideGroup(crm.name, each, readOf.get(each.last.recordId), schema.get(each.last.property)),
    changed: changedSince(crm.name, each, readOf.get(each.last.recordId), schema.get(each.last.property)),
  }));
  const seen = [...Map.groupBy(decided, ({ last }) => last.recordId).values()]
    .flatMap((record) => together(record, arePartners))
    .filter(isSelected);
  return {
    done: seen.flatMap(({ seen: each }) => ('isDue' in each ? [] : [each])),
    restored: seen.flatMap(({ seen: each }) => ('isDue' in each ? [each] : [])),
    abandoned: seen.flatMap(({ seen: each, last }) =>
      !('isDue' in each) && each.kind === 'edited' && !isUndo(last)
        ? [{ id: each.record, property: each.property }]
        : [],
    ),
    readFrom,
  };
}

const isSelected = ({ writes }: PropertyWrites): boolean => writes.some(({ selected }) => selected);
