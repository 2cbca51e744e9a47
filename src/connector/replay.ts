/** Previews or applies one saved payload with the code of the daemon. */
import type { FieldName } from '../../providers/fields.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Payload, WireOptions } from '../protocol/payload.ts';
import { claim } from '../runtime/lanes/lanes.ts';
import { createWakeUp } from '../runtime/wake-up.ts';
import type { Db, Store } from '../store/store.ts';
import { applyReceipts } from './apply/apply.ts';
import { type Crm, mappedFields } from './crm/crm.ts';
import { rowsFor } from './decide/plan.ts';
import { derivedRules } from './derived.ts';
import { type CurrentRecord, currentOf } from './explain/current.ts';
import type { Assertion } from './facts/assertion.ts';
import { fold, knownAddresses, knownValues } from './facts/fact.ts';
import { followedMatch } from './follow/match-property.ts';
import { datedBy } from './intake/ahead.ts';
import { listLinks } from './links/links.ts';
import { type LinkedRecord, loadRecords } from './sync/load.ts';
import { readAndDecide } from './sync/prepare.ts';
import { syncRecords } from './sync/sync.ts';
import { readBatchSize } from './write/batch-size.ts';

export interface ReplayDeps extends WireOptions {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly now: () => number;
  readonly crms: readonly Crm[];
}

export interface Preview {
  readonly provider: string;
  readonly id: string;
  readonly current: CurrentRecord;
}

const LEASE_MS = 30_000;

export async function readEventBody(db: Db, seq: number): Promise<string | undefined> {
  const row = await db.selectFrom('receipt').select('body').where('seq', '=', seq).executeTakeFirst();
  return row?.body ?? undefined;
}

/** What the payload would change in the records of its company, as the CRMs hold them now. Writes nothing. */
export async function preview(
  { store, now, crms }: Pick<ReplayDeps, 'store' | 'now' | 'crms'>,
  payload: Payload,
  signal: AbortSignal,
): Promise<readonly Preview[]> {
  const { assertions } = datedBy(payload, now());
  const previews: Preview[] = [];
  for (const crm of crms) {
    const schema = await crm.schema(signal);
    const match = await followedMatch(store.db, crm, schema);
    const fields = [...new Set(rowsFor(crm.mapping, schema).map((row): FieldName => row.field))];
    const links = await listLinks(store.db, { provider: crm.name, entity: payload.entityId, state: 'active' });
    const ids = links.map((link) => link.record_id);
    const loaded = await loadRecords(store.db, { provider: crm.name, ids, fields }, now());
    const records = loaded.map((record) => withAssertions(record, assertions));
    const size = crm.limits.batch.read;
    for (let start = 0; start < records.length; start += size) {
      const batch = records.slice(start, start + size);
      const { found } = await readAndDecide({ store, now }, { crm, schema, match, records: batch }, signal);
      for (const each of found) previews.push({ provider: crm.name, id: each.record.id, current: currentOf(each) });
    }
  }
  return previews;
}

function withAssertions(record: LinkedRecord, assertions: readonly Assertion[]): LinkedRecord {
  const folded = assertions.map((assertion) => {
    const result = fold(record.facts.get(assertion.field), record.entity, assertion, Number.MAX_SAFE_INTEGER);
    return { field: assertion.field, fact: result.fact, values: knownValues(assertion, result) };
  });
  return {
    ...record,
    facts: new Map([...record.facts, ...folded.map(({ field, fact }) => [field, fact] as const)]),
    wholes: [...record.wholes, ...knownAddresses(assertions)],
    known: (name) => [...record.known(name), ...folded.flatMap(({ field, values }) => (field === name ? values : []))],
  };
}

/** Applies the receipts of one company and syncs its records. False if a running daemon holds some of that work. */
export async function applyNow(deps: ReplayDeps, entity: string, signal: AbortSignal): Promise<boolean> {
  const { store, now, crms } = deps;
  const rules = { mapped: mappedFields(crms), ...derivedRules(crms) };
  const taken = await claim(store, 'apply', { keys: [entity], limit: 1, now: now(), leaseMs: LEASE_MS });
  if (taken.length > 0) await applyReceipts({ ...deps, wakeUp: createWakeUp(), ...rules }, taken);
  let all = taken.length > 0;
  for (const crm of crms) {
    const keys = (await listLinks(store.db, { provider: crm.name, entity, state: 'active' })).map(
      (link) => link.record_id,
    );
    const claims = await claim(store, `sync:${crm.name}`, {
      keys,
      limit: await readBatchSize(store.db, crm, now()),
      now: now(),
      leaseMs: LEASE_MS,
    });
    if (claims.length > 0) await syncRecords(deps, crm, claims, signal);
    all &&= claims.length > 0 || keys.length === 0;
  }
  return all;
}
