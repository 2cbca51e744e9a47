/** Unanswered writes that turn out to have arrived, and what of them is undone, with its group. Pure. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { isOneOf } from './decide.ts';
import { type AddressPart, isHeld } from './group.ts';
import type { PropertyMemory } from './memory.ts';
import { type ArePartners, groupOf } from './partners.ts';
import { type Late, type Planned, RETURNED } from './planned.ts';
import { together } from './put-back.ts';

/** The pending write that explains the CRM's value; undefined if another write or none does. */
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
  // Our next write ends a difference, so a person's value is newer than all our writes.
  const old = kept === undefined ? before : JSON.parse(kept.crm);
  return { ...late, old, overtook: isNewer, isOverEdit: kept !== undefined, isOverUndo: false };
}

/** The value after our last write, or after an undo. */
function lastPut({ written, stored = written, writtenAt, restored }: PropertyMemory) {
  if (restored !== undefined && (written === undefined || restored.at >= writtenAt))
    return { ...restored, isUndo: true };
  return stored === undefined ? undefined : { value: stored, at: writtenAt, isUndo: false };
}

interface LatePart extends AddressPart {
  readonly planned: Planned & { readonly late: Late };
}

const isLate = (part: AddressPart): part is LatePart => part.planned.late !== undefined;

/**
 * Restores what late writes replaced: a person's known edit, or what an undo had restored. All that one write replaced
 * in a group is restored together.
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

/** Independent of the register: the undo's hold protects the value that it restored. */
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
