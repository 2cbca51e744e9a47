/** Folds receipts of companies, in any order, into facts, and marks the lanes of records that are now behind. */

import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { FieldName, FieldValue } from '../../../providers/fields.ts';
import type { Metrics } from '../../http/metrics.ts';
import { type Payload, readPayload, type WireOptions } from '../../protocol/payload.ts';
import { type Claim, held, mark, settleAll } from '../../runtime/lanes/lanes.ts';
import { readAlone } from '../../runtime/lanes/poison.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import { each, eachRow } from '../../store/each.ts';
import { ASIDE, type Store, type Tx } from '../../store/store.ts';
import { type DebugLog, shows } from '../../telemetry/debug-log.ts';
import { describeSpan, inSpan, isTracing } from '../../telemetry/trace.ts';
import {
  concernsRecords,
  type Fact,
  fold,
  knownAddresses,
  knownValues,
  WHOLE_ADDRESS,
  type Whole,
} from '../facts/fact.ts';
import { readFacts } from '../facts/facts.ts';
import { datedBy } from '../intake/ahead.ts';
import { quarantineEvent } from '../intake/quarantined.ts';
import { readWaiting, readWaitingTraces, requestIn } from '../intake/receipt.ts';
import type { FieldChange, NotedEvent } from '../notes/compose.ts';
import { mayBeNoted, type NoteRules, writeNotes } from '../notes/rows.ts';
import { markParents } from '../parents/mark.ts';
import { askFullUpdates, type Needed } from './ask-full.ts';
import { beginNext, startCpuClock } from './poison.ts';

type MappedFields = ReadonlyMap<string, ReadonlySet<FieldName>>;

export interface ApplyDeps extends WireOptions {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly metrics: Metrics;
  readonly now: () => number;
  readonly log?: DebugLog & { warn(details: object, message: string): void };
  /** The mapped fields of each CRM: an event about other fields does not concern its records. */
  readonly mapped: MappedFields | ((tx: Tx) => Promise<MappedFields>);
  readonly notes?: NoteRules | undefined;
  readonly parents?: ReadonlySet<string> | undefined;
}

/** Receipts in one transaction: it holds the store's only writer. */
const MOST_RECEIPTS = 1_000;

interface KnownValue {
  readonly entity: string;
  readonly field: string;
  readonly value: string;
}

/**
 * Updates companies' facts from their receipts. A company whose last run never ended comes last, receipt by receipt:
 * one of them may have ended the process.
 */
export async function applyReceipts(deps: ApplyDeps, claims: readonly Claim[]): Promise<void> {
  const together = claims.filter(({ unended }) => unended === 0);
  if (together.length > 0) await applyOnce(deps, together);
  for (const claim of claims.filter(({ unended }) => unended > 0)) {
    const applyNext = async (): Promise<boolean> => {
      if (!(await beginNext(deps, claim))) return false;
      await applyOnce(deps, [claim], { alone: true });
      return true;
    };
    while (await readAlone(applyNext));
    await applyOnce(deps, [claim]);
  }
}

/** One transaction. With `alone`, folds one receipt and does not settle the lane. */
async function applyOnce(
  deps: ApplyDeps,
  claims: readonly Claim[],
  options: { readonly alone?: true } = {},
): Promise<void> {
  const links = isTracing()
    ? await readWaitingTraces(
        deps.store.db,
        claims.map(({ key }) => key),
      )
    : [];
  const attributes = { 'cvrsync.companies': claims.length };
  return inSpan(
    'apply',
    () => ({ kind: 'lane', attributes, links }),
    () => foldOnce(deps, claims, options),
  );
}

async function foldOnce(
  deps: ApplyDeps,
  claims: readonly Claim[],
  { alone }: { readonly alone?: true },
): Promise<void> {
  const { store, wakeUp, metrics } = deps;
  const done = await store.write(async (tx) => {
    const entities = await held(tx, claims);
    const mapped = await mappedIn(tx, deps);
    const receipts = await readWaiting(tx, entities, alone ? 1 : MOST_RECEIPTS);
    describeSpan({ 'cvrsync.events': receipts.length });
    const folding = openFolding(await readFacts(tx, [...entities]));
    const clock = startCpuClock();
    for (const receipt of receipts) {
      foldReceipt(folding, deps, receipt);
      const seconds = clock.slowSeconds();
      if (seconds !== undefined) folding.slow.set(receipt.seq, seconds);
    }
    const { facts, changed, changedFields, known, eventsToNote, quarantined } = folding;
    await writeFacts(tx, [...changed.values()]);
    await writeKnown(tx, known, deps.now());
    await endReceipts(
      tx,
      receipts.map(({ seq }) => seq),
      deps.now(),
    );
    for (const [seq, reason] of quarantined) await quarantineEvent(tx, seq, reason);
    const queues = [
      ...(await markRecords(tx, changedFields, mapped, deps.now())),
      ...(await askFullUpdates(tx, facts.values(), neededFields(mapped, deps.parents), deps.now())),
      ...(deps.notes === undefined ? [] : await writeNotes(tx, deps.notes, eventsToNote, deps.now())),
      ...(deps.parents === undefined
        ? []
        : await markParents(tx, deps.parents, { entities, changedFields }, deps.now())),
    ];
    const left = receipts.length === MOST_RECEIPTS;
    if (!alone)
      await settleAll(
        tx,
        claims.map((claim) => [claim, left ? { kind: 'again', at: deps.now(), fresh: true } : { kind: 'done' }]),
      );
    return { ...folding, receipts, queues, lost: claims.length - entities.size };
  }, ASIDE);
  reportFolding(deps, done);
  if (done.lost > 0) metrics.leaseLost.inc(done.lost);
  for (const queue of done.queues) wakeUp.ring(queue);
}

const mappedIn = async (tx: Tx, { mapped }: ApplyDeps): Promise<MappedFields> =>
  typeof mapped === 'function' ? mapped(tx) : mapped;

interface Folding {
  readonly facts: Map<string, Fact>;
  readonly changed: Map<string, Fact>;
  readonly changedFields: Map<string, Set<FieldName>>;
  readonly known: KnownValue[];
  readonly payloads: Payload[];
  readonly eventsToNote: NotedEvent[];
  /** Receipt → reason of its quarantine. */
  readonly quarantined: Map<number, string>;
  readonly slow: Map<number, number>;
  stale: number;
}

const openFolding = (facts: readonly Fact[]): Folding => ({
  facts: new Map(facts.map((fact) => [factKey(fact), fact])),
  changed: new Map(),
  changedFields: new Map(),
  known: [],
  payloads: [],
  eventsToNote: [],
  quarantined: new Map(),
  slow: new Map(),
  stale: 0,
});

type Receipt = Awaited<ReturnType<typeof readWaiting>>[number];

function foldReceipt(folding: Folding, deps: ApplyDeps, { seq, entity, timestamp, body }: Receipt): void {
  const { facts, changed, changedFields, known } = folding;
  const read = readPayload(JSON.parse(body ?? 'null'), deps);
  // The webhook accepts only readable bodies, so this is a bug of cvrsync, and the lane must not move on.
  if (!read.ok) throw new Error(`receipt ${seq} of ${entity} cannot be read back from the store`);
  folding.payloads.push(read.payload);
  // The receipt's time counts: an operator may have accepted the event as of its arrival.
  const dated = datedBy({ ...read.payload, timestamp }, deps.now());
  if (dated.quarantined !== undefined) folding.quarantined.set(seq, dated.quarantined);
  const { payload, assertions } = dated;
  const fieldChanges = payload !== undefined && isNoted(deps, payload) ? new Map<FieldName, FieldChange>() : undefined;
  if (payload !== undefined && fieldChanges !== undefined) folding.eventsToNote.push({ seq, payload, fieldChanges });
  for (const assertion of assertions) {
    const key = factKey({ entity, field: assertion.field });
    const before = facts.get(key);
    const folded = fold(before, entity, assertion, seq);
    fieldChanges?.set(assertion.field, { before, folded });
    if (folded.stale) folding.stale += 1;
    if (concernsRecords(assertion, folded))
      changedFields.set(entity, (changedFields.get(entity) ?? new Set()).add(assertion.field));
    facts.set(key, folded.fact);
    changed.set(key, folded.fact);
    for (const value of knownValues(assertion, folded)) known.push(knownRow(entity, assertion.field, value));
  }
  known.push(...knownAddresses(assertions).map((address) => knownRow(entity, WHOLE_ADDRESS, address)));
}

async function endReceipts(tx: Tx, seqs: readonly number[], now: number): Promise<void> {
  await tx
    .updateTable('receipt')
    .set({ applied_at: now, begun: 0 })
    .where('seq', 'in', sql<number>`(select cast(value as bigint) from ${each(tx, seqs.map(String))} as seqs)`)
    .execute();
}

function reportFolding({ metrics, log }: ApplyDeps, done: Folding & { readonly receipts: readonly Receipt[] }): void {
  metrics.staleEvents.inc(done.stale);
  metrics.eventsAhead.inc(done.quarantined.size);
  for (const [event, reason] of done.quarantined)
    log?.warn({ event, reason }, 'an event was quarantined: see cvrsync review list');
  for (const [event, cpuSeconds] of done.slow) {
    metrics.slowEvents.inc();
    log?.warn({ event, cpuSeconds }, 'cvrsync took long to read an event, and did nothing else meanwhile');
  }
  for (const payload of done.payloads) countOddities(payload, metrics);
  if (!shows(log, 'debug')) return;
  for (const { seq, entity, ...names } of done.receipts)
    log?.debug?.({ request: requestIn(names), event: seq, entity }, 'an event was read');
}

const neededFields = (mapped: MappedFields, parents: ApplyDeps['parents']): Needed =>
  new Map(
    [...new Set([...mapped.keys(), ...(parents ?? [])])].map((provider) => [
      provider,
      new Set([...(mapped.get(provider) ?? []), ...(parents?.has(provider) === true ? (['owners'] as const) : [])]),
    ]),
  );

const isNoted = ({ notes }: ApplyDeps, payload: Payload): boolean => notes !== undefined && mayBeNoted(notes, payload);

function countOddities(payload: Payload, metrics: Metrics): void {
  for (const event of Object.keys(payload.unknown)) metrics.countUnknownEvent(event);
  for (const { event } of payload.malformed) metrics.countMalformedEntry(event);
}

const factKey = ({ entity, field }: { entity: string; field: string }): string => `${entity} ${field}`;

function knownRow(entity: string, field: string, value: FieldValue | Whole): KnownValue {
  return { entity, field, value: JSON.stringify(value) };
}

/** Marks active records whose mapped fields changed; returns the queues with work. */
async function markRecords(
  tx: Tx,
  changedFields: ReadonlyMap<string, ReadonlySet<FieldName>>,
  mapped: MappedFields,
  now: number,
): Promise<ReadonlySet<string>> {
  const links = await tx
    .selectFrom('link')
    .select(['provider', 'record_id', 'entity'])
    .where('entity', 'in', each(tx, [...changedFields.keys()]))
    .where('state', '=', 'active')
    .execute();
  const behind = links.filter(
    ({ provider, entity }) => !(mapped.get(provider)?.isDisjointFrom(changedFields.get(entity) ?? new Set()) ?? true),
  );
  const byQueue = Map.groupBy(behind, (link) => `sync:${link.provider}`);
  for (const queue of [...byQueue.keys()].sort()) {
    const ids = (byQueue.get(queue) ?? []).map((link) => link.record_id);
    await mark(tx, queue, ids, now);
  }
  return new Set(byQueue.keys());
}

async function writeFacts(tx: Tx, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return;
  const rows = facts.map(({ entity, field, value, clock, seq }) => ({
    entity,
    field,
    value: JSON.stringify(value),
    clock,
    seq,
  }));
  await sql`insert into fact (entity, field, value, clock, seq)
    select each.entity, each.field, each.value, each.clock, cast(each.seq as bigint)
    from ${eachRow(tx, ['entity', 'field', 'value', 'clock', 'seq'], rows)} where true
    on conflict (entity, field) do update set value = excluded.value, clock = excluded.clock, seq = excluded.seq`.execute(
    tx,
  );
}

async function writeKnown(tx: Tx, known: readonly KnownValue[], now: number): Promise<void> {
  if (known.length === 0) return;
  const rows = known.map((row) => ({ ...row, digest: hash('sha256', row.value, 'base64url') }));
  await sql`insert into known_value (entity, field, digest, value, seen_at)
    select each.entity, each.field, each.digest, each.value,
      cast(${now} as bigint)
    from ${eachRow(tx, ['entity', 'field', 'digest', 'value'], rows)} where true
    on conflict (entity, field, digest) do nothing`.execute(tx);
}
