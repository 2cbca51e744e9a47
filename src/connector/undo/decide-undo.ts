/** Decides whether a property gets back the value that it held before our writes. Pure. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { isBlank } from '../decide/decide.ts';
import { ARRIVED, UNDO } from '../decide/planned.ts';
import type { Write } from './writes.ts';

export type UndoDecision =
  /**
   * `seq` is the event whose value comes back where an undo is taken back, else 0: an undo belongs to no event. `since`
   * says when the first of the writes was made that are taken back.
   */
  | {
      readonly kind: 'restore' | 'already';
      readonly from: PropertyValue;
      readonly to: PropertyValue;
      readonly seq: number;
      readonly since: number;
    }
  | { readonly kind: 'nothing' | 'undone' | 'overtaken' | 'edited' | 'unreadable'; readonly reason: string };

export interface Evidence {
  /** All our writes to the property, oldest first; one at least is selected. */
  readonly writes: readonly Write[];
  /** The company that the record stands for since, and whose register says what we wrote, too. */
  readonly sameBy?: string | undefined;
  /** What the CRM holds; undefined where it cannot be read. */
  readonly crm: PropertyValue | undefined;
  readonly same: (a: PropertyValue, b: PropertyValue) => boolean;
}

/**
 * Restores the value from before the selected writes, only where the CRM still holds what we wrote last. Goes back while
 * each write replaced what the one before it wrote. Where a person wrote a value between two of them, it restores that
 * value. Skips a write that arrived after one of a newer event, because its value was never right.
 */
export function decideUndo({ writes, sameBy, crm, same }: Evidence): UndoDecision {
  const last = writes.at(-1);
  if (last === undefined) return { kind: 'nothing', reason: 'nothing was written' };
  if (!last.selected) return overtaken(last);
  const first = firstOf(writes, last, same);
  const from = last.now;
  const to = isBlank(first.old) ? null : first.old;
  if (crm === undefined) return { kind: 'unreadable', reason: 'the CRM does not say what it holds now' };
  if (same(from, to)) return { kind: 'nothing', reason: 'it holds what it held before' };
  if (sameBy !== undefined && same(crm, from))
    return { kind: 'overtaken', reason: `the record stands for ${sameBy} now, whose register says the same` };
  const seq = isUndo(last) ? (writes.findLast((write) => write.seq > 0 && same(write.now, to))?.seq ?? 0) : 0;
  if (same(crm, from)) return { kind: 'restore', from, to, seq, since: first.at };
  if (same(crm, to)) return { kind: 'already', from, to, seq, since: first.at };
  return { kind: 'edited', reason: `somebody changed it to ${JSON.stringify(crm)} since` };
}

/** The first of the writes that are taken back: the last one, and those before it that it goes back through. */
function firstOf(writes: readonly Write[], last: Write, same: Evidence['same']): Write {
  let first = last;
  for (const [at, write] of [...writes.slice(0, -1).entries()].reverse()) {
    const isStale = write.rule === ARRIVED && writes.slice(0, at).some(({ seq }) => seq > write.seq);
    if (!(write.selected || isStale) || !same(write.now, first.old)) break;
    first = write;
  }
  return first;
}

/** Whether a write is itself an undo, and not the reversal of one. */
export const isUndo = ({ rule, seq }: Pick<Write, 'rule' | 'seq'>): boolean => rule === UNDO && seq === 0;

function overtaken(last: Write): UndoDecision {
  if (isUndo(last)) return { kind: 'undone', reason: 'it was taken back already' };
  const later = last.seq > 0 ? `event ${last.seq} wrote` : 'a later write made it';
  return { kind: 'overtaken', reason: `${later} ${JSON.stringify(last.now)} since: undo that first, or both together` };
}
