/** Differs of a company's relations: owners, people, production units, merged companies. */
import type { EventData } from '../../../protocol/events.ts';
import type { Company, Merger } from '../document/company.ts';
import type { BodyMember } from '../document/relations.ts';
import { type Differ, type DiffOptions, entityOf, type FoundChange, type MergerParty, missing } from './differ.ts';

/** The bodies whose members have shares. */
export type ShareEvent = 'ownership' | 'trueOwnership' | 'trueVoteRights';
/** The bodies whose members have no shares. */
export type RoleEvent = 'accountant' | 'board' | 'management' | 'stakeholders';
export type RelationEvent = ShareEvent | RoleEvent;

const idOf = ({ entityId }: BodyMember): string => entityId;

/** New and former members of a body, changed shares with the former share, and new names. */
export interface BodyChange {
  readonly added: readonly BodyMember[];
  readonly removed: readonly BodyMember[];
  readonly changed: readonly { readonly member: BodyMember; readonly former: string | null }[];
  /** Members with an unchanged share. */
  readonly renamed: readonly { readonly member: BodyMember; readonly former: BodyMember }[];
  readonly at: readonly (string | null)[];
}

/** A missing name is not a different name. */
const isSameName = (a: string | null | undefined, b: string | null | undefined): boolean =>
  a == null || b == null || a === b;

/** Members are sorted by id, which makes most comparisons short. */
const isSameBody = (was: readonly BodyMember[], is: readonly BodyMember[]): boolean =>
  was.length === is.length &&
  was.every(
    ({ entityId, share, name }, at) =>
      entityId === is[at]?.entityId && share === is[at]?.share && isSameName(name, is[at]?.name),
  );

/** Compares a body by its members' ids: another role in the same body is not a change. */
export const bodyChange = (before: Company, after: Company, event: RelationEvent): BodyChange | undefined => {
  const was = before.bodies[event];
  const is = after.bodies[event];
  if (isSameBody(was.members, is.members)) return undefined;
  const formerly = new Map(was.members.map((member) => [member.entityId, member]));
  const added = missing(is.members, was.members, idOf);
  const removed = missing(was.members, is.members, idOf);
  const changed = is.members.flatMap((member) => {
    const former = formerly.get(member.entityId);
    return former === undefined || former.share === member.share ? [] : [{ member, former: former.share }];
  });
  const renamed = is.members.flatMap((member) => {
    const former = formerly.get(member.entityId);
    return former?.share !== member.share || isSameName(former?.name, member.name) ? [] : [{ member, former }];
  });
  if (added.length + removed.length + changed.length + renamed.length === 0) return undefined;
  return { added, removed, changed, renamed, at: [was.at, is.at] };
};

const role =
  <E extends RoleEvent>(event: E) =>
  (
    before: Company,
    after: Company,
    { placeType }: DiffOptions,
  ): { data: EventData<RoleEvent>; at: BodyChange['at'] } | undefined => {
    const change = bodyChange(before, after, event);
    if (change === undefined) return undefined;
    const refer = ({ entityId, name }: BodyMember) => entityOf(entityId, name, placeType);
    // The format has only added and removed members, so a member with a new name is both.
    const added = [...change.added, ...change.renamed.map(({ member }) => member)].map(refer);
    const removed = [...change.removed, ...change.renamed.map(({ former }) => former)].map(refer);
    return { data: { added, removed }, at: change.at };
  };

const listed = <T>(change: BodyChange, of: (member: BodyMember) => T) => ({
  data: {
    added: change.added.map(of),
    removed: change.removed.map(of),
    changed: [...change.changed, ...change.renamed].map(({ member }) => of(member)),
  },
  at: change.at,
});

const owned =
  (event: 'ownership' | 'trueOwnership') =>
  (before: Company, after: Company, { placeType }: DiffOptions) => {
    const change = bodyChange(before, after, event);
    return change === undefined
      ? undefined
      : listed(change, ({ entityId, name, share }) => ({ ...entityOf(entityId, name, placeType), ownership: share }));
  };

const voted: Differ<'trueVoteRights'> = (before, after, { placeType }) => {
  const change = bodyChange(before, after, 'trueVoteRights');
  return change === undefined
    ? undefined
    : listed(change, ({ entityId, name, share }) => ({ ...entityOf(entityId, name, placeType), voterights: share }));
};

/** A change for each production unit, because an event names only one. */
export const unitsChanged = (before: Company, after: Company, options: DiffOptions) => {
  const refer = (unit: string) => ({
    data: { entity: entityOf(unit, options.nameOf?.(unit) ?? after.name, options.placeType) },
    at: [before.units.at, after.units.at],
  });
  const added = missing(after.units.value, before.units.value, String).map(refer);
  const removed = missing(before.units.value, after.units.value, String).map(refer);
  return { added, removed };
};

/**
 * Whether a company ends in a merger: it goes in and does not come out, whenever that is reported; or its status says
 * so.
 */
export const isDissolved = ({ status, life }: Company, { comesOut, goesIn }: Merger): boolean =>
  (status.value ?? '').toUpperCase().includes('FUSION') ||
  (!comesOut && (goesIn === true || life.value.ended !== null));

export interface MergerFound extends FoundChange<'merger'> {
  readonly organisation: string;
  readonly other: MergerParty;
}

/** New mergers, and those in which the register now says that the company ends. */
const mergersToReport = (before: Company, after: Company): readonly Merger[] => {
  const known = new Map(before.mergers.value.map((merger) => [merger.organisation, merger]));
  return after.mergers.value.filter((merger) => {
    const was = known.get(merger.organisation);
    return was === undefined || (!isDissolved(before, was) && isDissolved(after, merger));
  });
};

export const reportedMergers = (before: Company, after: Company): readonly string[] =>
  mergersToReport(before, after).map(({ organisation }) => organisation);

/**
 * All mergers to report, with each known other party. Of several companies that end in one merger, none went into
 * another.
 */
export const mergersFound = (before: Company, after: Company, { mergerParties }: DiffOptions): readonly MergerFound[] =>
  mergersToReport(before, after).flatMap((merger) => {
    const dissolved = isDissolved(after, merger);
    return (mergerParties?.(merger.organisation) ?? [])
      .filter((other) => other.entity !== after.entity && !(dissolved && other.dissolved))
      .map((other) => ({
        organisation: merger.organisation,
        other,
        data: { entity: entityOf(other.entity, other.name, 'Company'), dissolved },
        at: [after.mergers.at],
      }));
  });

/** One company can have several of these events at once, each of which needs its own change. */
export const RELATION_DIFFERS = {
  ownership: owned('ownership'),
  trueOwnership: owned('trueOwnership'),
  trueVoteRights: voted,
  accountant: role('accountant'),
  board: role('board'),
  management: role('management'),
  stakeholders: role('stakeholders'),
  merger: (before, after, options) => mergersFound(before, after, options)[0],
  pUnitAdded: (before, after, options) => unitsChanged(before, after, options).added[0],
  pUnitRemoved: (before, after, options) => unitsChanged(before, after, options).removed[0],
} as const satisfies { readonly [E in RelationEvent | 'merger' | 'pUnitAdded' | 'pUnitRemoved']: Differ<E> };
