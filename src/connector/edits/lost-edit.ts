/** Finds the edit that our write replaced, in the CRM's history. Pure. */
import type { PropertyEdit, PropertyValue } from '../../../providers/provider.ts';

export interface OwnWrite {
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  /** The value that the CRM stored, if it differs. */
  readonly stored?: PropertyValue;
}

/** A value between our read and our write, the CRM's value after the write, and the write. */
export interface LostEdit<W extends OwnWrite> {
  readonly value: PropertyValue;
  readonly by: PropertyValue;
  readonly write: W;
}

type Same = (a: PropertyValue, b: PropertyValue) => boolean;

type Version = PropertyEdit & { readonly value: PropertyValue };

/**
 * The newest edit that one of our writes replaced; both lists concern one property of one record, oldest first. A write
 * replaced an edit if the version right before its own is somebody else's, and not the value behind the decision. Only
 * the order of versions counts: our clock is never compared with the CRM's.
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
 * The index of the write's version, -1 without one: the newest own version with its value, after the value that it
 * replaced. Not every CRM identifies own versions reliably, so next the first version with that value, since a person
 * may have written it again later. Last, an own version with no other write's value: the CRM re-spelled it.
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
