import type { EventData, EventName } from '../../../protocol/events.ts';
import type { Entity } from '../../../protocol/formats.ts';
import type { Company } from '../document/company.ts';
import type { DatedValue } from '../document/validity.ts';

export interface MergerParty {
  readonly entity: string;
  readonly name: string;
  readonly dissolved: boolean;
}

export interface IndustryChange {
  readonly before: string;
  readonly after: string;
  readonly from: string | null;
}

export interface DiffOptions {
  readonly today: string;
  readonly placeType: string;
  /** Whether a new industry code is the register's own recoding: see recoding.ts. */
  readonly isRecoded: (change: IndustryChange) => boolean;
  /** How many days after its start and first registration a company counts as new; 30 by default. */
  readonly newWithinDays?: number | undefined;
  /**
   * The known parties of a merger, by the organisation number that their documents share. Without it mergers are not
   * reported, because a document does not name the other party.
   */
  readonly mergerParties?: (organisation: string) => readonly MergerParty[];
  /** The name of a production unit or company if known: documents name units only by number. */
  readonly nameOf?: (entity: string) => string | undefined;
}

export type DataByEvent = { [E in EventName]: EventData<E> };

export interface FoundChange<E extends EventName> {
  readonly data: DataByEvent[E];
  readonly at: readonly (string | null)[];
}

export type Differ<E extends EventName> = (
  before: Company,
  after: Company,
  options: DiffOptions,
) => FoundChange<E> | undefined;

/** For events that company documents do not yield. */
export const elsewhere = (): undefined => undefined;

/** The change of one value; undefined for equal values, however often they were registered again. */
export const changed = <T>(
  before: DatedValue<T | null>,
  after: DatedValue<T | null>,
  isSame: (a: T, b: T) => boolean = Object.is,
): { data: { before: T | null; after: T | null }; at: readonly (string | null)[] } | undefined => {
  const [a, b] = [before.value, after.value];
  const same = a === null || b === null ? a === b : isSame(a, b);
  return same ? undefined : { data: { before: a, after: b }, at: [before.at, after.at] };
};

export const missing = <T>(list: readonly T[], from: readonly T[], keyOf: (item: T) => string): T[] => {
  if (list.length === 0) return [];
  if (from.length === 0) return [...list];
  const keys = new Set(from.map(keyOf));
  return list.filter((item) => !keys.has(keyOf(item)));
};

export const listChanged = <T>(
  before: DatedValue<readonly T[]>,
  after: DatedValue<readonly T[]>,
  keyOf: (item: T) => string,
): { data: { added: T[]; removed: T[] }; at: readonly (string | null)[] } | undefined => {
  if (before.value.length === 0 && after.value.length === 0) return undefined;
  const added = missing(after.value, before.value, keyOf);
  const removed = missing(before.value, after.value, keyOf);
  return added.length + removed.length === 0 ? undefined : { data: { added, removed }, at: [before.at, after.at] };
};

/** An entity in the wire's format; the type follows from the id. */
export const entityOf = (entityId: string, name: string | null, placeType: string): Entity => {
  const type = entityId.startsWith('CVR-1-') ? 'Company' : entityId.startsWith('CVR-2-') ? placeType : 'Person';
  return { entityId, name, type };
};
