/** Decides whether a property gets back the value that it held before our writes. Pure. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { isBlank } from '../decide/decide.ts';
import { ARRIVED, RETURNED, UNDO } from '../decide/planned.ts';
import type { Write } from './writes.ts';

export type UndoDecision =
  /**
   * `seq` is the event whose value comes back if an undo is taken back, else 0: an undo belongs to no event. `since`
   * says when the first of the writes was made that are taken back.
   */
  | {
      readonly kind: 'restore' | 'already';
      readonly from: PropertyValue;
      /** What the property held before. */
      readonly to: PropertyValue;
      /** What is to be sent, of which the CRM makes that again. */
      readonly sent: PropertyValue;
      readonly seq: number;
      readonly since: number;
    }
  | { readonly kind: 'nothing' | 'undone' | 'overtaken' | 'edited' | 'unreadable'; readonly reason: string };

export interface UndoEvidence {
  /** All our writes to the property, oldest first; one at least is selected. */
  readonly writes: readonly Write[];
  /** The company that the record stands for since, and whose register says what we wrote, too. */
  readonly sameBy?: string | undefined;
  /** What the CRM holds; undefined if it cannot be read. */
  readonly crm: PropertyValue | undefined;
  readonly same: (a: PropertyValue, b: PropertyValue) => boolean;
}

/**
 * Restores the value from before the selected writes, only if the CRM still holds what we wrote last, or what it made of
 * that. Goes back while each write replaced what the one before it wrote. Where a person wrote a value between two of them,
 * it restores that value. Skips a write that arrived after one of a newer event, because its value was never right.
 */
export function decideUndo({ writes, sameBy, crm, same }: UndoEvidence): UndoDecision {
  const last = writes.at(-1);
  if (last === undefined) return { kind: 'nothing', reason: 'nothing was written' };
  if (isEdit(last)) return { kind: 'edited', reason: `it holds what a person wrote: ${JSON.stringify(last.now)}` };
  if (!last.selected) return overtaken(last);
  const first = firstOf(writes, last, same);
  const from = last.now;
  const to = isBlank(first.old) ? null : first.old;
  const holds = (crm: PropertyValue): boolean => same(crm, from) || isStored(last, crm, same);
  if (crm === undefined) return { kind: 'unreadable', reason: 'the CRM does not say what it holds now' };
  if (same(from, to)) return { kind: 'nothing', reason: 'it holds what it held before' };
  if (sameBy !== undefined && holds(crm))
    return { kind: 'overtaken', reason: `the record now stands for ${sameBy}, for which the register says the same` };
  const left = (write: Write): boolean => same(write.now, to) || isStored(write, to, same);
  const seq = isUndo(last) ? (writes.findLast((write) => write.seq > 0 && left(write))?.seq ?? 0) : 0;
  // What the CRM made of an earlier write comes again of what was sent then: sent itself, it might be changed again.
  const before = writes[writes.indexOf(first) - 1];
  const sent = before !== undefined && isStored(before, to, same) ? before.now : to;
  const restored = { from, to, sent, seq, since: first.at };
  if (same(crm, to)) return { kind: 'already', ...restored };
  if (holds(crm)) return { kind: 'restore', ...restored };
  return { kind: 'edited', reason: `somebody changed it to ${JSON.stringify(crm)} since` };
}

/** Whether this is what the CRM made of a write, where that is another value than what was sent. */
const isStored = ({ stored }: Write, value: PropertyValue, same: UndoEvidence['same']): boolean =>
  stored !== undefined && same(stored, value);

/** Whether a write put a person's edit back; what an undo had put back comes of no event. */
const isEdit = ({ rule, seq }: Write): boolean => rule === RETURNED && seq > 0;

/** The first of the writes that are taken back: the last one, and those before it that it goes back through. */
function firstOf(writes: readonly Write[], last: Write, same: UndoEvidence['same']): Write {
  let first = last;
  for (const [at, write] of [...writes.slice(0, -1).entries()].reverse()) {
    const isStale = write.rule === ARRIVED && writes.slice(0, at).some(({ seq }) => seq > write.seq);
    const isReplaced = same(write.now, first.old) || isStored(write, first.old, same);
    if (!(write.selected || isStale) || isEdit(write) || !isReplaced) break;
    first = write;
  }
  return first;
}

/** Whether a write is itself an undo, and not the reversal of one. */
export const isUndo = ({ rule, seq }: Pick<Write, 'rule' | 'seq'>): boolean => rule === UNDO && seq === 0;

function overtaken(last: Write): UndoDecision {
  if (isUndo(last)) return { kind: 'undone', reason: 'it was already taken back' };
  const later = last.seq > 0 ? `event ${last.seq} wrote` : 'a later write made it';
  return { kind: 'overtaken', reason: `${later} ${JSON.stringify(last.now)} since: undo that first, or both together` };
}
