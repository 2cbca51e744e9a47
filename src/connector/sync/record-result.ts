/** The result of one record in a sync: what was found and decided, and what becomes of its lane. Pure. */
import type { Property, PropertyValue, Read } from '../../../providers/provider.ts';
import type { Claim, Settlement } from '../../runtime/lanes/lanes.ts';
import type { EndedWrite, PendingWrite } from '../../runtime/lanes/pending-writes.ts';
import type { Crm } from '../crm/crm.ts';
import { holdOf, holdPollMs } from '../crm/hold.ts';
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

/** The result of one record; its effects are written together with its lane's settlement. */
export interface RecordResult {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly record?: LinkedRecord;
  readonly decided?: readonly Decided[];
  readonly happened?: Happened;
  readonly effect?: { readonly kind: 'gone' | 'contested' | 'moved' };
  readonly synced?: true;
  /** Edits of people that its write went over. */
  readonly overwritten?: readonly OverwrittenProperty[];
  /** When its write may have gone over an edit that the answer does not show. */
  readonly window?: WriteWindow;
  /** The writes that were begun for it, and how they ended. */
  readonly begun?: readonly { readonly write: PendingWrite; readonly end: EndedWrite['end'] }[];
  /** No answer came, for all we know because of another record of the batch. */
  readonly unanswered?: true;
}

/** So often a call of one record may be refused by something else than the CRM before the record is parked: some hours. */
const REFUSED_TRIES = 20;

/** The result of a record that a fault of the connection hit. */
export const faultyResult = (claim: Claim, fault: FaultSettlement): RecordResult => ({
  claim,
  settlement: fault.of(claim),
  ...(!fault.paused && { unanswered: true }),
});

/** A record, and the claim of its lane. */
interface ClaimedRecord {
  readonly claim: Claim;
  readonly record: LinkedRecord;
}

/** How the write of a record's patch ended; both undefined if nothing was sent. */
interface SentPatch {
  readonly written: Written | undefined;
  /** What the fault that ended its batch makes of the lanes. */
  readonly fault: FaultSettlement | undefined;
}

/** What was decided for a record, by this schema. */
interface DecidedProperties {
  readonly planned: readonly Planned[];
  readonly schema: ReadonlyMap<string, Property>;
}

type Named = Pick<Crm, 'name' | 'hold' | 'pollMinutes' | 'mapping'>;

/** The result of a record that is not written to: gone, merged, on hold, or not readable just now. */
export function resultOfRead(crm: Named, base: ClaimedRecord, read: Read | undefined, now: number): RecordResult {
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
        happened: { ...line, rule: 'hold', detail: `${crm.hold} is set` },
      };
    default:
      return { ...base, settlement: later(claim, now, read?.reason ?? UNMENTIONED) };
  }
}

/** The result of a record whose number speaks against its link. */
export const resultOfObjection = ({ claim, record }: ClaimedRecord, reason: string, now: number): RecordResult => ({
  claim,
  record,
  settlement: whileContested(reason, now),
  effect: { kind: 'contested' },
});

/** After so long a value that the CRM refused is sent again, if no event comes before. */
const RETRY_REFUSED_MS = 24 * 3_600_000;

/** How long a record waits at most that could not be read and written in time, in ms. */
const STALE_MS = 60_000;

/** The result of a record whose properties are decided, and whose patch, if there was one, was sent. */
export function resultOfWrite(
  crm: Named,
  { claim, record, planned, schema }: ClaimedRecord & DecidedProperties,
  { written, fault }: SentPatch,
  now: number,
): RecordResult {
  const base = { claim, record };
  const line = { provider: crm.name, id: record.id, entity: record.entity };
  const refused = written?.refused ?? {};
  const decided = planned.map((each): Decided => {
    const refusal = refused[each.property];
    if (refusal === undefined) return { ...line, planned: each };
    // It was not the CRM that refused this one: it is decided anew once the other is taken.
    if (refusal.waitsFor !== undefined) return { ...line, planned: waiting(each, refusal) };
    return { ...line, planned: { ...each, retryAt: now + RETRY_REFUSED_MS }, refused: refusal.reason };
  });
  const sent = decided.filter(({ planned: { action }, refused: reason }) => action === 'write' && reason === undefined);
  const shown = new Map(sent.map(({ planned: each }) => [each, shownBy(written, each, schema.get(each.property))]));
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
      ...{ ...base, settlement: upTo(decided), synced: true },
      decided: decided.map((each) => ({ ...each, ...shown.get(each.planned)?.written })),
      overwritten: overwrittenAmong(replaced, partnersIn(crm.mapping, schema)),
      ...(window !== undefined && { window }),
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
      // Alone with no other record to compare it with: it, or the connection.
      return {
        ...base,
        settlement:
          claim.attempts + 1 < REFUSED_TRIES
            ? later(claim, now, outcome.reason)
            : { kind: 'parked', at: now, error: outcome.reason },
      };
    case 'stale':
      // The slowness is the CRM's or this machine's, and passes for all records at once.
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

/** The window of a write that went over whatever stood there, where its answer did not say what that was. */
export const blindWindow = (written: Written | undefined): WriteWindow | undefined =>
  written?.outcome.kind === 'written' && written.outcome.replaced === undefined ? written.window : undefined;

/** The window of writes without an answer that turn out to have arrived. */
function lateWindow(planned: readonly Planned[], now: number): WriteWindow | undefined {
  const begun = planned.flatMap(({ late }) => (late === undefined ? [] : [late.from.at]));
  return begun.length === 0 ? undefined : { from: Math.min(...begun), to: now };
}

/** Done, until a hold that keeps something back ends by itself, or a refused value is sent again: whichever is first. */
function upTo(decided: readonly Decided[]): Settlement {
  const ends = decided.flatMap(({ planned: { rule, override, retryAt } }) =>
    [rule === 'held' ? override?.until : undefined, retryAt].filter((end) => end != null),
  );
  return ends.length === 0 ? { kind: 'done' } : { kind: 'again', at: Math.min(...ends), fresh: true };
}

/** A value that was sent, and what the property held when it was decided. */
type SentValue = Pick<Planned, 'field' | 'property' | 'old' | 'now'>;

/** What the answer to a write shows of a property. */
interface ShownProperty {
  /** What the CRM made of the value, where that is another one. */
  readonly written: Pick<Decided, 'stored'>;
  readonly replaced: Pick<ReplacedValue, 'value' | 'by' | 'isEdit'>;
}

/** What the answer to a write shows of one property; without an answer, it was as it was read, and is as it was sent. */
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
