/** Finds the edits that our writes replaced, in the CRM's history. Pure. */
import type { PropertyEdit, PropertyValue } from '../../../providers/provider.ts';

export interface OwnWrite {
  /** Equal for all that one write to a record wrote. */
  readonly at: number;
  /** Whether the value was sent as it stood; then the CRM's history may have no version of it. */
  readonly isCarried: boolean;
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

/** Our writes to one property of a record, and the CRM's history of it, both oldest first. */
export interface WritesAndHistory<W extends OwnWrite> {
  readonly writes: readonly W[];
  readonly edits: readonly PropertyEdit[];
  readonly same: Same;
}

interface Search<W extends OwnWrite> extends Omit<WritesAndHistory<W>, 'edits'> {
  readonly versions: readonly Version[];
  /** All from here on are versions of newer writes. */
  end: number;
  found: LostEdit<W> | undefined;
}

/**
 * The newest edit of each property of a record that one of our writes replaced. A write replaced an edit if the version
 * right before its own is somebody else's, and not the value behind the decision. Only the order of versions counts: our
 * clock is never compared with the CRM's.
 */
export function lostEdits<W extends OwnWrite, P extends WritesAndHistory<W>>(
  record: readonly P[],
): ReadonlyMap<P, LostEdit<W>> {
  const searches = new Map(record.map((property) => [property, searchIn(property)]));
  const all = [...searches.values()];
  const moments = new Set(record.flatMap(({ writes }) => writes.map(({ at }) => at)));
  for (const at of [...moments].sort((a, b) => b - a)) {
    const written = all.flatMap((search) => ownVersions(search, at));
    for (const search of all) findCarried(search, at, written);
  }
  return new Map([...searches].flatMap(([property, { found }]) => (found === undefined ? [] : [[property, found]])));
}

const searchIn = <W extends OwnWrite>({ writes, edits, same }: WritesAndHistory<W>): Search<W> => {
  const versions = edits.filter(isVersion);
  return { writes, same, versions, end: versions.length, found: undefined };
};

/** The versions of what was written at a time; of several writes of one time the newest first. */
function ownVersions<W extends OwnWrite>(search: Search<W>, at: number): readonly Version[] {
  const { writes, same, versions } = search;
  return writes
    .toReversed()
    .filter((write) => write.at === at && !write.isCarried)
    .flatMap((write) => {
      const index = versionOf(write, versions.slice(0, search.end), { writes, same });
      if (index >= 0) noteVersion(search, write, index);
      return versions[index] ?? [];
    });
}

/** How far the times may be apart that a CRM gives the properties of one write. */
const APART_MS = 2_000;

/**
 * A carried value made a version only if somebody had changed it: one with the time and author of what the same write
 * wrote into other properties.
 */
function findCarried<W extends OwnWrite>(search: Search<W>, at: number, written: readonly Version[]): void {
  const { writes, same, versions } = search;
  const write = writes.find((each) => each.at === at && each.isCarried);
  if (write === undefined) return;
  const isOfWrite = ({ at: time, own }: Version) =>
    written.some((other) => other.own === own && Math.abs(other.at - time) <= APART_MS);
  const isOther = (before: Version, version: Version) =>
    writes.some((each) => !each.isCarried && same(each.old, before.value) && holds(version.value, each, same));
  const index = versions.slice(0, search.end).findLastIndex((version, place) => {
    const before = versions[place - 1];
    const isReplaced = before !== undefined && !isOther(before, version);
    return isReplaced && isOfWrite(version) && holds(version.value, write, same);
  });
  if (index >= 0) noteVersion(search, write, index);
}

function noteVersion<W extends OwnWrite>(search: Search<W>, write: W, index: number): void {
  const { versions, same, found } = search;
  search.end = index;
  const [before, own] = [versions[index - 1], versions[index]];
  if (found !== undefined || own === undefined || before === undefined || before.own) return;
  const isKnown = [write.old, ...spellings(write)].some((value) => same(value, before.value));
  if (!isKnown) search.found = { value: before.value, by: own.value, write };
}

const isVersion = (edit: PropertyEdit): edit is Version => edit.value !== undefined;

const spellings = ({ now, stored }: OwnWrite): readonly PropertyValue[] =>
  stored === undefined ? [now] : [now, stored];

const holds = (value: PropertyValue, write: OwnWrite, same: Same): boolean =>
  spellings(write).some((each) => same(each, value));

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
  const replaced = spellings(write).some((value) => same(value, write.old))
    ? -1
    : versions.findLastIndex(({ value }) => same(value, write.old));
  const ownByValue = versions.findLastIndex(
    ({ own, value }, index) => index > replaced && own && holds(value, write, same),
  );
  if (ownByValue >= 0) return ownByValue;
  const byValue = versions.findIndex(({ value }, index) => index > replaced && holds(value, write, same));
  if (byValue >= 0) return byValue;
  return versions.findLastIndex(({ own, value }) => own && !writes.some((other) => holds(value, other, same)));
}
