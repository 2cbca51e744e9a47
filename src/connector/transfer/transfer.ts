/**
 * Creates a record for a company, once. The intent is stored before the call: after a lost answer or a crash, the next
 * try searches for the record before it creates one.
 */
import { type Created, ProviderError, type WrittenOutcome } from '../../../providers/provider.ts';
import { isMistyped } from '../../protocol/cvr-number.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { claimByKey } from '../../runtime/lanes/claim.ts';
import { settle } from '../../runtime/lanes/lanes.ts';
import { renewWhile } from '../../runtime/lanes/renew-while.ts';
import { readErasures, refuseErased } from '../../store/erasure/erasures.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { type PropertyRefusals, refusalsOf, waiting, withLeftBehind } from '../decide/refusal.ts';
import { changesState, rememberStates, writeHistory, writtenBy } from '../history/history.ts';
import { rememberWritten } from '../history/written.ts';
import { refuseLeft } from '../links/left.ts';
import { linkRecord, listLinks } from '../links/links.ts';
import { POLL_QUEUE, pollKey } from '../poll/poll-task.ts';
import { shownBy } from '../sync/record-result.ts';
import { findHolders, type Holder, type Holders, type HoldersDeps } from './holders.ts';
import { draftRecord, type RecordDraft } from './record.ts';

export interface TransferDeps extends HoldersDeps {
  readonly store: Store;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly leaseMs: number;
  readonly askName: (same: readonly Holder[]) => Promise<boolean>;
  readonly askNumber: () => Promise<boolean>;
}

export interface TransferOrder {
  readonly entity: string;
  readonly name: string | undefined;
}

/** A linked record. `found`: an earlier try had created it. */
export interface CreatedRecord {
  readonly kind: 'made' | 'found';
  readonly id: string;
  readonly name: string;
  readonly setAside: Readonly<Record<string, string>>;
}

/** The CRM seems to have the company already, or the number seems invalid. */
export type Refusal =
  | { readonly kind: 'linked'; readonly id: string; readonly state: string }
  | { readonly kind: 'duplicate'; readonly records: readonly Holder[]; readonly reason: string }
  | { readonly kind: 'same-name'; readonly records: readonly Holder[] }
  | { readonly kind: 'mistyped' };

/**
 * No record was created. `lost`: no answer, and no record found yet; the next try searches first. `busy`: another
 * process transfers the company.
 */
export type TransferFailure =
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'busy' };

export type Transferred = CreatedRecord | Refusal | TransferFailure;

/** Waits before each search for a record whose creation got no answer. */
const SEARCH_DELAYS_MS = [1_000, 3_000, 8_000];
/** A CRM names one bad property at a time, or all. */
const ROUNDS = 8;

const intentOf = (provider: string, entity: string): string => `transfer:${provider}:${entity}`;

/**
 * Creates and links the record; the caller sends the link's desired state. Throws ProviderError and DraftError, and for
 * an erased company.
 */
export async function transfer(deps: TransferDeps, order: TransferOrder, signal: AbortSignal): Promise<Transferred> {
  const { store, crm, now, leaseMs } = deps;
  await store.write(async (tx) => {
    await refuseErased(tx, order.entity);
    await refuseLeft(tx, crm.name);
  });
  // One at a time for a company. A crash leaves a lane of no poll task, which ends with its lease.
  const key = pollKey(crm.name, `transfer ${order.entity}`);
  const [claim] = await claimByKey(store, POLL_QUEUE, [key], { now: now(), leaseMs });
  if (claim === undefined) return { kind: 'busy' };
  try {
    return await renewWhile([claim], { store, now, leaseMs }, () => transferAlone(deps, order, signal));
  } finally {
    await store.write((tx) => settle(tx, claim, { kind: 'done' }));
  }
}

async function transferAlone(deps: TransferDeps, order: TransferOrder, signal: AbortSignal): Promise<Transferred> {
  const { store, crm } = deps;
  const { entity } = order;
  const number = parseEntityId(entity)?.number ?? '';
  const linked = (await listLinks(store.db, { provider: crm.name, entity })).find(
    ({ state }) => state === 'active' || state === 'conflict',
  );
  if (linked !== undefined) {
    await deleteIntent(deps, entity);
    return { kind: 'linked', id: linked.record_id, state: linked.state };
  }
  const draft = await draftRecord(store.db, crm, { ...order, number }, signal);
  const find = (): Promise<Holders> => findHolders(deps, { ...draft, number }, signal);
  const { byNumber, byName } = await find();
  const [only, another] = byNumber;
  const isPending = (await readValue(store.db, intentOf(crm.name, entity))) !== undefined;
  if (only !== undefined) {
    if (isPending && another === undefined) return adopt(deps, order, only);
    return { kind: 'duplicate', records: byNumber, reason: `${crm.name} has a company with that number already` };
  }
  if (isMistyped(entity) && !draft.isKnown && !(await deps.askNumber())) return { kind: 'mistyped' };
  if (byName.length > 0 && !(await deps.askName(byName))) return { kind: 'same-name', records: byName };
  return make(deps, { order, draft, find }, signal);
}

interface Creation {
  readonly order: TransferOrder;
  readonly draft: RecordDraft;
  readonly find: () => Promise<Holders>;
}

async function make(deps: TransferDeps, creation: Creation, signal: AbortSignal): Promise<Transferred> {
  const { store, crm, now } = deps;
  const { order, draft } = creation;
  const { entity } = order;
  const intent = intentOf(crm.name, entity);
  await store.write(async (tx) => {
    // A later erasure deletes the intent.
    await refuseErased(tx, entity);
    await refuseLeft(tx, crm.name);
    await writeValue(tx, intent, 'tried', now());
  });
  const made = await create(crm, draft, signal).catch((error: unknown) => lost(error, signal));
  if (made instanceof ProviderError) {
    if (made.fault === 'unavailable') return searchAgain(deps, creation, made, signal);
    await deleteIntent(deps, entity);
    throw made;
  }
  const { outcome, setAside } = made;
  if (outcome.kind === 'created') {
    await link(deps, order, outcome.id, { draft, setAside, stored: await readStored(crm, outcome.id, draft, signal) });
    const reasons = Object.entries(setAside).map(([property, { reason }]) => [property, reason]);
    return { kind: 'made', id: outcome.id, name: draft.name, setAside: Object.fromEntries(reasons) };
  }
  await deleteIntent(deps, entity);
  if (outcome.kind === 'rejected') return { kind: 'rejected', reason: outcome.reason };
  const records = outcome.id === undefined ? [] : [{ id: outcome.id, number: null, name: null }];
  return { kind: 'duplicate', records, reason: outcome.reason };
}

interface CreateOutcome {
  readonly outcome: Created;
  readonly setAside: PropertyRefusals;
}

/** Drops refused properties, but never the number and the name. */
async function create({ connection, name }: Crm, draft: RecordDraft, signal: AbortSignal): Promise<CreateOutcome> {
  if (connection.create === undefined)
    throw new ProviderError('refused', `the provider of ${name} cannot make companies: make it by hand, then link it`);
  let setAside: PropertyRefusals = {};
  let properties = draft.properties;
  for (let round = 1; ; round += 1) {
    const outcome = await connection.create(properties, signal);
    if (outcome.kind !== 'rejected' || round === ROUNDS) return { outcome, setAside };
    const bad = Object.entries(outcome.properties).filter(
      ([property]) =>
        Object.hasOwn(properties, property) && property !== draft.match && property !== draft.nameProperty,
    );
    if (bad.length === 0) return { outcome, setAside };
    const refused = withLeftBehind(draft.planned, { ...setAside, ...refusalsOf(Object.fromEntries(bad)) });
    setAside = refused;
    properties = Object.fromEntries(
      Object.entries(properties).filter(([property]) => !Object.hasOwn(refused, property)),
    );
  }
}

/** The values that the CRM stored; empty if it does not report them now. */
async function readStored({ connection }: Crm, id: string, { properties }: RecordDraft, signal: AbortSignal) {
  const reads = await connection
    .read([id], Object.keys(properties), signal)
    .catch((error: unknown) => lost(error, signal));
  const [read] = reads instanceof ProviderError ? [] : reads;
  return read?.kind === 'found' ? read.properties : {};
}

/** Returns a fault of the CRM as a value. Throws the signal's reason if it ended the call. */
function lost(error: unknown, signal: AbortSignal): ProviderError {
  signal.throwIfAborted();
  if (error instanceof ProviderError) return error;
  throw error;
}

async function searchAgain(
  deps: TransferDeps,
  { order, find }: Creation,
  fault: ProviderError,
  signal: AbortSignal,
): Promise<Transferred> {
  for (const ms of SEARCH_DELAYS_MS) {
    await deps.wait(ms, signal);
    signal.throwIfAborted();
    const found = await find().catch((error: unknown) => lost(error, signal));
    if (found instanceof ProviderError) continue;
    const [only, another] = found.byNumber;
    if (only !== undefined && another === undefined) return adopt(deps, order, only);
    if (only !== undefined)
      return { kind: 'duplicate', records: found.byNumber, reason: 'several companies have that number by now' };
  }
  return { kind: 'lost', reason: fault.message };
}

async function adopt(deps: TransferDeps, order: TransferOrder, { id, name }: Holder): Promise<Transferred> {
  await link(deps, order, id);
  return { kind: 'found', id, name: name ?? order.entity, setAside: {} };
}

const deleteIntent = ({ store, crm }: TransferDeps, entity: string): Promise<unknown> =>
  store.write((tx) => tx.deleteFrom('kv').where('key', '=', intentOf(crm.name, entity)).execute());

/** Links the record and stores what was written to it, so that the next sync recognises it as ours. */
async function link(
  { store, crm, now }: TransferDeps,
  { entity }: TransferOrder,
  recordId: string,
  written?: {
    readonly draft: RecordDraft;
    readonly setAside: PropertyRefusals;
    readonly stored: NonNullable<WrittenOutcome['stored']>;
  },
): Promise<void> {
  const provider = crm.name;
  const at = now();
  const desired = { provider, recordId, entity, sendUpdate: true, now: at, origin: 'number' } as const;
  const linked = await store.write(async (tx) => {
    if ((await readErasures(tx)).has(entity)) return { kind: 'erased' } as const;
    const result = await linkRecord(tx, desired);
    if (result.kind === 'taken') return result;
    const decided = (written?.draft.planned ?? []).map((planned) => {
      const refusal = written?.setAside[planned.property];
      const line = { provider, id: recordId, entity, planned };
      if (refusal?.waitsFor !== undefined) return { ...line, planned: waiting(planned, refusal) };
      if (refusal !== undefined) return { ...line, refused: refusal.reason };
      if (planned.action !== 'write') return line;
      const outcome = { kind: 'written', id: recordId, stored: written?.stored ?? {} } as const;
      const property = written?.draft.schema.get(planned.property);
      return { ...line, ...shownBy({ outcome, refused: {} }, planned, property).written };
    });
    const detail = written === undefined ? 'found again after a transfer' : 'made by a transfer';
    await writeHistory(tx, decided, [{ provider, id: recordId, entity, rule: 'linked', detail }], at);
    await rememberWritten(tx, provider, writtenBy(decided, at));
    const states = decided.filter((each) => changesState(each, undefined));
    await rememberStates(tx, states, written?.draft.schema ?? new Map(), at);
    await tx.deleteFrom('kv').where('key', '=', intentOf(provider, entity)).execute();
    return result;
  });
  if (linked.kind === 'erased')
    throw new Error(
      `${provider}:${recordId} was made for a company that was erased meanwhile: delete it in ${provider}`,
    );
  if (linked.kind === 'taken')
    throw new Error(
      `${provider}:${recordId} was made for ${entity}, but is linked to ${linked.entity}: see cvrsync links`,
    );
}
