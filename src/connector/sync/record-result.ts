/** The result of one record in a sync, and the settlement of its lane. Pure. */
import type { Property, PropertyValue, Read } from '../../../providers/provider.ts';
import type { Claim, Settlement } from '../../runtime/lanes/lanes.ts';
import type { EndedWrite, PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Crm } from '../crm/crm.ts';
import { holdOf, holdPollMs, holdReason } from '../crm/hold.ts';
import { type FaultSettlement, later, UNMENTIONED, whileContested } from '../crm/settle.ts';
import { partnersIn } from '../decide/partners.ts';
import type { Planned } from '../decide/planned.ts';
import { waiting } from '../decide/refusal.ts';
import { sameFor } from '../decide/same.ts';
import type { Decided, Happened } from '../history/history.ts';
import { type OverwrittenProperty, overwrittenAmong, type ReplacedValue } from '../history/overwritten.ts';
import type { WriteWindow } from '../write/freshness.ts';
import type { Written } from '../write/write.ts';
import type { LinkedRecord } from './load.ts';

/** Its effects and its lane's settlement are one transaction. */
export interface RecordResult {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly record?: LinkedRecord;
  readonly decided?: readonly Decided[];
  readonly happened?: Happened;
  readonly effect?: { readonly kind: 'gone' | 'contested' | 'moved' };
  readonly synced?: true;
  readonly overwritten?: readonly OverwrittenProperty[];
  /** When the write may have replaced an edit that the answer does not show. */
  readonly window?: WriteWindow | undefined;
  readonly begun?: readonly { readonly write: PendingWrite; readonly end: EndedWrite['end'] }[];
  /** No answer came; another record of the batch may be the cause. */
  readonly unanswered?: true | undefined;
}

/** After so many refusals that do not come from the CRM, some hours, the record is parked. */
const REFUSED_TRIES = 20;

export const faultyResult = (claim: Claim, fault: FaultSettlement): RecordResult => ({
  claim,
  settlement: fault.of(claim),
  unanswered: fault.paused ? undefined : true,
});

interface ClaimedRecord {
  readonly claim: Claim;
  readonly record: LinkedRecord;
}

/** Both undefined if nothing was sent. */
interface SentPatch {
  readonly written: Written | undefined;
  readonly fault: FaultSettlement | undefined;
}

interface DecidedProperties {
  readonly planned: readonly Planned[];
  readonly schema: ReadonlyMap<string, Property>;
}

type ResultCrm = Pick<Crm, 'name' | 'hold' | 'only' | 'pollMinutes' | 'mapping'>;

/** The result of a record that is not written: gone, merged, on hold, or not readable now. */
export function resultOfRead(crm: ResultCrm, base: ClaimedRecord, read: Read | undefined, now: number): RecordResult {
  const { claim, record } = base;
  const line = { provider: crm.name, id: record.id, entity: record.entity };
  switch (read?.kind) {
    case 'gone':
      return {
        ...base,
        settlement: { kind: 'done' },
        effect: { kind: 'gone' },
        happened: { ...line, rule: 'gone', detail: 'deleted in the CRM' },
      };
    case 'moved':
      return {
        ...base,
        settlement: later(claim, now, `merged into ${read.to}`),
        effect: { kind: 'moved' },
      };
    case 'found':
      return {
        ...base,
        settlement: {
          kind: 'again',
          at: Math.min(now + holdPollMs(crm), holdOf(crm, read.properties, now) ?? now),
          fresh: true,
        },
        happened: { ...line, rule: 'hold', detail: holdReason(crm, read.properties) },
      };
    default:
      return { ...base, settlement: later(claim, now, read?.reason ?? UNMENTIONED) };
  }
}

export const resultOfObjection = ({ claim, record }: ClaimedRecord, reason: string, now: number): RecordResult => ({
  claim,
  record,
  settlement: whileContested(reason, now),
  effect: { kind: 'contested' },
});

/** A refused value is sent again after this time, or at the next event. */
const RETRY_REFUSED_MS = 24 * 3_600_000;

/** Longest wait of a record that could not be read and written in time. */
const STALE_MS = 60_000;

export function resultOfWrite(
  crm: ResultCrm,
  { claim, record, planned, schema }: ClaimedRecord & DecidedProperties,
  { written, fault }: SentPatch,
  now: number,
): RecordResult {
  const base = { claim, record };
  const line = { provider: crm.name, id: record.id, entity: record.entity };
  const refused = written?.refused ?? {};
  const decided = planned.map((each): Decided => {
    const refusal = refused[each.property];
    if (refusal === undefined)
      return { ...line, planned: each, ...(each.carried !== undefined && { isCarried: true }) };
    // Its group is written without it, or waits for another part: as if it had not been carried.
    if (each.carried !== undefined) return { ...line, planned: each };
    // The CRM refused the other property; this one is decided again after that is accepted.
    if (refusal.waitsFor !== undefined) return { ...line, planned: waiting(each, refusal) };
    return { ...line, planned: { ...each, retryAt: now + RETRY_REFUSED_MS }, refused: refusal.reason };
  });
  const sent = decided.filter(
    ({ planned: { action }, refused: reason, isCarried }) =>
      isCarried === true || (action === 'write' && reason === undefined),
  );
  const shown = new Map(sent.map(({ planned: each }) => [each, shownOf(written, each, schema.get(each.property))]));
  const replaced = [...shown].map(([{ field, property }, each]) => ({
    id: record.id,
    field,
    property,
    ...each.replaced,
  }));
  const window = blindWindow(written) ?? lateWindow(planned, now);
  const hasPatch = planned.some((each) => each.action === 'write');
  const outcome = written?.outcome;
  if (!hasPatch || outcome?.kind === 'written')
    return {
      ...{ ...base, settlement: settlementUntilNext(decided), synced: true },
      decided: decided.map((each) => ({ ...each, ...shown.get(each.planned)?.written })),
      overwritten: overwrittenAmong(replaced, () => partnersIn(crm.mapping, schema)),
      window,
    };
  switch (outcome?.kind) {
    case 'gone':
      return resultOfRead(crm, base, { kind: 'gone', id: record.id }, now);
    case 'moved':
      return resultOfRead(crm, base, { kind: 'moved', id: record.id, to: outcome.to }, now);
    case 'rejected':
      return {
        ...base,
        settlement: { kind: 'parked', at: now, error: outcome.reason },
        happened: { ...line, rule: 'refused', detail: outcome.reason },
      };
    case 'call-refused':
      // A single record gives no comparison: the cause may be the record or the connection.
      return {
        ...base,
        settlement:
          claim.attempts + 1 < REFUSED_TRIES
            ? later(claim, now, outcome.reason)
            : { kind: 'parked', at: now, error: outcome.reason },
      };
    case 'stale':
      // The CRM or this machine is slow, and that passes for all records at once.
      return { ...base, settlement: later(claim, now, outcome.reason, { atMostMs: STALE_MS, jitter: 0 }) };
    case 'retry':
      return { ...base, settlement: later(claim, now, outcome.reason, { atLeastMs: outcome.retryAfterMs }) };
    case 'fault':
      if (fault !== undefined) return { ...base, ...faultyResult(claim, fault) };
      return { ...base, settlement: later(claim, now, 'the CRM did not answer') };
    default:
      return { ...base, settlement: { kind: 'again', at: now, free: true } };
  }
}

/** The window of a write whose answer did not state the replaced values. */
export const blindWindow = (written: Written | undefined): WriteWindow | undefined =>
  written?.outcome.kind === 'written' && written.outcome.replaced === undefined ? written.window : undefined;

function lateWindow(planned: readonly Planned[], now: number): WriteWindow | undefined {
  const begun = planned.flatMap(({ late }) => (late === undefined ? [] : [late.from.at]));
  return begun.length === 0 ? undefined : { from: Math.min(...begun), to: now };
}

/** Done until a hold ends or a refused value is sent again, whichever comes first. */
function settlementUntilNext(decided: readonly Decided[]): Settlement {
  const ends = decided.flatMap(({ planned: { rule, override, retryAt } }) =>
    [rule === 'held' ? override?.until : undefined, retryAt].filter((end) => end != null),
  );
  return ends.length === 0 ? { kind: 'done' } : { kind: 'again', at: Math.min(...ends), fresh: true };
}

/** A carried value may be what the CRM makes another one of: then it does so again. */
function shownOf(written: Written | undefined, planned: Planned, property: Property | undefined): ShownProperty {
  const { old, carried } = planned;
  if (carried === undefined) return shownBy(written, planned, property);
  const shown = shownBy(written, { ...planned, now: carried }, property);
  const { stored = carried === old ? undefined : old } = shown.written;
  return { ...shown, written: stored === undefined ? {} : { stored } };
}

type SentValue = Pick<Planned, 'field' | 'property' | 'old' | 'now'>;

interface ShownProperty {
  readonly written: Pick<Decided, 'stored'>;
  readonly replaced: Pick<ReplacedValue, 'value' | 'by' | 'isEdit'>;
}

/**
 * What the answer to a write shows of one property. Without an answer, the property is taken to have held what was
 * read, and to hold what was sent.
 */
export function shownBy(
  written: Written | undefined,
  { field, property: name, old, now }: SentValue,
  property: Property | undefined,
): ShownProperty {
  const outcome = written?.outcome;
  const asSent = { written: {}, replaced: { value: old, by: now, isEdit: false } };
  if (outcome?.kind !== 'written' || property === undefined) return asSent;
  const same = sameFor(field, property);
  const unless = (values: Values | undefined, ...known: readonly PropertyValue[]): PropertyValue | undefined => {
    const value = values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined || known.some((each) => same(each, value)) ? undefined : value;
  };
  const stored = unless(outcome.stored, now);
  const edit = unless(outcome.replaced, old, now);
  return {
    written: stored === undefined ? {} : { stored },
    replaced: { value: edit ?? old, by: stored ?? now, isEdit: edit !== undefined },
  };
}

type Values = Readonly<Record<string, PropertyValue>>;
