/** What a record holds in its CRM right now, beside what the register says, as the next sync would decide it. */
import { FIELD_NAMES } from '../../../providers/fields.ts';
import { ProviderError } from '../../../providers/provider.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import type { Override } from '../decide/override.ts';
import type { Planned } from '../decide/planned.ts';
import { type LinkedRecord, loadLinked, loadRecords } from '../sync/load.ts';
import { decideRecords } from '../sync/prepare.ts';

/**
 * `compared` with one decision for each mapped property that has a fact; `hold` where the record itself says that it is to be
 * left alone; `silent` where the CRM did not answer in time, or refused.
 */
export type CurrentRecord =
  | { readonly kind: 'compared'; readonly planned: readonly Planned[] }
  | { readonly kind: 'hold' | 'gone' | 'moved' | 'unlinked' }
  | { readonly kind: 'silent'; readonly reason: string };

/** A record, and what is to be supposed of it: somebody wants to see what a change would do before it is made. */
export interface SupposedRecord {
  readonly id: string;
  /** It is linked to this company, whatever its link says. */
  readonly entity?: string | undefined;
  /** This stands on the property in place of what does; null where nothing is to stand there. */
  readonly override?: { readonly property: string; readonly to: Override | null } | undefined;
}

/** Reads one record and decides it, within `limitMs`. One call, two where the schema is not known yet. Writes nothing. */
export async function readCurrent(
  { store, now }: { readonly store: Store; readonly now: () => number },
  crm: Crm,
  record: SupposedRecord,
  limitMs: number,
): Promise<CurrentRecord> {
  const block = await crm.rateLimiter.blockedUntil();
  if (block !== undefined) return { kind: 'silent', reason: block.reason ?? 'the account is paused' };
  const signal = AbortSignal.timeout(limitMs);
  const late = new Promise<CurrentRecord>((resolve) => {
    signal.addEventListener('abort', () =>
      resolve({ kind: 'silent', reason: `no answer within ${limitMs / 1_000} s` }),
    );
  });
  return Promise.race([late, compare(store, crm, { record, now }, signal)]);
}

async function compare(
  store: Store,
  crm: Crm,
  { record, now }: { readonly record: SupposedRecord; readonly now: () => number },
  signal: AbortSignal,
): Promise<CurrentRecord> {
  try {
    const records = await loadSupposed(store.db, crm.name, record, now());
    if (records.length === 0) return { kind: 'unlinked' };
    const schema = await crm.schema(signal);
    const { found } = await decideRecords({ crm, schema, records }, now, signal);
    const [{ read, planned } = { read: undefined, planned: undefined }] = found;
    if (planned !== undefined) return { kind: 'compared', planned };
    if (read?.kind === 'found') return { kind: 'hold' };
    return read?.kind === 'moved' ? { kind: 'moved' } : { kind: 'gone' };
  } catch (error) {
    if (error instanceof ProviderError || signal.aborted) return { kind: 'silent', reason: errorText(error) };
    throw error;
  }
}

async function loadSupposed(
  db: Db,
  provider: string,
  { id, entity, override }: SupposedRecord,
  now: number,
): Promise<readonly LinkedRecord[]> {
  const query = { provider, ids: [id], fields: FIELD_NAMES };
  const link =
    entity === undefined
      ? undefined
      : { record_id: id, entity, synced_seq: 0, trust: 'crm' as const, writes_number: 0 };
  const loaded = await (link === undefined ? loadRecords(db, query, now) : loadLinked(db, query, [link], now));
  if (override === undefined) return loaded;
  return loaded.map((record) => {
    const overrides = new Map(record.overrides);
    if (override.to === null) overrides.delete(override.property);
    else overrides.set(override.property, override.to);
    return { ...record, overrides };
  });
}
