/** prepare: reads records in the CRM and decides each, as the last thing before they are written. */
import type { Patch, Property, Read } from '../../../providers/provider.ts';
import { type Claim, held } from '../../runtime/lanes/lanes.ts';
import type { PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Store } from '../../store/open.ts';
import { type Crm, NEW_SCHEMA_MS } from '../crm/crm.ts';
import { holdOf } from '../crm/hold.ts';
import { type CallPair, timeRead } from '../crm/send-guard.ts';
import { CURRENCY } from '../decide/currency.ts';
import { numberRow, patchOf, planRecord, rowsFor } from '../decide/plan.ts';
import type { Planned } from '../decide/planned.ts';
import { type Objection, objectionTo } from '../follow/decide-link.ts';
import { behindSafetyLimit } from '../follow/safety-limit.ts';
import { rememberWritten } from '../history/written.ts';
import { type LinkedRecord, stillAsLoaded } from './load.ts';
import { beginPatches } from './pending.ts';
import { type Recognised, recogniseStored } from './recognise.ts';

export interface PrepareDeps {
  readonly store: Store;
  readonly now: () => number;
}

/** What a record holds in the CRM, and what is decided for it. */
export interface Prepared {
  readonly record: LinkedRecord;
  readonly read: Read | undefined;
  /** Absent if it was not found, is on hold, or there is an objection. */
  readonly planned?: readonly Planned[];
  /** Why it is not written to as its link says; see {@link objectionTo}. */
  readonly objection?: Objection;
  /** Whether the record still stands for the company it was loaded for, with the same overrides. */
  readonly asLoaded: boolean;
  /** A write of it was begun: its lane is still ours. */
  readonly isOurs: boolean;
}

type Schema = ReadonlyMap<string, Property>;

/** Records to read and decide. */
export interface Undecided {
  readonly crm: Crm;
  /** As known so far. */
  readonly schema: Schema;
  /** The property with the number that links follow, where there is one. */
  readonly match: string | undefined;
  readonly records: readonly LinkedRecord[];
  /** The calls of a read that a write follows. */
  readonly pair?: CallPair;
}

/** Records to read and decide, under the claims of their lanes. */
export interface Preparation extends Undecided {
  readonly claims: readonly Claim[];
}

/** Reads records, decides each, and begins what is to be written. `readFrom` is when the read left, in ms since 1970. */
export async function prepare(
  { store, now }: PrepareDeps,
  { claims, ...undecided }: Preparation,
  signal: AbortSignal,
): Promise<{
  readonly prepared: readonly Prepared[];
  readonly begun: readonly PendingWrite[];
  readonly readFrom: number;
  /** By which it was decided. */
  readonly schema: Schema;
}> {
  const { crm, records } = undecided;
  const first = await readAndDecide({ store, now }, undecided, signal);
  const recognised = await recogniseStored(crm.connection, first.found, signal);
  if (recognised !== undefined) await rememberRecognised(store, crm.name, claims, recognised);
  const { found, readFrom, schema } =
    recognised === undefined
      ? first
      : await readAndDecide(
          { store, now },
          { ...undecided, schema: first.schema, records: recognised.records },
          signal,
        );
  const plans = found.flatMap(({ record, planned }) => (planned === undefined ? [] : [{ record, planned }]));
  // Only for lanes that are ours: a process that stood still must not write what a newer owner has overtaken.
  const begun = await beginPatches(store, plans, { crm, claims, readFrom, now: now() });
  const ours = new Set(begun.map(({ key }) => key));
  // Nor may a record be told of a company that a person took it from while the CRM answered, or be written to against a
  // hold that they were promised.
  const asLoaded = await stillAsLoaded(store.db, crm.name, records, now());
  const prepared = found.map((each) => {
    const { id } = each.record;
    return { ...each, asLoaded: asLoaded.has(id), isOurs: ours.has(id) };
  });
  return { prepared, begun, readFrom, schema };
}

/** Remembers what we wrote in a gap, unless another process has the record's lane by now. */
async function rememberRecognised(
  store: Store,
  provider: string,
  claims: readonly Claim[],
  { written }: Recognised,
): Promise<void> {
  if (written.length === 0) return;
  await store.write(async (tx) => {
    const ours = await held(tx, claims);
    await rememberWritten(
      tx,
      provider,
      written.filter(({ id }) => ours.has(id)),
    );
  });
}

/** A record that was read, and what is decided for it. */
export type DecidedRecord = Pick<Prepared, 'record' | 'read' | 'planned' | 'objection'>;

interface DecidedRecords {
  readonly found: readonly DecidedRecord[];
  readonly readFrom: number;
}

/**
 * Reads records and decides each: nothing is written, and nothing remembered. One call, and none if there are no
 * records; two more if a value would be set aside that was not yet, or a number speaks against a link, and the schema
 * is not new: what it was set aside for may have been put right, and of a property that was taken away every record looks
 * blank.
 */
export async function readAndDecide(
  { store, now }: PrepareDeps,
  undecided: Undecided,
  signal: AbortSignal,
): Promise<DecidedRecords & { readonly schema: Schema }> {
  const { crm } = undecided;
  const decided = await decideRecords(undecided, now, signal);
  const doubted = decided.found.flatMap(({ record, objection }) => (objection === undefined ? [] : [record.id]));
  const isDoubtful = doubted.length > 0 || decided.found.some(setsAside);
  const schema = isDoubtful ? await crm.schema(signal, NEW_SCHEMA_MS) : undecided.schema;
  const left = await behindSafetyLimit(store.db, crm.name, doubted);
  if (schema === undecided.schema && left.size === 0) return { ...decided, schema };
  return { ...(await decideRecords({ ...undecided, schema, left }, now, signal)), schema };
}

/** Whether a value would be set aside for what the schema says, that was not set aside already. */
const setsAside = ({ record, planned = [] }: DecidedRecord): boolean =>
  planned.some(
    ({ action, rule, property, now }) =>
      action === 'set-aside' &&
      rule !== CURRENCY &&
      record.remembered.get(property)?.refused?.value !== JSON.stringify(now),
  );

/** The same by this schema alone. `left`: records whose links are left to an operator; see {@link objectionTo}. */
async function decideRecords(undecided: Deciding, now: () => number, signal: AbortSignal): Promise<DecidedRecords> {
  const { crm, schema, match, records, pair } = undecided;
  const properties = decidingProperties(undecided);
  const ids = records.map((record) => record.id);
  const read = () => (ids.length === 0 ? Promise.resolve([]) : crm.connection.read(ids, properties, signal));
  const { answer: reads, from: readFrom } = await timeRead(now, read, pair);
  const readAt = now();
  const number = match !== undefined && schema.has(match) ? match : undefined;
  const found = records.map((record, index) =>
    decideRecord({ ...undecided, match: number }, record, reads[index], readAt),
  );
  return { found, readFrom };
}

type Deciding = Undecided & { readonly left?: ReadonlySet<string> };

type DecidingInputs = Omit<Undecided, 'crm'> & { readonly crm: Pick<Crm, 'mapping' | 'match' | 'hold'> };

/** The properties by which these records are decided, of those that the account has. */
export function decidingProperties({ crm, schema, match, records }: DecidingInputs): readonly string[] {
  const mapped = [...rowsFor(crm.mapping, schema), ...records.flatMap((record) => numberRow(crm.match, record))];
  const names = mapped.flatMap(({ property }) => (schema.has(property) ? property : []));
  const number = match !== undefined && schema.has(match) ? match : undefined;
  const currencies = names.map((name) => schema.get(name)?.currencyIn);
  return [...new Set([...names, ...currencies, crm.hold, number].filter((name) => name !== undefined))];
}

/** Decides one record by what the CRM said of it at `readAt`. Pure. */
export function decideRecord(
  { crm, schema, match, left }: Omit<Deciding, 'records'>,
  record: LinkedRecord,
  read: Read | undefined,
  readAt: number,
): DecidedRecord {
  if (read?.kind !== 'found' || holdOf(crm, read.properties, readAt) !== undefined) return { record, read };
  const objection =
    match === undefined
      ? undefined
      : objectionTo({ ...record, state: 'active' }, read, match, left?.has(record.id) === true);
  if (objection !== undefined) return { record, read, objection };
  const { values, persons, currency, dashboard } = crm;
  const mapping = record.writesNumber ? [...crm.mapping, ...numberRow(crm.match, record)] : crm.mapping;
  const planned = planRecord({
    ...record,
    mapping,
    values,
    persons,
    currency,
    dashboard,
    schema,
    crm: read.properties,
  });
  return { record, read, planned };
}

/** What may be written to these records. */
export const patchesOf = (prepared: readonly Prepared[]): readonly Patch[] =>
  prepared.flatMap(({ record: { id }, planned, asLoaded, isOurs }) =>
    planned !== undefined && asLoaded && isOurs ? [{ id, properties: patchOf(planned) }] : [],
  );
