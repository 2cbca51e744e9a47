/** Hold and number of records, right before a note or a parent is written to them. */
import type { Read } from '../../../providers/provider.ts';
import type { Store } from '../../store/store.ts';
import { type Crm, NEW_SCHEMA_MS } from '../crm/crm.ts';
import { holdsOf } from '../crm/hold.ts';
import { followOf, linksOf } from './change-hints.ts';
import { type Objection, objectionTo } from './decide-link.ts';
import { readMatch } from './match-property.ts';
import { behindSafetyLimit } from './safety-limit.ts';

export interface RecordState {
  readonly reads: readonly Read[];
  readonly holds: ReadonlyMap<string, number>;
  /** Why a record must not be written as its link says. The next sync lets its link follow. */
  readonly objections: ReadonlyMap<string, Objection>;
}

export interface RecordStateDeps {
  readonly store: Store;
  readonly crm: Crm;
  readonly now: () => number;
}

/** One call for as many records as the CRM allows. */
export async function readRecordState(
  deps: RecordStateDeps,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<RecordState> {
  const { store, crm, now } = deps;
  const match = await readMatch(store, crm, await crm.schema(signal), now());
  const { properties } = followOf(crm, match, now());
  const reads: Read[] = [];
  const size = crm.limits.batch.read;
  for (let from = 0; from < ids.length; from += size)
    reads.push(...(await crm.connection.read(ids.slice(from, from + size), properties, signal)));
  const holds = await holdsOf({ db: store.db, crm }, ids, reads, now());
  const objections = match === undefined ? new Map() : await objectionsTo(deps, { ids, reads, match }, signal);
  return { reads, holds, objections };
}

async function objectionsTo(
  { store, crm, now }: RecordStateDeps,
  { ids, reads, match }: { readonly ids: readonly string[]; readonly reads: readonly Read[]; readonly match: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Objection>> {
  const links = await linksOf(store.db, crm.name, ids);
  const found = (left: ReadonlySet<string>) =>
    new Map(
      ids.flatMap((id, index): (readonly [string, Objection])[] => {
        const [link, read] = [links.get(id), reads[index]];
        if (link?.state !== 'active' || read?.kind !== 'found') return [];
        const objection = objectionTo(link, read, match, left.has(id));
        return objection === undefined ? [] : [[id, objection]];
      }),
    );
  const objections = found(new Set());
  if (objections.size === 0) return objections;
  // A property removed since the schema was read looks blank in every record.
  const still = await readMatch(store, crm, await crm.schema(signal, NEW_SCHEMA_MS), now());
  if (still === undefined) return new Map();
  return found(await behindSafetyLimit(store.db, crm.name, [...objections.keys()]));
}
