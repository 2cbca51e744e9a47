/** The decision rules of a connection: the part of its configuration that decides what is written. Pure. */
import { type Policy, type PresetRow, plainRow } from '../../../providers/provider.ts';
import { digestOf } from '../../protocol/text/digest.ts';
import type { ValueMap } from '../decide/render.ts';

/** The accepted values by property. A record matches if it holds one of them in every property. */
export type RecordFilter = Readonly<Record<string, readonly string[]>>;

export interface DecisionRules {
  /** The property that holds the CVR number. */
  readonly match?: string | undefined;
  readonly mapping: readonly PresetRow[];
  readonly values: Readonly<Record<string, ValueMap | undefined>>;
  readonly hold: string | undefined;
  /** cvrsync writes only to records that match. */
  readonly only?: RecordFilter | undefined;
  readonly persons: boolean;
  readonly currency?: string | undefined;
  readonly dashboard?: string | undefined;
}

export interface NamedRules extends DecisionRules {
  readonly name: string;
}

/** Picks the rules from other settings, with keys in a fixed order. */
export const rulesOf = (given: DecisionRules): DecisionRules => ({
  match: given.match,
  mapping: given.mapping.map(plainRow),
  values: given.values,
  hold: given.hold,
  only: given.only,
  persons: given.persons,
  currency: given.currency,
  dashboard: given.dashboard,
});

export const areSame = (one: DecisionRules, other: DecisionRules): boolean => rulesText(one) === rulesText(other);

export const rulesDigest = (rules: DecisionRules): string => digestOf(rulesOf(rules));

/** The id of a change: a person accepts the change that they saw. */
export const changeId = (before: DecisionRules, after: DecisionRules | undefined): string =>
  digestOf([rulesOf(before), after && rulesOf(after)]).slice(0, 22);

const rulesText = (rules: DecisionRules): string => JSON.stringify(rulesOf(rules));

/** How much each policy writes, in order. */
const REACH: Readonly<Record<Policy, number>> = { never: 0, 'if-blank': 1, tracked: 2, always: 3 };

type FieldAndProperty = Pick<PresetRow, 'field' | 'property'>;

export const rowIn = ({ mapping }: DecisionRules, { field, property }: FieldAndProperty): PresetRow | undefined =>
  mapping.find((row) => row.field === field && row.property === property);

/**
 * The old rules with the part of a change that only reduces writes: removed rows, stricter policies, a new hold, no
 * names of persons. That overwrites nothing, so it applies at once.
 */
export function narrowed(before: DecisionRules, after: DecisionRules): DecisionRules {
  const mapping = before.mapping.flatMap((row): readonly PresetRow[] => {
    const changed = rowIn(after, row);
    if (changed === undefined) return [];
    return [REACH[changed.policy] < REACH[row.policy] ? { ...row, policy: changed.policy } : row];
  });
  return {
    match: before.match,
    mapping,
    values: before.values,
    hold: before.hold ?? after.hold,
    only: before.only ?? after.only,
    persons: before.persons && after.persons,
    currency: after.currency === undefined ? undefined : before.currency,
    dashboard: after.dashboard === undefined ? undefined : before.dashboard,
  };
}

/** One part of a change, as the configuration spells it; undefined for a missing part. */
export interface RuleChange {
  readonly subject: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export function changesBetween(before: DecisionRules, after: DecisionRules): readonly RuleChange[] {
  const rows = new Map([...before.mapping, ...after.mapping].map((row) => [`${row.field} → ${row.property}`, row]));
  const fields = [...new Set([...Object.keys(before.values), ...Object.keys(after.values)])];
  const changes: RuleChange[] = [
    ...[...rows].map(([subject, row]) => {
      return { subject, before: rowText(rowIn(before, row)), after: rowText(rowIn(after, row)) };
    }),
    ...fields.map((field) => {
      return {
        subject: `values.${field}`,
        before: mapText(before.values[field]),
        after: mapText(after.values[field]),
      };
    }),
    { subject: 'match', before: before.match, after: after.match },
    { subject: 'hold', before: before.hold, after: after.hold },
    { subject: 'only', before: filterText(before.only), after: filterText(after.only) },
    { subject: 'persons', before: String(before.persons), after: String(after.persons) },
    { subject: 'currency', before: before.currency, after: after.currency },
    { subject: 'admin.publicUrl', before: before.dashboard, after: after.dashboard },
  ];
  return changes.filter((change) => change.before !== change.after);
}

function rowText(row: PresetRow | undefined): string | undefined {
  if (row === undefined) return undefined;
  const { policy, join, unless, optional, address, text, case: letters } = row;
  const more = { text, case: letters, join, unless, optional, address };
  const parts = Object.entries(more).flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`]));
  return [policy, ...parts].join(', ');
}

const filterText = (filter: RecordFilter | undefined): string | undefined =>
  filter &&
  Object.entries(filter)
    .map(([property, values]) => `${property}: ${values.join(' or ')}`)
    .join(', ');

const mapText = (map: ValueMap | undefined): string | undefined =>
  map === undefined ? undefined : JSON.stringify(map);
