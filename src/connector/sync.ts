/** sync: records that are behind are read in the CRM, decided, written, and remembered. */
import type { FieldName } from '../../providers/fields.ts';
import type { Property, PropertyValue, Read } from '../../providers/provider.ts';
import type { Metrics } from '../http/metrics.ts';
import { backoff } from '../runtime/backoff.ts';
import { owned } from '../runtime/lane-state.ts';
import { type Claim, held, type Settlement, settleAll } from '../runtime/lanes.ts';
import type { Store } from '../store/open.ts';
import type { Crm } from './crm.ts';
import { isBlank } from './decide.ts';
import { type Decided, type Happened, rememberProperties, rememberSynced, writeHistory } from './history.ts';
import { endLink, moveLink } from './links.ts';
import { type LinkedRecord, loadRecords } from './load.ts';
import { type Planned, patchOf, planRecord, rowsFor } from './plan.ts';
import { later, settleFault } from './settle.ts';
import { type Written, writePatches } from './write.ts';

export interface SyncDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** A record under hold is looked at again after this long: CRMs do not say when a hold ends. */
const HOLD_MS = 6 * 3_600_000;
/** After so many failures a record is tried alone: it may be the one that spoils its batch. */
const ALONE_AFTER = 3;

/** What the record's turn came to; its effects are written together with its lane's settlement. */
interface Turn {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly record?: LinkedRecord;
  readonly decided?: readonly Decided[];
  readonly happened?: Happened;
  readonly effect?: { readonly kind: 'gone' } | { readonly kind: 'moved'; readonly to: string };
  readonly synced?: true;
}

/** Brings a batch of one CRM's records up to their facts. */
export async function syncRecords(
  deps: SyncDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const together = claims.filter((claim) => claim.attempts < ALONE_AFTER);
  if (together.length > 0) await syncBatch(deps, crm, together, signal);
  for (const claim of claims) if (claim.attempts >= ALONE_AFTER) await syncBatch(deps, crm, [claim], signal);
}

async function syncBatch(deps: SyncDeps, crm: Crm, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
  let turns: readonly Turn[];
  let schema: ReadonlyMap<string, Property> = new Map();
  try {
    schema = await crm.schema(signal);
    turns = await takeTurns(deps, crm, schema, claims, signal);
  } catch (error) {
    signal.throwIfAborted();
    const settlement = await settleFault(error, crm.pace, deps.now());
    turns = claims.map((claim) => ({ claim, settlement: settlement(claim) }));
  }
  await record(deps, crm, schema, turns);
}

async function takeTurns(
  { store, now }: SyncDeps,
  crm: Crm,
  schema: ReadonlyMap<string, Property>,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<readonly Turn[]> {
  const rows = rowsFor(crm.mapping, schema).filter((row) => schema.has(row.property));
  const fields = [...new Set(rows.map((row): FieldName => row.field))];
  const records = await loadRecords(
    store.db,
    crm.name,
    claims.map((claim) => claim.key),
    fields,
  );
  const byId = new Map(records.map((record) => [record.id, record]));
  const properties = [...new Set([...rows.map((row) => row.property), ...(crm.hold === undefined ? [] : [crm.hold])])];
  const ids = records.map((record) => record.id);
  const reads = ids.length === 0 ? [] : await crm.connection.read(ids, properties, signal);
  const readOf = new Map(ids.map((id, index) => [id, reads[index]]));
  const plans = new Map<string, readonly Planned[]>();
  for (const record of records) {
    const read = readOf.get(record.id);
    if (read?.kind === 'found' && !isHeld(crm, read.properties))
      plans.set(
        record.id,
        planRecord({ ...record, mapping: crm.mapping, values: crm.values, schema, crm: read.properties }),
      );
  }
  // A process that was stopped longer than its lease must not write what a newer owner has overtaken.
  const ours = await owned(store.db, claims);
  const patches = [...plans]
    .filter(([id]) => ours.has(id))
    .map(([id, planned]) => ({ id, properties: patchOf(planned) }));
  const written = await writePatches(crm.connection, patches, signal);
  const fault = [...written.values()].find((each) => each.outcome.kind === 'fault')?.outcome;
  const onFault = fault?.kind === 'fault' ? await settleFault(fault.error, crm.pace, now()) : undefined;
  return claims.map((claim): Turn => {
    const record = byId.get(claim.key);
    if (record === undefined) return { claim, settlement: { kind: 'done' } };
    const planned = plans.get(claim.key);
    if (planned === undefined) return turnOfRead(crm, claim, record, readOf.get(claim.key), now());
    return turnOfWrite(crm, claim, record, planned, written.get(claim.key), onFault, now());
  });
}

function isHeld(crm: Crm, properties: Readonly<Record<string, PropertyValue>>): boolean {
  const value = crm.hold === undefined ? null : (properties[crm.hold] ?? null);
  return !isBlank(value) && value !== false && !/^(false|no|nej|0)$/iu.test(String(value));
}

/** The turn of a record that is not written to: gone, merged, on hold, or not readable just now. */
function turnOfRead(crm: Crm, claim: Claim, record: LinkedRecord, read: Read | undefined, now: number): Turn {
  const base = { claim, record };
  const line = { provider: crm.name, id: record.id, entity: record.entity };
  switch (read?.kind) {
    case 'gone':
      return {
        ...base,
        settlement: { kind: 'done' },
        effect: { kind: 'gone' },
        happened: { ...line, rule: 'gone', detail: 'deleted in the CRM' },
      };
    case 'moved':
      return {
        ...base,
        settlement: { kind: 'done' },
        effect: { kind: 'moved', to: read.to },
        happened: { ...line, rule: 'moved', detail: `merged into ${read.to}` },
      };
    case 'found':
      return {
        ...base,
        settlement: { kind: 'again', at: now + HOLD_MS, fresh: true },
        happened: { ...line, rule: 'hold', detail: `${crm.hold} is set` },
      };
    default:
      return { ...base, settlement: later(claim, now, read?.reason ?? 'the CRM said nothing of this record') };
  }
}

function turnOfWrite(
  crm: Crm,
  claim: Claim,
  record: LinkedRecord,
  planned: readonly Planned[],
  written: Written | undefined,
  onFault: ((claim: Claim) => Settlement) | undefined,
  now: number,
): Turn {
  const base = { claim, record };
  const line = { provider: crm.name, id: record.id, entity: record.entity };
  const refused = written?.refused ?? {};
  const decided = planned.map((each): Decided => {
    const reason = refused[each.property];
    return { ...line, planned: each, ...(reason !== undefined && { refused: reason }) };
  });
  const hasPatch = planned.some((each) => each.action === 'write');
  const outcome = written?.outcome;
  if (!hasPatch || outcome?.kind === 'written') return { ...base, settlement: { kind: 'done' }, decided, synced: true };
  switch (outcome?.kind) {
    case 'gone':
      return turnOfRead(crm, claim, record, { kind: 'gone', id: record.id }, now);
    case 'moved':
      return turnOfRead(crm, claim, record, { kind: 'moved', id: record.id, to: outcome.to }, now);
    case 'rejected':
      return {
        ...base,
        settlement: { kind: 'parked', at: now, error: outcome.reason },
        happened: { ...line, rule: 'refused', detail: outcome.reason },
      };
    case 'retry':
      return {
        ...base,
        settlement: {
          kind: 'again',
          at: now + Math.max(outcome.retryAfterMs ?? 0, backoff(claim.attempts + 1)),
          error: outcome.reason,
        },
      };
    case 'fault':
      return { ...base, settlement: onFault?.(claim) ?? later(claim, now, 'the CRM did not answer') };
    default:
      return { ...base, settlement: { kind: 'again', at: now, free: true } };
  }
}

/** One transaction: the effects of the turns whose lanes are still ours, and the lanes' settlements. */
async function record(
  deps: SyncDeps,
  crm: Crm,
  schema: ReadonlyMap<string, Property>,
  turns: readonly Turn[],
): Promise<void> {
  const { store, metrics } = deps;
  const now = deps.now();
  const ours = await store.write(async (tx) => {
    const keys = await held(
      tx,
      turns.map((turn) => turn.claim),
    );
    const live = turns.filter((turn) => keys.has(turn.claim.key));
    const decided = live.flatMap((turn) => (turn.decided ?? []).filter((each) => isWorthARow(each, turn.record)));
    await writeHistory(
      tx,
      decided,
      live.flatMap((turn) => turn.happened ?? []),
      now,
    );
    await rememberProperties(
      tx,
      live.flatMap((turn) => (turn.decided ?? []).filter((each) => isWorthRemembering(each, turn.record))),
      schema,
      now,
    );
    await rememberSynced(tx, crm.name, live.flatMap(syncedOf), now);
    for (const { effect, claim } of live) {
      const one = { provider: crm.name, recordId: claim.key, now };
      if (effect?.kind === 'gone') await endLink(tx, { ...one, state: 'gone', reason: 'deleted in the CRM' });
      if (effect?.kind === 'moved') await moveLink(tx, { provider: crm.name, from: claim.key, to: effect.to, now });
    }
    await settleAll(
      tx,
      live.map((turn) => [turn.claim, turn.settlement]),
    );
    return keys;
  });
  metrics.leaseLost.inc(turns.length - ours.size);
  for (const turn of turns) {
    metrics.records.inc({ provider: crm.name, outcome: turn.effect?.kind ?? turn.settlement.kind });
    for (const { planned } of turn.decided ?? []) metrics.decisions.inc({ provider: crm.name, rule: planned.rule });
    if (turn.decided?.some((each) => each.refused !== undefined)) crm.forgetSchema();
  }
}

/** A skip of a field that did not change since the last time is no new decision. */
const isWorthARow = ({ planned }: Decided, record: LinkedRecord | undefined): boolean =>
  planned.action === 'write' || planned.seq > (record?.syncedSeq ?? 0);

const isWorthRemembering = (decided: Decided, record: LinkedRecord | undefined): boolean =>
  decided.planned.action === 'write' ||
  decided.planned.action === 'set-aside' ||
  record?.remembered.get(decided.planned.property)?.refused !== undefined;

const syncedOf = ({ record, synced }: Turn): { id: string; seq: number }[] =>
  record === undefined || synced !== true
    ? []
    : [{ id: record.id, seq: Math.max(record.syncedSeq, ...[...record.facts.values()].map((fact) => fact.seq)) }];
