/**
 * Decides whether values that our write replaced between read and write are restored. A group is restored whole or not
 * at all: a person's street with our postal code is an address that does not exist. Pure.
 */

import { type AddressPart, isAddressPart, isHeld, ruleOfGroup } from './group.ts';
import { type ArePartners, groupOf } from './partners.ts';
import { EDIT_PUT_BACK, type Overwritten, type Planned, RETURNED } from './planned.ts';

interface OverwrittenPart extends AddressPart {
  readonly planned: Planned & { readonly overwritten: Overwritten };
}

const isOverwritten = (part: AddressPart): part is OverwrittenPart => part.planned.overwritten !== undefined;

/** Restores edits that the policy would have kept, each with its group, if the CRM still holds our write. */
export function withPutBacks(parts: readonly AddressPart[], arePartners: () => ArePartners): readonly AddressPart[] {
  if (!parts.some(isOverwritten)) return parts;
  const areOne = arePartners();
  const groupOfParts = (first: AddressPart, all: readonly AddressPart[]) => {
    const planned = groupOf(
      [first.planned],
      all.map((part) => part.planned),
      areOne,
    );
    return all.filter((part) => planned.includes(part.planned));
  };
  const decided = new Map<AddressPart, Planned>();
  for (const first of parts.filter(isOverwritten)) {
    if (decided.has(first)) continue;
    const over = groupOfParts(first, parts.filter(isOverwritten)).filter(isOverwritten);
    const groupmates = parts.filter(
      (part) => !isOverwritten(part) && over.some(({ planned }) => areOne(planned, part.planned)),
    );
    const answers = decideGroup(over, groupmates);
    for (const [index, part] of over.entries()) decided.set(part, answers[index] ?? part.planned);
  }
  return parts.map((part) => ({ ...part, planned: decided.get(part) ?? part.planned }));
}

function decideGroup(over: readonly OverwrittenPart[], groupmates: readonly AddressPart[]): readonly Planned[] {
  const planned = over.map((part) => part.planned);
  const plain = planned.map(({ overwritten: _, trusts: __, ...each }): Planned => each);
  // Waits for the end of the hold, unless a person wrote another value meanwhile.
  if ([...over, ...groupmates].some(isHeld)) return over.every(isOurs) ? planned : plain;
  const isFree = over.every(isOurs) && ![...over, ...groupmates].some(isPutBack) && !groupmates.some(isEdited);
  const rule = isFree ? protectingRule(over, groupmates) : undefined;
  if (rule === undefined) return plain;
  const isDifference = ({ field, action, overwritten }: OverwrittenPart['planned']): boolean =>
    rule === 'edited' && action !== 'set-aside' && field !== 'region' && isDifferent(overwritten, field);
  return together(
    planned.map((each, index): Planned => {
      const { value, isBeside, isBack } = each.overwritten;
      const { detail: _, retryAt: __, ...rest } = plain[index] ?? each;
      if (isBack) return plain[index] ?? each;
      const back = {
        action: 'write',
        rule: RETURNED,
        now: value,
        detail: isBeside ? BELONGS_TO_EDIT : EDIT_PUT_BACK,
      } as const;
      return { ...rest, ...back, offered: isDifference(each) ? each.now : undefined };
    }),
  );
}

/** Restored properties of a group are written together, and an address is one difference. */
export function together(group: readonly Planned[]): readonly Planned[] {
  const back = group.filter(({ rule }) => rule === RETURNED);
  const keptWith = back.find(({ field, offered }) => isAddressPart(field) && offered !== undefined)?.property;
  return group.map((planned) => {
    if (!back.includes(planned) || back.length === 1) return planned;
    const needs = back.flatMap(({ property }) => (property === planned.property ? [] : property));
    return { ...planned, needs, keptWith: planned.offered === undefined ? undefined : keptWith };
  });
}

const BELONGS_TO_EDIT = 'it belongs together with what a person wrote between our read of the record and our write';

const isOurs = ({ planned }: OverwrittenPart): boolean => planned.overwritten.isOurs;
const isPutBack = ({ planned: { rule } }: AddressPart): boolean => rule === RETURNED;
/** A person has changed it since, so the group holds nothing of our write. A region that the write left proves nothing. */
const isEdited = ({ planned: { rule, field } }: AddressPart): boolean =>
  field !== 'region' && (rule === 'edited' || rule === 'filled');
const isAddress = ([first]: readonly AddressPart[]): boolean =>
  first !== undefined && isAddressPart(first.planned.field);

/** Whether a person sees a difference from the register: alone, or as part of a person's address. */
const isDifferent = ({ rule }: Overwritten, field: Planned['field']): boolean =>
  isAddressPart(field) ? rule !== 'same' && rule !== 'stored' : rule === 'edited';

/** The rule that protects the replaced value; undefined if the register may replace it. */
function protectingRule(
  over: readonly OverwrittenPart[],
  groupmates: readonly AddressPart[],
): 'edited' | 'filled' | undefined {
  const edits = over.filter(({ planned: { overwritten } }) => !(overwritten.isBeside || overwritten.isBack));
  const found = isAddress(over)
    ? edits.some(({ planned: { overwritten } }) => overwritten.rule !== 'same' && overwritten.rule !== 'blank')
      ? [ruleOfGroup([...over.map(asItWas), ...groupmates])]
      : []
    : edits.map(({ planned: { overwritten } }) => overwritten.rule);
  return found.includes('edited') ? 'edited' : found.includes('filled') ? 'filled' : undefined;
}

function asItWas(part: OverwrittenPart): AddressPart {
  const { late: _, ...planned } = part.planned;
  return { ...part, old: planned.overwritten.value, planned: { ...planned, rule: planned.overwritten.rule } };
}
