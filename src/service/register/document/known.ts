/**
 * Merges a document with what cvrsync knew of the company: what the document states, and otherwise the known values. A
 * family that a document does not state is unknown, never empty. Pure.
 */
import type { Capital } from '../../../protocol/formats.ts';
import type { AltIndustry, Company } from './company.ts';
import { type Employment, latestFigure } from './employment.ts';
import { PARTS, type Part } from './families.ts';
import { BODIES, type BodyMember, isBody, type Membership, type RelationBody, type Trace } from './relations.ts';
import type { DocumentStatement } from './stated.ts';
import { isCoarser, plainStatus } from './status.ts';
import { UNIT_PARTS, type Unit } from './unit.ts';
import type { DatedValue } from './validity.ts';

export type Own = Exclude<Part, RelationBody>;

const OWN_PARTS: readonly Own[] = PARTS.filter((part): part is Own => !isBody(part));

/** Every company has these: if one is absent, the document only does not state it. */
const NEVER_EMPTY: ReadonlySet<string> = new Set<Part>(['names', 'status', 'form']);

/** Lists that may be empty: one without entries states that the previous entries are gone. */
const OFTEN_EMPTY: ReadonlySet<string> = new Set<Part>([
  'altNames',
  'altIndustries',
  'email',
  'fax',
  'phoneNumber',
  'website',
  'units',
]);

/** Whether an empty list states that a part is empty: the register deleted its only entry. */
const isDeleted = (says: DocumentStatement, part: string): boolean =>
  says.of(part) === 'silent' && OFTEN_EMPTY.has(part) && says.statesLife;

const isNothing = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

export const isEmpty = (company: Company, part: Part): boolean => {
  if (isBody(part)) return company.bodies[part].members.length === 0;
  if (part === 'life') return company.life.value.started === null && company.life.value.ended === null;
  if (part === 'monthly' || part === 'quarterly' || part === 'yearly') return company[part] === null;
  return isNothing(company[part].value);
};

interface PartReading {
  readonly part: string;
  readonly says: DocumentStatement;
  readonly isEmpty: boolean;
  readonly wasEmpty: boolean | undefined;
}

/** Whether to use a part's read value, keep its known one, or leave it unknown. */
const outcomeOf = ({ part, says, isEmpty, wasEmpty }: PartReading): 'read' | 'kept' | 'unknown' => {
  const stated = says.of(part);
  if (stated === 'unreadable') return wasEmpty === undefined ? 'unknown' : 'kept';
  // Without its life, the day to read of an ended company is unknown.
  const isLost = isEmpty && (NEVER_EMPTY.has(part) || !says.statesLife);
  if ((stated === 'stated' && !isLost) || isDeleted(says, part)) return 'read';
  if (wasEmpty === false) return 'kept';
  const isUnsaid = stated === 'missing' || (isLost && stated !== 'silent');
  return isUnsaid && wasEmpty === undefined ? 'unknown' : 'read';
};

const isKnown = (before: Company | Unit | undefined, part: string): boolean =>
  before !== undefined && before.unknown?.includes(part) !== true;

export const withParts = <S extends object>(to: S, from: S, parts: readonly (keyof S)[]): S => {
  const copy = { ...to };
  for (const part of parts) copy[part] = from[part];
  return copy;
};

/** A company with its withheld losses applied. */
export const withLosses = ({ withheld, ...company }: Company): Company => {
  const { bodies, ...own } = withheld ?? {};
  return { ...company, ...own, bodies: { ...company.bodies, ...bodies } };
};

/** Whether the new figure is of a later period: the lists of figures begin and end at different times. */
const isLaterFigure = (after: Employment<unknown> | null, before: Employment<unknown> | null): boolean =>
  after !== null && (before === null || (after.year - before.year || after.number - before.number) >= 0);

/** Whether a known figure stays: the document has no other, or only a later one that is unreadable. */
const isFigureLeft = (part: Own, before: Company, read: Company, says: DocumentStatement): boolean => {
  if (part !== 'monthly' && part !== 'quarterly' && part !== 'yearly') return false;
  const isUnread = says.of(latestFigure(part)) === 'unreadable' && !isLaterFigure(read[part], before[part]);
  return read[part] === null || isUnread;
};

const isReplaced = (part: Own, before: Company, after: Company, says: DocumentStatement): boolean =>
  (part === 'monthly' || part === 'quarterly' || part === 'yearly') &&
  says.of(part) === 'silent' &&
  isLaterFigure(after[part], before[part]);

type Places = DatedValue<readonly AltIndustry[]>;

/** Keeps secondary industries in positions that the document does not state. */
const keepPlaces = (before: Places, after: Places, says: DocumentStatement): Places => {
  const kept = before.value.filter(({ place }) => {
    const stated = says.of(`altIndustry${place}`);
    return stated === 'missing' || stated === 'unreadable';
  });
  return kept.length === 0 ? after : { ...after, value: [...after.value, ...kept].sort((a, b) => a.place - b.place) };
};

/** Keeps the currency and other terms if the document states only the amount. */
const keepTerms = (before: Company, after: Company, says: DocumentStatement): DatedValue<Capital | null> => {
  const [was, is] = [before.capital.value, after.capital.value];
  if (was === null || is === null) return after.capital;
  const kept = (['currency', 'hasClasses', 'isPartial'] as const).filter((term) => says.of(term) !== 'stated');
  return { ...after.capital, value: withParts(is, was, kept) };
};

/**
 * Keeps the names and unreadable shares of known members. A new member with an unreadable share waits until it is
 * readable. If the document does not identify everybody, known members stay.
 */
const keepMembers = (before: Membership, after: Membership, trace: Trace | undefined): Membership => {
  const formerly = new Map(before.members.map((each) => [each.entityId, each]));
  const named = after.members.flatMap((each): BodyMember[] => {
    const former = formerly.get(each.entityId);
    const isUnread = trace?.unread.has(each.entityId) === true;
    if (isUnread && former === undefined) return [];
    const share = isUnread ? (former?.share ?? null) : each.share;
    return [{ ...each, share, name: each.name ?? former?.name ?? null }];
  });
  const missed = trace?.isPartial ? before.members.filter(({ entityId }) => !trace.ids.has(entityId)) : [];
  const members = [...named, ...missed].sort((a, b) => (a.entityId < b.entityId ? -1 : 1));
  return { ...after, members };
};

/** The company after reading a document: unstated parts keep their known values. */
export const withKnown = (before: Company | undefined, read: Company, says: DocumentStatement): Company => {
  const known = keepUnstated(before, read, says);
  const isLeft = (part: Part): boolean =>
    before !== undefined && isKnown(before, part) && !isEmpty(before, part) && isDeleted(says, part);
  const emptied = PARTS.filter(
    (part) =>
      isEmpty(known, part) &&
      isKnown(known, part) &&
      (says.of(part) === 'stated' || isLeft(part) || before?.emptied?.includes(part) === true),
  );
  return { ...known, ...(emptied.length > 0 && { emptied }) };
};

const NOBODY: Membership = { members: [], at: null };

/** The outcome of each part; an unknown body with an unreadable share stays unknown. */
const outcomesOf = (before: Company | undefined, read: Company, says: DocumentStatement) => {
  const kept = new Set<Part>();
  const unknown: Part[] = [];
  const bodies = { ...read.bodies };
  for (const part of PARTS) {
    const wasEmpty = before !== undefined && isKnown(before, part) ? isEmpty(before, part) : undefined;
    const outcome = outcomeOf({ part, says, isEmpty: isEmpty(read, part), wasEmpty });
    const isUnread = isBody(part) && wasEmpty === undefined && (says.traceOf(part)?.unread.size ?? 0) > 0;
    if (outcome === 'kept') kept.add(part);
    if (outcome === 'unknown' || isUnread) unknown.push(part);
    if (isUnread) bodies[part] = NOBODY;
  }
  return { kept, known: { ...read, bodies, ...(unknown.length > 0 && { unknown }) } };
};

/** Whether a status has another spelling, or says less. */
const saysNoMore = (status: string | null, known: string | null): boolean =>
  plainStatus(status) === plainStatus(known) || isCoarser(status, known);

const keepUnstated = (before: Company | undefined, read: Company, says: DocumentStatement): Company => {
  const { kept, known } = outcomesOf(before, read, says);
  if (before === undefined) return known;
  if (saysNoMore(read.status.value, before.status.value)) kept.add('status');
  const parts = OWN_PARTS.filter(
    (part) => isFigureLeft(part, before, read, says) || (kept.has(part) && !isReplaced(part, before, read, says)),
  );
  const bodies = { ...known.bodies };
  for (const body of BODIES)
    bodies[body] = kept.has(body)
      ? before.bodies[body]
      : keepMembers(before.bodies[body], known.bodies[body], says.traceOf(body));
  const merged: Company = {
    ...known,
    altIndustries: keepPlaces(before.altIndustries, read.altIndustries, says),
    capital: keepTerms(before, read, says),
    bodies,
    name: kept.has('names') ? before.name : read.name,
  };
  return withParts(merged, before, parts);
};

export const withKnownUnit = (before: Unit | undefined, read: Unit, says: DocumentStatement): Unit => {
  const kept: (typeof UNIT_PARTS)[number][] = [];
  const unknown: string[] = [];
  for (const part of UNIT_PARTS) {
    const was = isKnown(before, part) ? before?.[part] : undefined;
    const wasEmpty = was && isNothing(was.value);
    const outcome = outcomeOf({ part, says, isEmpty: isNothing(read[part]?.value ?? null), wasEmpty });
    if (outcome === 'kept') kept.push(part);
    if (outcome === 'unknown') unknown.push(part);
  }
  const known = { ...read, ...(unknown.length > 0 && { unknown }) };
  if (before === undefined) return known;
  const { altIndustries: was } = before;
  const { altIndustries: is } = read;
  const altIndustries = was && is && { altIndustries: keepPlaces(was, is, says) };
  return withParts(
    { ...known, ...altIndustries, name: kept.includes('names') ? before.name : read.name },
    before,
    kept,
  );
};

/**
 * The previous snapshot for a comparison. Unknown parts take their current values, because a source's first mention of
 * a family is not a change; nor is its finer word for a status.
 */
export const comparable = (before: Company, after: Company): Company => {
  const isFirst = (part: Part): boolean =>
    !isKnown(before, part) || (part === 'status' && isCoarser(before.status.value, after.status.value));
  const parts = PARTS.filter(isFirst);
  if (parts.length === 0) return before;
  const bodies = withParts(before.bodies, after.bodies, parts.filter(isBody));
  return withParts(
    { ...before, bodies },
    after,
    parts.filter((part): part is Own => !isBody(part)),
  );
};

export const comparableUnit = (before: Unit, after: Unit): Unit =>
  withParts(
    before,
    after,
    UNIT_PARTS.filter((part) => !isKnown(before, part) || before[part] === undefined),
  );
