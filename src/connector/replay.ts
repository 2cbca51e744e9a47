/** Feeds one saved payload through the real code: to see what it would do, or to do it now. */
import type { FieldName } from '../../providers/fields.ts';
import type { Read } from '../../providers/provider.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Payload, WireOptions } from '../protocol/payload.ts';
import { claim } from '../runtime/lanes/lanes.ts';
import { createWakeUp } from '../runtime/wake-up.ts';
import type { Db, Store } from '../store/open.ts';
import { type Crm, mappedFields } from './crm/crm.ts';
import { holdOf } from './decide/hold.ts';
import { planRecord, rowsFor } from './decide/plan.ts';
import type { Planned } from './decide/planned.ts';
import { derivedRules } from './derived.ts';
import { applyReceipts } from './facts/apply.ts';
import { type Fact, fold, knownValues } from './facts/fact.ts';
import { followOf } from './heal/change-hints.ts';
import { objectionTo } from './heal/decide-link.ts';
import { datedBy } from './intake/ahead.ts';
import { listLinks } from './links/links.ts';
import { type LinkedRecord, loadRecords } from './sync/load.ts';
import { followedMatch } from './sync/match.ts';
import { syncRecords } from './sync/sync.ts';

export interface ReplayDeps extends WireOptions {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly now: () => number;
  readonly crms: readonly Crm[];
}

/** One decision of a preview. */
export interface Preview {
  readonly provider: string;
  readonly id: string;
  readonly planned: Planned;
}

const LEASE_MS = 30_000;

/** The body of an event that came in; undefined where it is not kept. */
export async function readEventBody(db: Db, seq: number): Promise<string | undefined> {
  const row = await db.selectFrom('receipt').select('body').where('seq', '=', seq).executeTakeFirst();
  return row?.body ?? undefined;
}

/** What the payload would change, read from the CRMs as they are now; writes nothing. */
export async function preview(
  deps: Pick<ReplayDeps, 'store' | 'now' | 'crms'>,
  payload: Payload,
  signal: AbortSignal,
): Promise<readonly Preview[]> {
  const { store, crms } = deps;
  const now = deps.now();
  const assertions = datedBy(payload, now).assertions;
  const previews: Preview[] = [];
  for (const crm of crms) {
    const schema = await crm.schema(signal);
    const rows = rowsFor(crm.mapping, schema);
    const fields = [...new Set(rows.map((row): FieldName => row.field))];
    const links = await listLinks(store.db, { provider: crm.name, entity: payload.entityId, state: 'active' });
    const ids = links.map((link) => link.record_id);
    const records = await loadRecords(store.db, { provider: crm.name, ids, fields }, now);
    const mapped = rows.map((row) => row.property).filter((name) => schema.has(name));
    const match = await followedMatch(store.db, crm, schema);
    const properties = [...new Set([...mapped, ...followOf(crm, match, now).properties])];
    const size = crm.limits.batch.read;
    for (let start = 0; start < records.length; start += size) {
      const batch = records.slice(start, start + size);
      const reads = await crm.connection.read(
        batch.map(({ id }) => id),
        properties,
        signal,
      );
      for (const [index, record] of batch.entries()) {
        const read = reads[index];
        if (read?.kind !== 'found' || isKeptBack(crm, record, { read, match, now })) continue;
        const folded = assertions.map(
          (each) =>
            [each, fold(record.facts.get(each.field), payload.entityId, each, Number.MAX_SAFE_INTEGER)] as const,
        );
        const facts = new Map<FieldName, Fact>([
          ...record.facts,
          ...folded.map(([each, { fact }]) => [each.field, fact] as const),
        ]);
        const learned = folded.flatMap(([each, result]) =>
          knownValues(each, result).map((value) => [each.field, value] as const),
        );
        const known = (field: FieldName) => [
          ...record.known(field),
          ...learned.filter(([name]) => name === field).map(([, value]) => value),
        ];
        const planned = planRecord({
          ...record,
          facts,
          known,
          mapping: crm.mapping,
          values: crm.values,
          persons: crm.persons,
          currency: crm.currency,
          dashboard: crm.dashboard,
          schema,
          crm: read.properties,
        });
        previews.push(...planned.map((each) => ({ provider: crm.name, id: record.id, planned: each })));
      }
    }
  }
  return previews;
}

/** Whether nothing would be written to a record: it is on hold, or its number speaks against its link. */
const isKeptBack = (
  crm: Crm,
  record: LinkedRecord,
  {
    read,
    match,
    now,
  }: { readonly read: Extract<Read, { kind: 'found' }>; readonly match: string | undefined; readonly now: number },
): boolean =>
  holdOf(crm, read.properties, now) !== undefined ||
  (match !== undefined && objectionTo({ ...record, state: 'active' }, read, match, false) !== undefined);

/**
 * Applies the receipts of one company and brings its records up to them. False where a running daemon holds some of
 * that work: it will do it.
 */
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
      limit: crm.limits.batch.update,
      now: now(),
      leaseMs: LEASE_MS,
    });
    if (claims.length > 0) await syncRecords(deps, crm, claims, signal);
    all &&= claims.length > 0 || keys.length === 0;
  }
  return all;
}
