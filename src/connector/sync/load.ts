/** Loads a batch of records for a sync, in a few queries. */
import type { FieldName, FieldValue } from '../../../providers/fields.ts';
import { type PendingWrite, readPendingWrites } from '../../runtime/lanes/pending-writes.ts';
import { each } from '../../store/each.ts';
import { type Gap, readGaps } from '../../store/recovery/gap.ts';
import type { PropertyStateTable } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import { withCurrencyFields } from '../decide/currency.ts';
import type { PropertyMemory, RefusedValue } from '../decide/memory.ts';
import { type PendingPatch, UNDO } from '../decide/planned.ts';
import type { Whole } from '../facts/fact.ts';
import { type KnownFacts, readKnownAddresses, readKnownFacts, readKnownValues } from '../facts/facts.ts';
import { decidedLines } from '../history/history-lines.ts';
import { readOverwritten } from '../history/overwritten.ts';
import { readWritten, type WrittenValues } from '../history/written.ts';
import type { Link } from '../links/links.ts';
import { type Overrides, readOverrides } from '../overrides/override.ts';

/** A linked record with all inputs of its plan except the values in the CRM. */
export interface LinkedRecord {
  readonly id: string;
  readonly entity: string;
  /** The newest receipt that the last sync included. */
  readonly syncedSeq: number;
  readonly trust: Link['trust'];
  readonly origin: Link['origin'];
  /** An accepted mismatch with its link. */
  readonly mismatch: Link['mismatch'];
  /** A person linked the record by an accepted match. */
  readonly writesNumber: boolean;
  readonly overrides: Overrides;
  readonly facts: KnownFacts['facts'];
  /** The newest applied receipt of its company: this sync includes it. */
  readonly newestSeq: number;
  readonly known: (field: FieldName) => readonly FieldValue[];
  readonly wholes: readonly Whole[];
  readonly remembered: ReadonlyMap<string, PropertyMemory>;
  readonly pending: readonly PendingWrite[];
  /** Periods that the store lost. */
  readonly gaps: readonly Gap[];
}

export interface RecordQuery {
  readonly provider: string;
  readonly ids: readonly string[];
  readonly fields: readonly FieldName[];
}

export type PlannedLink = Pick<
  Link,
  'record_id' | 'entity' | 'synced_seq' | 'trust' | 'origin' | 'mismatch' | 'writes_number'
>;

export async function loadRecords(db: Db, query: RecordQuery, now: number): Promise<readonly LinkedRecord[]> {
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity', 'synced_seq', 'trust', 'origin', 'mismatch', 'writes_number'])
    .where('provider', '=', query.provider)
    .where('record_id', 'in', each(db, query.ids))
    .where('state', '=', 'active')
    .execute();
  return loadLinked(db, query, links, now);
}

/** Loads records by their links, which may be links that nobody has made yet. */
export async function loadLinked(
  db: Db,
  { provider, ids, fields }: RecordQuery,
  links: readonly PlannedLink[],
  now: number,
): Promise<readonly LinkedRecord[]> {
  const entities = [...new Set(links.map((link) => link.entity))];
  // Read before the facts: otherwise a value newer than the fact would count as an earlier one.
  const known = await readKnownValues(db, entities, fields);
  const wholes = await readKnownAddresses(db, entities, fields);
  const [facts, written, states, overrides, pending, gaps] = await Promise.all([
    readKnownFacts(db, entities, withCurrencyFields(fields)),
    readWritten(db, provider, ids),
    db
      .selectFrom('property_state')
      .selectAll()
      .where('provider', '=', provider)
      .where('record_id', 'in', each(db, ids))
      .execute(),
    readOverrides(db, provider, ids, now),
    readPendingWrites(db, `sync:${provider}`, ids),
    readGaps(db),
  ]);
  const restored = await readRestored(db, provider, [...new Set(pending.map(({ key }) => key))]);
  const statesOf = Map.groupBy(states, (state) => state.record_id);
  const pendingOf = Map.groupBy(pending, (write) => write.key);
  return links.map(({ record_id, entity, synced_seq, trust, origin, mismatch, writes_number }) => ({
    id: record_id,
    entity,
    syncedSeq: synced_seq,
    trust,
    origin,
    mismatch,
    writesNumber: writes_number === 1,
    overrides: overrides.get(record_id) ?? NO_OVERRIDES,
    ...(facts.get(entity) ?? NOTHING_KNOWN),
    known: (field) => known(entity, field),
    wholes: wholes(entity),
    remembered: rememberedOf(
      written.get(record_id) ?? NOTHING_WRITTEN,
      (statesOf.get(record_id) ?? []).map(stateMemory((facts.get(entity)?.newestSeq ?? 0) > synced_seq, now)),
      pendingOf.get(record_id) ?? [],
      { restored: restored.get(record_id) ?? NOTHING_RESTORED, gaps },
    ),
    pending: pendingOf.get(record_id) ?? [],
    gaps,
  }));
}

const NOTHING_KNOWN: KnownFacts = { facts: new Map(), newestSeq: 0 };
const NOTHING_WRITTEN: WrittenValues = new Map();
const NO_OVERRIDES: Overrides = new Map();

export const NOTHING: PropertyMemory = {
  written: undefined,
  stored: undefined,
  writtenAt: 0,
  restored: undefined,
  refused: undefined,
  trusted: false,
  kept: undefined,
  overwritten: undefined,
  pending: [],
};

/** The value that the CRM refused. It is sent again after a newer event of the company. */
function refusedIn(state: PropertyStateTable, isBehind: boolean, now: number): RefusedValue | undefined {
  const { refused: value, refused_reason, refused_schema: schema, refused_until: until } = state;
  if (value === null) return undefined;
  const refused = { value, reason: refused_reason ?? '' };
  const isDue = isBehind || schema === null || until === null || until <= now;
  return isDue ? refused : { ...refused, aside: { schema, until } };
}

type StateMemory = Pick<PropertyMemory, 'refused' | 'trusted' | 'kept' | 'overwritten'>;

const stateMemory = (isBehind: boolean, now: number) => (state: PropertyStateTable) => ({
  property: state.property,
  memory: {
    refused: refusedIn(state, isBehind, now),
    trusted: state.trusted_at !== null,
    kept:
      state.kept === null
        ? undefined
        : { crm: state.kept, now: state.offered ?? 'null', with: state.kept_with ?? undefined },
    overwritten: readOverwritten(state.overwritten),
  } satisfies StateMemory,
});

export const patchIn = ({ detail }: PendingWrite): PendingPatch => JSON.parse(detail);

type RestoredValues = ReadonlyMap<string, PropertyMemory['restored']>;

const NOTHING_RESTORED: RestoredValues = new Map();

async function readRestored(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RestoredValues>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('history')
    .selectAll()
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('rule', '=', UNDO)
    .where('outcome', '=', 'written')
    .orderBy('id')
    .execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.record_id)].map(([id, own]) => [
      id,
      new Map(
        own.flatMap(decidedLines).map(({ property, now, stored = now, at }) => [property, { value: stored, at }]),
      ),
    ]),
  );
}

function rememberedOf(
  written: WrittenValues,
  states: readonly { readonly property: string; readonly memory: StateMemory }[],
  writes: readonly PendingWrite[],
  { restored, gaps }: { readonly restored: RestoredValues; readonly gaps: readonly Gap[] },
): ReadonlyMap<string, PropertyMemory> {
  const remembered = new Map<string, PropertyMemory>();
  for (const [property, { value, at, stored }] of written)
    remembered.set(property, { ...NOTHING, written: value, stored, writtenAt: at, ...aheadBy(gaps, at) });
  for (const { property, memory } of states)
    remembered.set(property, { ...(remembered.get(property) ?? NOTHING), ...memory });
  for (const from of writes)
    for (const [property, field, old, now, seq] of patchIn(from)) {
      const known = remembered.get(property) ?? NOTHING;
      const pending = [...known.pending, { field, old, now, seq, from }];
      remembered.set(property, { ...known, pending, restored: restored.get(property) });
    }
  return remembered;
}

export function aheadBy(gaps: readonly Gap[], at: number): Pick<PropertyMemory, 'aheadOf'> {
  const gap = gaps.findLast(({ since, until }) => at > since && at <= until);
  return gap === undefined ? {} : { aheadOf: gap.seq };
}

/** The records whose company and overrides have not changed since they were loaded; checked right before the write. */
export async function stillAsLoaded(
  db: Db,
  provider: string,
  records: readonly LinkedRecord[],
  now: number,
): Promise<ReadonlySet<string>> {
  const ids = records.map(({ id }) => id);
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('state', '=', 'active')
    .execute();
  const entities = new Map(links.map((link) => [link.record_id, link.entity]));
  const overrides = await readOverrides(db, provider, ids, now);
  const isSame = ({ id, entity, overrides: then }: LinkedRecord): boolean =>
    entities.get(id) === entity && sameOverrides(then, overrides.get(id) ?? NO_OVERRIDES);
  return new Set(records.filter(isSame).map(({ id }) => id));
}

const sameOverrides = (a: Overrides, b: Overrides): boolean => JSON.stringify([...a]) === JSON.stringify([...b]);
