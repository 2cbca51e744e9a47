/** Reads records in the CRM and decides them, right before the write. */
import type { Patch, Property, Read } from '../../../providers/provider.ts';
import { type Claim, held } from '../../runtime/lanes/lanes.ts';
import type { PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Store } from '../../store/store.ts';
import { type Crm, NEW_SCHEMA_MS } from '../crm/crm.ts';
import { holdOf, holdProperties } from '../crm/hold.ts';
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

export interface Prepared {
  readonly record: LinkedRecord;
  readonly read: Read | undefined;
  /** Undefined if the record was not found, is on hold, or has an objection. */
  readonly planned?: readonly Planned[];
  /** Why the link must not be followed; see {@link objectionTo}. */
  readonly objection?: Objection;
  /** Whether the record's company and overrides have not changed since they were loaded. */
  readonly asLoaded: boolean;
  /** A pending write was stored, so the lane is still ours. */
  readonly isOurs: boolean;
}

type Schema = ReadonlyMap<string, Property>;

export interface Undecided {
  readonly crm: Crm;
  readonly schema: Schema;
  readonly match: string | undefined;
  readonly records: readonly LinkedRecord[];
  readonly pair?: CallPair;
}

export interface Preparation extends Undecided {
  readonly claims: readonly Claim[];
}

/** `readFrom` is the time at which the read left. */
export async function prepare(
  { store, now }: PrepareDeps,
  { claims, ...undecided }: Preparation,
  signal: AbortSignal,
): Promise<{
  readonly prepared: readonly Prepared[];
  readonly begun: readonly PendingWrite[];
  readonly readFrom: number;
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
  // Only for lanes that are still ours: a frozen process must not overwrite a newer owner's work.
  const begun = await beginPatches(store, plans, { crm, claims, readFrom, now: now() });
  const ours = new Set(begun.map(({ key }) => key));
  // While the CRM answered, a person may have moved the record to another company or placed a hold.
  const asLoaded = await stillAsLoaded(store.db, crm.name, records, now());
  const prepared = found.map((each) => {
    const { id } = each.record;
    return { ...each, asLoaded: asLoaded.has(id), isOurs: ours.has(id) };
  });
  return { prepared, begun, readFrom, schema };
}

/** Skips records whose lane another process has by now. */
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

export type DecidedRecord = Pick<Prepared, 'record' | 'read' | 'planned' | 'objection'>;

interface DecidedRecords {
  readonly found: readonly DecidedRecord[];
  readonly readFrom: number;
}

/**
 * Reads records and decides each; writes and remembers nothing. One call, none without records. Reads the schema and
 * the records again if a value would newly be set aside or a number contradicts a link, and the schema is not new: the
 * cause may be repaired, and if a property was removed, every record looks blank.
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

const setsAside = ({ record, planned = [] }: DecidedRecord): boolean =>
  planned.some(
    ({ action, rule, property, now }) =>
      action === 'set-aside' &&
      rule !== CURRENCY &&
      record.remembered.get(property)?.refused?.value !== JSON.stringify(now),
  );

/** Decides by this schema alone. `left`: records whose links wait for an operator; see {@link objectionTo}. */
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

type DecidingInputs = Omit<Undecided, 'crm'> & { readonly crm: Pick<Crm, 'mapping' | 'match' | 'hold' | 'only'> };

export function decidingProperties({ crm, schema, match, records }: DecidingInputs): readonly string[] {
  const mapped = [...rowsFor(crm.mapping, schema), ...records.flatMap((record) => numberRow(crm.match, record))];
  const names = mapped.flatMap(({ property }) => (schema.has(property) ? property : []));
  const number = match !== undefined && schema.has(match) ? match : undefined;
  const currencies = names.map((name) => schema.get(name)?.currencyIn);
  return [...new Set([...names, ...currencies, ...holdProperties(crm), number].filter((name) => name !== undefined))];
}

/** Decides one record as read at `readAt`. Pure. */
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
  const { values, persons, currency, dashboard, connection } = crm;
  const mapping = record.writesNumber ? [...crm.mapping, ...numberRow(crm.match, record)] : crm.mapping;
  const planned = planRecord({
    ...record,
    mapping,
    values,
    persons,
    currency,
    dashboard,
    schema,
    tellsEdits: connection.edits !== undefined,
    crm: read.properties,
  });
  return { record, read, planned };
}

export const patchesOf = (prepared: readonly Prepared[]): readonly Patch[] =>
  prepared.flatMap(({ record: { id }, planned, asLoaded, isOurs }) =>
    planned !== undefined && asLoaded && isOurs ? [{ id, properties: patchOf(planned) }] : [],
  );
