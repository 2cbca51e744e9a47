/** What a record holds in its CRM right now, beside what the register says, as the next sync would decide it. */
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
 * `compared` with one decision for each mapped property that has a fact; `hold` if the record itself says that it is to be
 * left alone; `contested` if its number speaks against its link, so that nothing is written; `silent` if the CRM did
 * not answer in time, or refused.
 */
export type CurrentRecord =
  | { readonly kind: 'compared'; readonly planned: readonly Planned[] }
  | { readonly kind: 'hold' | 'gone' | 'moved' | 'unlinked' }
  | { readonly kind: 'contested'; readonly reason: string }
  | { readonly kind: 'silent'; readonly reason: string };

/** A record, and what is to be supposed of it: somebody wants to see what a change would do before it is made. */
export interface SupposedRecord {
  readonly id: string;
  /** It is linked to this company, whatever its link says. */
  readonly entity?: string | undefined;
  /** This stands on the property in place of what does; null if nothing is to stand there. */
  readonly override?: { readonly property: string; readonly to: Override | null } | undefined;
}

/** Reads one record and decides it, within `limitMs`. One call, more if the schema is not known or may be old. Writes nothing. */
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

/** The same of several records, in their order, with as many calls as for one: as many as one call of the CRM reads. */
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
  // Whoever thinks of linking a record is told of its number beside this: it speaks against links that are there.
  const isLinked = records.every(({ entity }) => entity === undefined);
  const match = isLinked ? await followedMatch(store.db, crm, schema) : undefined;
  const { found } = await readAndDecide({ store, now }, { crm, schema, match, records: loaded }, signal);
  const byId = new Map(found.map((each) => [each.record.id, currentOf(each)]));
  return records.map(({ id }) => byId.get(id) ?? UNLINKED);
}

/** What was decided for a record, or why nothing was. */
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
  const supposed = new Map(records.flatMap(({ id, override }) => (override === undefined ? [] : [[id, override]])));
  return loaded.map((record) => {
    const override = supposed.get(record.id);
    if (override === undefined) return record;
    const overrides = new Map(record.overrides);
    if (override.to === null) overrides.delete(override.property);
    else overrides.set(override.property, override.to);
    return { ...record, overrides };
  });
}
