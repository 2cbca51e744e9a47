/** late: writes without an answer that turn out to have arrived, and what of that is taken back, with its group. Pure. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { isOneOf } from './decide.ts';
import { type AddressPart, isHeld } from './group.ts';
import type { PropertyMemory } from './memory.ts';
import { type ArePartners, groupOf } from './partners.ts';
import { type Late, type Planned, RETURNED } from './planned.ts';
import { together } from './put-back.ts';

/** The pending write that what the CRM holds came by; undefined if another write explains it, or none. */
export function lateOf(
  memory: PropertyMemory,
  crm: PropertyValue,
  same: (a: PropertyValue, b: PropertyValue) => boolean,
): Late | undefined {
  const { pending, kept } = memory;
  const late = pending.find(({ now, stored, old }) => isOneOf(crm, [now, stored], same) && !same(crm, old));
  if (late === undefined) return undefined;
  const put = lastPut(memory);
  const isNewer = put !== undefined && put.at > late.from.at;
  if (isNewer && same(crm, put.value)) return undefined;
  const before = isNewer ? put.value : late.old;
  if (isNewer && put.isUndo) return { ...late, old: before, overtook: true, isOverEdit: false, isOverUndo: true };
  // A difference is forgotten with the next write of ours: what a person had came after all that we wrote.
  const old = kept === undefined ? before : JSON.parse(kept.crm);
  return { ...late, old, overtook: isNewer, isOverEdit: kept !== undefined, isOverUndo: false };
}

/** What the CRM held of our last write, be it the register's value or what an undo put back. */
function lastPut({ written, stored = written, writtenAt, restored }: PropertyMemory) {
  if (restored !== undefined && (written === undefined || restored.at >= writtenAt))
    return { ...restored, isUndo: true };
  return stored === undefined ? undefined : { value: stored, at: writtenAt, isUndo: false };
}

/** A property that a late write of ours replaced. */
interface LatePart extends AddressPart {
  readonly planned: Planned & { readonly late: Late };
}

const isLate = (part: AddressPart): part is LatePart => part.planned.late !== undefined;

/**
 * Has what comes back that late writes replaced: a person's edit that was known, and what an undo had put back. All that the
 * same write replaced in a group comes back together.
 */
export function withLatePutBacks(
  parts: readonly AddressPart[],
  arePartners: () => ArePartners,
): readonly AddressPart[] {
  const late = parts.filter(isLate);
  const first = late.filter(comesBack);
  if (first.length === 0) return parts;
  const areOne = arePartners();
  const back = new Map<string, Planned>();
  for (const one of first) {
    const replaced = late.filter(({ planned }) => planned.late.from === one.planned.late.from);
    const group = groupOf(
      [one.planned],
      replaced.map(({ planned }) => planned),
      areOne,
    );
    const others = parts.filter(({ planned }) => group.some((each) => areOne(each, planned)));
    if (!one.planned.late.isOverUndo && others.some(isHeld)) continue;
    const answers = replaced
      .filter(({ planned }) => group.includes(planned))
      .map((part) => returned(part, one.planned.late));
    for (const planned of together(answers)) back.set(planned.property, planned);
  }
  return parts.map((part) => ({ ...part, planned: back.get(part.planned.property) ?? part.planned }));
}

/** Whatever the register says: the hold that an undo leaves is on the value that it put back. */
const comesBack = (part: LatePart): boolean => {
  const { late, rule } = part.planned;
  return late.isOverUndo ? isHeld(part) : late.overtook && late.isOverEdit && rule === 'ours';
};

function returned({ planned, same }: LatePart, { isOverUndo }: Late): Planned {
  const { old } = planned.late;
  const back = { ...planned, action: 'write', rule: RETURNED, now: old } as const;
  if (isOverUndo) return { ...back, seq: 0 };
  return same(old, planned.now) ? back : { ...back, offered: planned.now };
}
