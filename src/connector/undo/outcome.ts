/** What becomes of a property that is to be put back: before the CRM is asked to, and after it answered. Pure. */
import { isFieldName } from '../../../providers/fields.ts';
import type { Property, PropertyValue, Read } from '../../../providers/provider.ts';
import { UNMENTIONED } from '../crm/settle.ts';
import { unwritable } from '../decide/plan.ts';
import { sameFor } from '../decide/same.ts';
import { shownBy } from '../sync/record-result.ts';
import type { Written } from '../write/write.ts';
import { decideUndo, type UndoDecision } from './decide-undo.ts';
import type { PropertyWrites, Write } from './writes.ts';

/** What became of one property. `restored` it holds what it held before, now or already. */
export interface Undone {
  readonly provider: string;
  readonly record: string;
  readonly entity: string;
  readonly property: string;
  readonly kind:
    | 'restored'
    | Exclude<UndoDecision['kind'], 'restore' | 'already'>
    | 'gone'
    | 'moved'
    | 'missing'
    | 'refused'
    | 'busy'
    | 'unconfigured';
  /** What we wrote. */
  readonly from: PropertyValue;
  /** What was there before, where it is restored. */
  readonly to?: PropertyValue;
  readonly reason?: string;
}

/** A property that is put back, or was put back before we could say so (`isDue` false). */
export interface Restored {
  /** What we wrote last. */
  readonly last: Write;
  readonly isDue: boolean;
  readonly from: PropertyValue;
  readonly to: PropertyValue;
  /** What is sent, of which the CRM makes `to` again. */
  readonly sent: PropertyValue;
  /** What the CRM held when it was decided. */
  readonly crm: PropertyValue;
  readonly property: Property;
  /** Of the event whose value comes back, where an undo is taken back; else 0. */
  readonly seq: number;
  /** When the first of the writes was made that are taken back, in ms since 1970. */
  readonly since: number;
  /** Properties that it is written together with, or not at all. */
  readonly needs: readonly string[];
}

/** Decides about one property by our writes to it and what the CRM holds. */
export function decideGroup(
  provider: string,
  { writes, last, sameBy }: PropertyWrites,
  read: Read | undefined,
  property: Property | undefined,
): Undone | Restored {
  const because = (kind: Undone['kind'], reason: string): Undone => ({ ...nameOf(provider, last), kind, reason });
  if (read?.kind === 'gone') return because('gone', 'the record was deleted in the CRM');
  if (read?.kind === 'moved') return because('moved', `the record was merged into ${read.to} in the CRM`);
  if (read?.kind !== 'found') return because('busy', read?.reason ?? UNMENTIONED);
  if (property === undefined || !isFieldName(last.field))
    return because('missing', `the CRM has no property ${last.property} any more`);
  if (!property.writable) return because('missing', unwritable(property));
  const crm = read.properties[last.property];
  const decision = decideUndo({ writes, sameBy, crm, same: sameFor(last.field, property) });
  if ('reason' in decision) return because(decision.kind, decision.reason);
  const { kind, ...restored } = decision;
  return { last, isDue: kind === 'restore', ...restored, crm: crm ?? null, property, needs: [] };
}

/** Why an undo skips a group: somebody has since changed a property that the write carried. */
export function changedSince(
  provider: string,
  { carried }: PropertyWrites,
  read: Read | undefined,
  property: Property | undefined,
): Undone | undefined {
  if (carried === undefined || read?.kind !== 'found' || property === undefined) return undefined;
  const crm = read.properties[carried.property];
  if (crm === undefined || !isFieldName(carried.field)) return undefined;
  const same = sameFor(carried.field, property);
  if ([carried.old, carried.now, carried.stored].some((value) => value !== undefined && same(crm, value)))
    return undefined;
  const reason = `somebody changed it to ${JSON.stringify(crm)} since`;
  return { ...nameOf(provider, carried), kind: 'edited', reason };
}

/** What became of a property after the write; undefined if that is not known. */
export function undoneAfterWrite(
  provider: string,
  restored: Restored,
  written: Written | undefined,
): Undone | undefined {
  const done = undoneOf(provider, restored);
  const because = (kind: Undone['kind'], reason: string): Undone => ({
    ...nameOf(provider, restored.last),
    kind,
    reason,
  });
  if (!restored.isDue) return done;
  const refused = written?.refused[restored.last.property];
  if (refused !== undefined) return because('refused', refused.reason);
  const outcome = written?.outcome;
  switch (outcome?.kind) {
    case 'written':
      return { ...done, ...notAsBefore(restored, written) };
    case 'rejected':
    case 'call-refused':
      return because('refused', outcome.reason);
    case 'gone':
      return because('gone', 'the record was deleted in the CRM');
    case 'moved':
      return because('moved', `the record was merged into ${outcome.to} in the CRM`);
    case 'retry':
    case 'stale':
      return because('busy', outcome.reason);
    default:
      return undefined;
  }
}

/** What the answer to the write shows of a property that was restored. */
export function shownOf(
  { last: { field, property: name }, crm, sent, to, isDue, property }: Restored,
  written: Written | undefined,
): ReturnType<typeof shownBy> {
  if (!isFieldName(field)) throw new Error(`${field} is not a field`);
  if (isDue) return shownBy(written, { field, property: name, old: crm, now: sent }, property);
  const replaced = { value: crm, by: to, isEdit: false };
  return { written: sameFor(field, property)(sent, to) ? {} : { stored: to }, replaced };
}

function notAsBefore(restored: Restored, written: Written | undefined): Pick<Undone, 'reason'> {
  const { stored } = shownOf(restored, written).written;
  const { to, property, last } = restored;
  if (stored === undefined || !isFieldName(last.field) || sameFor(last.field, property)(stored, to)) return {};
  return { reason: `the CRM holds another value: ${JSON.stringify(stored)}` };
}

const nameOf = (provider: string, { recordId, entity, property, now }: Write) => ({
  provider,
  record: recordId,
  entity,
  property,
  from: now,
});

/** A property that holds what it held before. */
export const undoneOf = (provider: string, { last, to }: Restored): Undone => ({
  ...nameOf(provider, last),
  kind: 'restored',
  to,
});
