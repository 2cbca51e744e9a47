/** Which edit of a property a write of ours went over, by the CRM's own history. Pure. */
import type { PropertyEdit, PropertyValue } from '../../../providers/provider.ts';

/** A value that we wrote, as our history knows it. */
export interface OwnWrite {
  /** What the property held when the write was decided. */
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  /** What the CRM made of it, where that is another value. */
  readonly stored?: PropertyValue;
}

/** A value that stood between our read and our write, what the CRM then held of the write, and the write. */
export interface LostEdit<W extends OwnWrite> {
  readonly value: PropertyValue;
  readonly by: PropertyValue;
  readonly write: W;
}

type Same = (a: PropertyValue, b: PropertyValue) => boolean;

/** A version whose value the CRM tells. */
type Version = PropertyEdit & { readonly value: PropertyValue };

/**
 * The newest edit that one of our writes went over; both lists are of one property of one record, oldest first. A write
 * went over an edit if the version right before its own is somebody else's, and not the value that it was decided by.
 * Only the order of versions counts: no clock of ours is compared with the CRM's.
 */
export function lostEdit<W extends OwnWrite>(
  writes: readonly W[],
  edits: readonly PropertyEdit[],
  same: Same,
): LostEdit<W> | undefined {
  const versions = edits.filter(isVersion);
  let end = versions.length;
  for (const write of writes.toReversed()) {
    const index = versionOf(write, versions.slice(0, end), { writes, same });
    if (index < 0) continue;
    end = index;
    const [before, own] = [versions[index - 1], versions[index]];
    if (own === undefined || before === undefined || before.own) continue;
    const isKnown = [write.old, ...spellings(write)].some((value) => same(value, before.value));
    if (!isKnown) return { value: before.value, by: own.value, write };
  }
  return undefined;
}

const isVersion = (edit: PropertyEdit): edit is Version => edit.value !== undefined;

const spellings = ({ now, stored }: OwnWrite): readonly PropertyValue[] =>
  stored === undefined ? [now] : [now, stored];

/**
 * The version that a write made, -1 if there is none: the newest own one that holds its value, after what the write
 * replaced. Not every CRM tells own versions for sure: else the first of that value there, since a person may have written
 * it again later. Else an own version that holds no value of another write: the CRM re-spelled it.
 */
function versionOf(
  write: OwnWrite,
  versions: readonly Version[],
  { writes, same }: { readonly writes: readonly OwnWrite[]; readonly same: Same },
): number {
  const holds = (value: PropertyValue, of: OwnWrite) => spellings(of).some((each) => same(each, value));
  const replaced = spellings(write).some((value) => same(value, write.old))
    ? -1
    : versions.findLastIndex(({ value }) => same(value, write.old));
  const ownByValue = versions.findLastIndex(({ own, value }, index) => index > replaced && own && holds(value, write));
  if (ownByValue >= 0) return ownByValue;
  const byValue = versions.findIndex(({ value }, index) => index > replaced && holds(value, write));
  if (byValue >= 0) return byValue;
  return versions.findLastIndex(({ own, value }) => own && !writes.some((other) => holds(value, other)));
}
