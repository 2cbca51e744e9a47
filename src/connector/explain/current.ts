/** Compares a record in the CRM with the register, as the next sync would decide it. */
import { FIELD_NAMES } from '../../../providers/fields.ts';
import { ProviderError } from '../../../providers/provider.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { UNMENTIONED } from '../crm/settle.ts';
import type { Planned } from '../decide/planned.ts';
import { followedMatch } from '../follow/match-property.ts';
import type { Override } from '../overrides/override.ts';
import { type LinkedRecord, loadLinked, loadRecords, type PlannedLink } from '../sync/load.ts';
import { type DecidedRecord, readAndDecide } from '../sync/prepare.ts';

/**
 * `compared`: one decision for each mapped property with a fact; `hold`: the CRM holds the record; `contested`: its
 * number contradicts its link, so nothing is written; `silent`: the CRM did not answer in time, or refused.
 */
export type CurrentRecord =
  | { readonly kind: 'compared'; readonly planned: readonly Planned[] }
  | { readonly kind: 'hold' | 'gone' | 'moved' | 'unlinked' }
  | { readonly kind: 'contested'; readonly reason: string }
  | { readonly kind: 'silent'; readonly reason: string };

/** A record with assumptions: what a change would do before it is made. */
export interface SupposedRecord {
  readonly id: string;
  /** Assumes a link to this company. */
  readonly entity?: string | undefined;
  /** Assumes these overrides of properties; null: none. */
  readonly overrides?: readonly { readonly property: string; readonly to: Override | null }[] | undefined;
}

/**
 * Reads and decides one record within `limitMs`. One call, more if the schema is unknown or may be old. Writes nothing.
 */
export async function readCurrent(
  deps: CurrentDeps,
  crm: Crm,
  record: SupposedRecord,
  limitMs: number,
): Promise<CurrentRecord> {
  const [current = UNLINKED] = await readCurrents(deps, crm, [record], limitMs);
  return current;
}

interface CurrentDeps {
  readonly store: Store;
  readonly now: () => number;
}

const UNLINKED: CurrentRecord = { kind: 'unlinked' };

/** Reads several records, in order, with as many calls as for one; the CRM's read limit applies. */
export async function readCurrents(
  { store, now }: CurrentDeps,
  crm: Crm,
  records: readonly SupposedRecord[],
  limitMs: number,
): Promise<readonly CurrentRecord[]> {
  const silent = (reason: string): readonly CurrentRecord[] => records.map(() => ({ kind: 'silent', reason }));
  const block = await crm.rateLimiter.blockedUntil();
  if (block !== undefined) return silent(block.reason ?? 'the account is paused');
  const signal = AbortSignal.timeout(limitMs);
  const late = new Promise<readonly CurrentRecord[]>((resolve) => {
    signal.addEventListener('abort', () => resolve(silent(`no answer within ${limitMs / 1_000} s`)));
  });
  const compared = compare(store, crm, { records, now }, signal).catch((error: unknown) => {
    if (error instanceof ProviderError || signal.aborted) return silent(errorText(error));
    throw error;
  });
  return Promise.race([late, compared]);
}

async function compare(
  store: Store,
  crm: Crm,
  { records, now }: { readonly records: readonly SupposedRecord[]; readonly now: () => number },
  signal: AbortSignal,
): Promise<readonly CurrentRecord[]> {
  const loaded = await loadSupposed(store.db, crm.name, records, now());
  if (loaded.length === 0) return records.map(() => UNLINKED);
  const schema = await crm.schema(signal);
  // A record that is not linked yet has no link that its number could contradict.
  const isLinked = records.every(({ entity }) => entity === undefined);
  const match = isLinked ? await followedMatch(store.db, crm, schema) : undefined;
  const { found } = await readAndDecide({ store, now }, { crm, schema, match, records: loaded }, signal);
  const byId = new Map(found.map((each) => [each.record.id, currentOf(each)]));
  return records.map(({ id }) => byId.get(id) ?? UNLINKED);
}

export function currentOf({ read, planned, objection }: DecidedRecord): CurrentRecord {
  if (planned !== undefined) return { kind: 'compared', planned };
  if (objection !== undefined) return { kind: 'contested', reason: objection.reason };
  if (read === undefined) return { kind: 'silent', reason: UNMENTIONED };
  if (read.kind === 'retry') return { kind: 'silent', reason: read.reason };
  return { kind: read.kind === 'found' ? 'hold' : read.kind };
}

const SUPPOSED = { synced_seq: 0, trust: 'crm', origin: 'person', mismatch: null, writes_number: 0 } as const;

async function loadSupposed(
  db: Db,
  provider: string,
  records: readonly SupposedRecord[],
  now: number,
): Promise<readonly LinkedRecord[]> {
  const links = records.flatMap(({ id, entity }): readonly PlannedLink[] =>
    entity === undefined ? [] : [{ record_id: id, entity, ...SUPPOSED }],
  );
  const query = { provider, fields: FIELD_NAMES };
  const others = records.flatMap(({ id, entity }) => (entity === undefined ? id : []));
  const loaded = [
    ...(links.length > 0
      ? await loadLinked(db, { ...query, ids: links.map((link) => link.record_id) }, links, now)
      : []),
    ...(others.length > 0 ? await loadRecords(db, { ...query, ids: others }, now) : []),
  ];
  const supposed = new Map(records.map(({ id, overrides = [] }) => [id, overrides]));
  return loaded.map((record) => {
    const overrides = new Map(record.overrides);
    for (const { property, to } of supposed.get(record.id) ?? [])
      if (to === null) overrides.delete(property);
      else overrides.set(property, to);
    return { ...record, overrides };
  });
}
