/** Compares two snapshots of a company or a production unit with one differ per event. Pure. */
import { EVENT_NAMES, type EventName } from '../../../protocol/events.ts';
import type { Updates } from '../../../protocol/payload.ts';
import type { Change } from '../../changes/change.ts';
import type { Company } from '../document/company.ts';
import type { Unit } from '../document/unit.ts';
import { changeOf, isEmpty, onceOnly, type StateStep } from './change-of.ts';
import { changed, type DataByEvent, type Differ, type DiffOptions, elsewhere, entityOf } from './differ.ts';
import { altIndustriesChanged, FACT_DIFFERS, industryChanged, isSameAddress } from './differ-facts.ts';
import { mergersFound, RELATION_DIFFERS, unitsChanged } from './differ-relations.ts';
import { foundingOf } from './founding.ts';
import { formerSharesOf, peopleChanges } from './people.ts';

export type { DiffOptions } from './differ.ts';

/** Events of other sources find nothing. */
const DIFFERS: { readonly [E in EventName]: Differ<E> } = {
  ...FACT_DIFFERS,
  ...RELATION_DIFFERS,
  newReport: elsewhere,
  // First revisions of companies: see founding.ts.
  newCompany: elsewhere,
  subsidiaryFounded: elsewhere,
  // The documents of units: see unitChanges.
  pUnitUpdated: elsewhere,
  newArticle: elsewhere,
  addedToMonitor: elsewhere,
  removedFromMonitor: elsewhere,
};

const compare = (before: Company, after: Company, options: DiffOptions, events = EVENT_NAMES) => {
  const updates: Partial<DataByEvent> = {};
  const find = <E extends EventName>(event: E) => {
    const found = DIFFERS[event](before, after, options);
    if (found === undefined) return [];
    updates[event] = found.data;
    return found.at;
  };
  const at = events.flatMap((event) => find(event));
  return { updates, at };
};

/**
 * The changes between two snapshots of a company, in the wire's formats. An event that can name only one thing (a
 * production unit, a merger) has the first; {@link changesOf} returns all. Without `before` nothing has changed.
 */
export const diff = (before: Company | undefined, after: Company, options: DiffOptions): Updates =>
  before === undefined ? {} : compare(before, after, options).updates;

// Both parties' documents report a merger, in any order. It is a change of its own, which the second report does not
// repeat.
const BUT_MERGERS = EVENT_NAMES.filter((event) => event !== 'merger');

/** A change for each further production unit, and for each merger and party. */
const furtherChanges = (before: Company, after: Company, options: DiffOptions, step: StateStep): readonly Change[] => {
  const { entity, name } = after;
  const units = unitsChanged(before, after, options);
  const further = [
    ...units.added.slice(1).map(({ data, at }) => ({ updates: { pUnitAdded: data }, at })),
    ...units.removed.slice(1).map(({ data, at }) => ({ updates: { pUnitRemoved: data }, at })),
  ].map((found) => changeOf({ entity, name, ...found }, step));
  const mergers = mergersFound(before, after, options).flatMap(({ organisation, other, data, at }) => {
    const theirs = { entity: entityOf(entity, name, 'Company'), dissolved: other.dissolved };
    const own = changeOf({ entity, name, updates: { merger: data }, at }, step);
    const others = changeOf({ entity: other.entity, name: other.name, updates: { merger: theirs }, at }, step);
    // Two ids for two answers: that a company ends in a merger may become known only after cvrsync published the
    // merger.
    const keyOf = (one: string, another: string, dissolved: boolean) =>
      ['merger', organisation, one, another, ...(dissolved ? ['dissolved'] : [])] as const;
    return [
      onceOnly(own, ...keyOf(entity, other.entity, data.dissolved)),
      onceOnly(others, ...keyOf(other.entity, entity, other.dissolved)),
    ];
  });
  return [...further, ...mergers];
};

/**
 * All changes between two snapshots of a company: its own, those of its people (addressed to persons), and its founding
 * for its owners. Without `before` the only change is its founding, if it is new.
 */
export const changesOf = (before: Company | undefined, after: Company, options: DiffOptions): readonly Change[] => {
  const step = { before, after };
  const founding = foundingOf(before, after, options);
  if (before === undefined) return founding;
  if (before.entity !== after.entity) throw new Error(`snapshots of two companies: ${before.entity}, ${after.entity}`);
  const { updates, at } = compare(before, after, options, BUT_MERGERS);
  const { entity, name } = after;
  const formerShares = formerSharesOf(before, after);
  return [
    ...(isEmpty(updates) ? [] : [changeOf({ entity, name, updates, at, formerShares }, step)]),
    ...furtherChanges(before, after, options, step),
    ...peopleChanges(before, after, step),
    ...founding,
  ];
};

/** A part that one of two snapshots lacks has not changed. */
const both = <T, R>(before: T | undefined, after: T | undefined, find: (before: T, after: T) => R): R | undefined =>
  before === undefined || after === undefined ? undefined : find(before, after);

/**
 * The changes of a production unit's document: one `pUnitUpdated` for its company. The company's document reports new
 * and removed units; a first revision and a unit without a company report nothing.
 */
export const unitChanges = (before: Unit | undefined, after: Unit, options: DiffOptions): readonly Change[] => {
  const company = after.company.value;
  if (before === undefined || company === null) return [];
  const found = [
    changed(before.names, after.names),
    changed(before.address, after.address, isSameAddress),
    industryChanged(before.industry, after.industry, options),
    changed(before.phoneNumber, after.phoneNumber),
    changed(before.fax, after.fax),
    changed(before.email, after.email),
    both(before.altIndustries, after.altIndustries, (was, is) => altIndustriesChanged(was, is, options)),
    both(before.commercialProtection, after.commercialProtection, changed),
    changed(before.company, after.company),
  ].filter((each) => each !== undefined);
  if (found.length === 0) return [];
  const updates = { pUnitUpdated: { entity: entityOf(after.entity, after.name, options.placeType) } };
  const name = options.nameOf?.(company) ?? after.name;
  return [changeOf({ entity: company, name, updates, at: found.flatMap(({ at }) => at) }, { before, after })];
};
