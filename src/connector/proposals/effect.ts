/**
 * Counts what a mapping does in a sample of records, as the CRM holds them now, by the decisions that a sync makes. Writes
 * nothing.
 */
import { setImmediate } from 'node:timers/promises';
import { FIELD_NAMES, type FieldName } from '../../../providers/fields.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { patiently } from '../crm/patience.ts';
import { isBlank } from '../decide/decide.ts';
import type { Planned } from '../decide/planned.ts';
import type { Fact } from '../facts/fact.ts';
import { followedMatch } from '../follow/match-property.ts';
import type { DecisionRules } from '../rules/rules.ts';
import { type LinkedRecord, loadRecords } from '../sync/load.ts';
import { type DecidedRecord, readAndDecide } from '../sync/prepare.ts';
import { asTracked, countLinks, linkedIds, plansOf, readOnce } from './preview.ts';

export interface MappingEffect {
  /** Linked records; of a connection without any, those of the sample. */
  readonly of: number;
  /** No record is linked: decided as if each were of an invented company. */
  readonly isInvented: boolean;
  readonly read: number;
  readonly unread: number;
  /** Records that are left alone: on hold, outside of `only`, or linked to another company than their number says. */
  readonly left: number;
  /** Blanks that would be filled. */
  readonly filled: number;
  /** Values of the register or of ours that would follow the register. */
  readonly updated: number;
  /** Values of people that stay. */
  readonly kept: number;
  /** Values of people that would be overwritten. */
  readonly overwritten: number;
  /** Values that their property does not take. */
  readonly refused: number;
}

const NONE: MappingEffect = {
  isInvented: false,
  ...{ of: 0, read: 0, unread: 0, left: 0, filled: 0, updated: 0, kept: 0, overwritten: 0, refused: 0 },
};

/** Facts that every record of a sample is decided by, if no record is linked yet. */
export interface InventedCompany {
  readonly entity: string;
  readonly facts: ReadonlyMap<FieldName, Fact>;
}

export interface EffectRequest {
  readonly crm: Crm;
  readonly rules: DecisionRules;
  readonly invented: InventedCompany;
  readonly sample?: number;
}

interface EffectDeps {
  readonly store: Store;
  readonly now: () => number;
}

/** Records of a sample. */
const SAMPLE = 2_000;
/** Records that are decided without a break: some 50 ms. */
const AT_ONCE = 100;

/** Counts batch by batch; each count includes the ones before. The loop is free between two batches. */
export async function* countEffect(
  deps: EffectDeps,
  request: EffectRequest,
  signal: AbortSignal,
): AsyncIterable<MappingEffect> {
  const { crm, sample = SAMPLE } = request;
  const linked = await countLinks(deps.store.db, crm.name);
  const size = Math.min(AT_ONCE, crm.limits.batch.read);
  const step = Math.max(1, Math.ceil(linked / sample));
  const batches = linked > 0 ? linkedIds(deps.store.db, crm.name, { size, step }) : scannedIds(request, signal);
  let effect: MappingEffect = { ...NONE, of: linked, isInvented: linked === 0 };
  yield effect;
  for await (const ids of batches) {
    signal.throwIfAborted();
    const found = await patiently(
      { crm, now: deps.now },
      () => decideBatch(deps, { ...request, ids, isLinked: linked > 0 }, signal),
      signal,
    );
    effect = found.reduce(withRecord, effect);
    if (linked === 0) effect = { ...effect, of: effect.read + effect.unread };
    yield effect;
    await setImmediate();
  }
}

/** Ids of the first records of a CRM, in batches. */
export async function* scannedIds(
  { crm: { connection, limits }, sample = SAMPLE }: Pick<EffectRequest, 'crm' | 'sample'>,
  signal: AbortSignal,
): AsyncIterable<readonly string[]> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await connection.scan([], cursor, signal);
    const fresh = page.records.map(({ id }) => id).filter((id) => !seen.has(id));
    const taken = fresh.slice(0, sample - seen.size);
    for (const id of taken) seen.add(id);
    const size = Math.min(AT_ONCE, limits.batch.read);
    for (let at = 0; at < taken.length; at += size) yield taken.slice(at, at + size);
    cursor = page.cursor;
  } while (cursor !== undefined && seen.size < sample);
}

interface EffectBatch extends EffectRequest {
  readonly ids: readonly string[];
  readonly isLinked: boolean;
}

/** A record, and what `tracked` would do to it. */
interface DecidedTwice {
  readonly decided: DecidedRecord;
  readonly tracked: ReadonlyMap<string, Planned>;
}

async function decideBatch(
  deps: EffectDeps,
  { crm, rules, ids, isLinked, invented }: EffectBatch,
  signal: AbortSignal,
): Promise<readonly DecidedTwice[]> {
  const { db } = deps.store;
  const schema = await crm.schema(signal);
  const match = isLinked ? await followedMatch(db, crm, schema) : undefined;
  const records = isLinked
    ? await loadRecords(db, { provider: crm.name, ids, fields: FIELD_NAMES }, deps.now())
    : ids.map((id) => inventedRecord(invented, id));
  const batch = { crm, before: rules, after: rules, ids: records.map(({ id }) => id) };
  const connection = await readOnce(batch, { schema, match }, signal);
  const decideBy = async (by: DecisionRules, some: readonly LinkedRecord[]): Promise<readonly DecidedRecord[]> =>
    (await readAndDecide(deps, { crm: { ...crm, ...by, connection }, schema, match, records: some }, signal)).found;
  const alone = asTracked(rules, records);
  const tracked = plansOf(await decideBy(alone.rules, alone.records));
  await setImmediate();
  return (await decideBy(rules, records)).map((decided) => ({
    decided,
    tracked: tracked.get(decided.record.id) ?? new Map(),
  }));
}

/** A record as if it were linked to an invented company, of which nothing was known before. */
export const inventedRecord = ({ entity, facts }: InventedCompany, id: string): LinkedRecord => ({
  ...{ id, entity, facts, syncedSeq: 0, newestSeq: 1, trust: 'crm', origin: 'number', mismatch: null },
  ...{ writesNumber: false, overrides: new Map(), known: () => [], wholes: [], remembered: new Map() },
  ...{ pending: [], gaps: [] },
});

function withRecord(before: MappingEffect, { decided: { read, planned }, tracked }: DecidedTwice): MappingEffect {
  if (read === undefined || read.kind === 'retry') return { ...before, unread: before.unread + 1 };
  const effect = { ...before, read: before.read + 1 };
  if (planned === undefined) return { ...effect, left: effect.left + 1 };
  for (const each of planned) {
    const kind = kindOf(each, tracked.get(each.property)?.action === 'keep');
    if (kind !== undefined) effect[kind] += 1;
  }
  return effect;
}

type EffectKind = 'filled' | 'updated' | 'kept' | 'overwritten' | 'refused';

function kindOf({ action, rule, old }: Planned, isOfPerson: boolean): EffectKind | undefined {
  if (action === 'set-aside') return 'refused';
  if (action === 'keep') return 'kept';
  // By the rule, since an unticked checkbox counts as blank.
  if (action === 'write' && (rule === 'blank' || isBlank(old))) return 'filled';
  if (action === 'write') return isOfPerson ? 'overwritten' : 'updated';
  return isOfPerson ? 'kept' : undefined;
}
