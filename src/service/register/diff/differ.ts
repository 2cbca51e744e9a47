/** What a differ is: it finds the change that one event tells of, between two snapshots of a company. */
import type { EventData, EventName } from '../../../protocol/events.ts';
import type { Entity } from '../../../protocol/formats.ts';
import type { Company } from '../document/company.ts';
import type { DatedValue } from '../document/validity.ts';

/** A company that takes part in a merger. */
export interface MergerParty {
  readonly entity: string;
  readonly name: string;
  readonly dissolved: boolean;
}

/** An industry's code before and after, and the day from which the new one holds. */
export interface IndustryChange {
  readonly before: string;
  readonly after: string;
  readonly from: string | null;
}

/** What a diff must be told. */
export interface DiffOptions {
  /** YYYY-MM-DD in Copenhagen. */
  readonly today: string;
  /** Type name of production units. */
  readonly placeType: string;
  /** Whether a new industry code is the register's own recoding rather than a change: see recoding.ts. */
  readonly isRecoded: (change: IndustryChange) => boolean;
  /** How many days after it began, and was first registered, a company counts as new; 30 where absent. */
  readonly newWithinDays?: number;
  /**
   * The parties of a merger as far as they are known, by the organisation number that their documents share. Without
   * it mergers are not told of: a document does not say who the other party is.
   */
  readonly mergerParties?: (organisation: string) => readonly MergerParty[];
  /** The name of a production unit or company where it is known: documents name units by number only. */
  readonly nameOf?: (entity: string) => string | undefined;
}

/** The data of all events, by name. */
export type DataByEvent = { [E in EventName]: EventData<E> };

/** A change: the event's data, and when the register touched what changed. */
export interface FoundChange<E extends EventName> {
  readonly data: DataByEvent[E];
  readonly at: readonly (string | null)[];
}

/** Undefined where nothing changed. */
export type Differ<E extends EventName> = (
  before: Company,
  after: Company,
  options: DiffOptions,
) => FoundChange<E> | undefined;

/** For events that the register's company documents do not yield. */
export const elsewhere = (): undefined => undefined;

/** The change of one value; where the two are the same, no change, however often it was registered again. */
export const changed = <T>(
  before: DatedValue<T | null>,
  after: DatedValue<T | null>,
  isSame: (a: T, b: T) => boolean = Object.is,
): { data: { before: T | null; after: T | null }; at: readonly (string | null)[] } | undefined => {
  const [a, b] = [before.value, after.value];
  const same = a === null || b === null ? a === b : isSame(a, b);
  return same ? undefined : { data: { before: a, after: b }, at: [before.at, after.at] };
};

/** What one list has that the other has not, by key. */
export const missing = <T>(list: readonly T[], from: readonly T[], keyOf: (item: T) => string): T[] => {
  if (list.length === 0) return [];
  if (from.length === 0) return [...list];
  const keys = new Set(from.map(keyOf));
  return list.filter((item) => !keys.has(keyOf(item)));
};

/** The change of a list as a set. */
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

/** An entity as the wire names it; the type follows from the id. */
export const entityOf = (entityId: string, name: string | null, placeType: string): Entity => {
  const type = entityId.startsWith('CVR-1-') ? 'Company' : entityId.startsWith('CVR-2-') ? placeType : 'Person';
  return { entityId, name, type };
};
