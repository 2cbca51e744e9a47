/**
 * Recognises values that look like a person's edit but are ours, from the CRM's own history: what the CRM made of a
 * write without an answer, and what we wrote in a gap, a period that the store lost.
 */
import { type Connection, type PropertyEdit, type PropertyValue, ProviderError } from '../../../providers/provider.ts';
import { isBlank } from '../decide/decide.ts';
import type { Pending, Planned } from '../decide/planned.ts';
import type { WrittenProperty } from '../history/written.ts';
import { aheadBy, type LinkedRecord, NOTHING } from './load.ts';

/** How far the CRM's clock may differ. */
const CLOCK_MS = 3_600_000;
/** An undo in a gap restores a person's value that is at most this old. */
const BEFORE_GAP_MS = 2 * 365 * 24 * 3_600_000;

interface ReadRecord {
  readonly record: LinkedRecord;
  readonly planned?: readonly Planned[];
}

/** A value that may be ours, though the store does not know it. */
interface Doubt {
  readonly record: LinkedRecord;
  readonly planned: Planned;
  /** The unanswered write that may have caused it; undefined: it may have been written in a gap. */
  readonly pending: Pending | undefined;
}

export interface Recognised {
  readonly records: readonly LinkedRecord[];
  readonly written: readonly WrittenProperty[];
}

/** Undefined if nothing is recognised. No call without a doubt; a CRM without history recognises nothing. */
export async function recogniseStored(
  { edits: history }: Pick<Connection, 'edits'>,
  decided: readonly ReadRecord[],
  signal: AbortSignal,
): Promise<Recognised | undefined> {
  const doubts = decided.flatMap(({ record, planned = [] }) => planned.flatMap((each) => doubtIn(record, each)));
  if (history === undefined || doubts.length === 0) return undefined;
  const ids = [...new Set(doubts.map(({ record }) => record.id))];
  const properties = [...new Set(doubts.map(({ planned }) => planned.property))];
  const since = Math.min(...doubts.map(askedSince));
  const edits = await history(ids, properties, since, signal).catch(silentIfRefused);
  const histories = Map.groupBy(edits, ({ id, property }) => `${id} ${property}`);
  const historyOf = ({ record, planned }: Doubt) => histories.get(`${record.id} ${planned.property}`) ?? [];
  const late = doubts.filter((doubt) => doubt.pending !== undefined && isOwn(historyOf(doubt).at(-1), doubt.planned));
  const written = doubts.flatMap((doubt) =>
    doubt.pending === undefined ? (writtenInGap(doubt, historyOf(doubt)) ?? []) : [],
  );
  if (late.length + written.length === 0) return undefined;
  const lateOf = Map.groupBy(late, ({ record }) => record);
  const writtenOf = Map.groupBy(written, ({ id }) => id);
  const records = decided.map(({ record }) =>
    withWritten(withStored(record, lateOf.get(record) ?? []), writtenOf.get(record.id) ?? []),
  );
  return { records, written };
}

function silentIfRefused(error: unknown): readonly PropertyEdit[] {
  if (error instanceof ProviderError && error.fault === 'refused') return [];
  throw error;
}

function doubtIn(record: LinkedRecord, planned: Planned): readonly Doubt[] {
  if (planned.late !== undefined) return [];
  const memory = record.remembered.get(planned.property) ?? NOTHING;
  const pending = memory.pending.at(-1);
  if (pending !== undefined) return planned.rule === 'edited' ? [{ record, planned, pending }] : [];
  const gap = record.gaps.at(-1);
  if (gap === undefined || memory.writtenAt > gap.since) return [];
  const isNewDifference = planned.rule === 'edited' && memory.kept?.crm !== JSON.stringify(planned.old);
  const isOldWrite = planned.action === 'write' && planned.seq <= gap.seq;
  const isKnown = planned.old === memory.written || planned.old === memory.stored;
  return !isKnown && (isNewDifference || isOldWrite) ? [{ record, planned, pending }] : [];
}

const askedSince = ({ record, pending }: Doubt): number =>
  pending === undefined
    ? Math.min(...record.gaps.map(({ since }) => since)) - BEFORE_GAP_MS
    : pending.from.at - CLOCK_MS;

/**
 * Whether the newest edit is ours and left the value that was read. An edit without a value concerns the record as a
 * whole: it may be a write of other properties, and a person's value would be overwritten.
 */
const isOwn = (edit: PropertyEdit | undefined, { old }: Pick<Planned, 'old'>): edit is PropertyEdit =>
  edit?.own === true && edit.value === old;

/** Undefined if a person wrote the same value before: then an undo restored it. */
function writtenInGap({ record, planned }: Doubt, edits: readonly PropertyEdit[]): WrittenProperty | undefined {
  const newest = edits.at(-1);
  const gap = newest && record.gaps.findLast(({ since, until }) => newest.at > since && newest.at <= until);
  if (!isOwn(newest, planned) || gap === undefined) return undefined;
  const value: PropertyValue = planned.old;
  if (!isBlank(value) && edits.some((edit) => !edit.own && edit.value === value)) return undefined;
  return { id: record.id, property: planned.property, value, at: newest.at };
}

function withStored(record: LinkedRecord, late: readonly Doubt[]): LinkedRecord {
  if (late.length === 0) return record;
  const remembered = new Map(record.remembered);
  for (const { planned } of late) {
    const memory = remembered.get(planned.property);
    const newest = memory?.pending.at(-1);
    if (memory === undefined || newest === undefined) continue;
    const pending = [...memory.pending.slice(0, -1), { ...newest, stored: planned.old }];
    remembered.set(planned.property, { ...memory, pending });
  }
  return { ...record, remembered };
}

function withWritten(record: LinkedRecord, written: readonly WrittenProperty[]): LinkedRecord {
  if (written.length === 0) return record;
  const remembered = new Map(record.remembered);
  for (const { property, value, at } of written) {
    const memory = remembered.get(property) ?? NOTHING;
    const ours = { written: value, stored: undefined, writtenAt: at, ...aheadBy(record.gaps, at) };
    remembered.set(property, { ...memory, ...ours });
  }
  return { ...record, remembered };
}
