/** The hold of a record: by a property in the CRM, or by a person's override. */

import type { PropertyValue, Read } from '../../../providers/provider.ts';
import type { Db } from '../../store/store.ts';
import { isBlank } from '../decide/decide.ts';
import { ALL_PROPERTIES, readOverrides } from '../overrides/override.ts';
import type { DecisionRules, RecordFilter } from '../rules/rules.ts';
import type { Crm } from './crm.ts';

const NO = /^(?:false|no|nej|0)$/iu;
const DAY = /^\d{4}-\d\d-\d\d$/u;
const INSTANT = /^\d{4}-\d\d-\d\dT/u;
const DAY_MS = 86_400_000;

/** The end of a day in Denmark, in summer time or not: up to an hour late, never early. */
export const endOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) + DAY_MS - 3_600_000;

export type HoldRules = Pick<DecisionRules, 'hold' | 'only'>;

/** The properties that say whether a record is on hold. */
export const holdProperties = ({ hold, only = {} }: HoldRules): readonly string[] => [
  ...(hold === undefined ? [] : [hold]),
  ...Object.keys(only),
];

/** Why a record is on hold in the CRM, for people. */
export function holdReason({ hold, only }: HoldRules, properties: Readonly<Record<string, PropertyValue>>): string {
  const outside = outsideOf(only, properties);
  if (outside === undefined) return `${hold} is set`;
  const value = spelledOf(properties[outside]);
  return `${outside} is ${value === '' ? 'blank' : value}, which only does not name`;
}

/** The first property whose value `only` does not name. Case does not count; a value may be a list. */
function outsideOf(
  only: RecordFilter | undefined,
  properties: Readonly<Record<string, PropertyValue>>,
): string | undefined {
  return Object.entries(only ?? {}).find(([name, wanted]) => {
    const spelled = spelledOf(properties[name]);
    const held = new Set([spelled, ...spelled.split(';')].map((each) => each.trim().toLowerCase()));
    return !wanted.some((each) => held.has(each.trim().toLowerCase()));
  })?.[0];
}

const spelledOf = (value: PropertyValue | undefined): string => String(value ?? '').trim();

/**
 * End of the hold that the CRM states: infinite if it names no day, undefined without a hold. A date is the last day of
 * the hold, an instant its end.
 */
export function holdOf(
  { hold, only }: HoldRules,
  properties: Readonly<Record<string, PropertyValue>>,
  now: number,
): number | undefined {
  if (outsideOf(only, properties) !== undefined) return Number.POSITIVE_INFINITY;
  const value = hold === undefined ? null : (properties[hold] ?? null);
  if (isBlank(value) || value === false) return undefined;
  const text = String(value).trim();
  if (NO.test(text)) return undefined;
  const until = DAY.test(text) ? endOfDay(text) : INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(until)) return Number.POSITIVE_INFINITY;
  return until > now ? until : undefined;
}

const HOUR_MS = 3_600_000;

/**
 * Time until a held record is checked again: as often as the CRM is polled for changes. CRMs do not report the end of a
 * hold.
 */
export const holdPollMs = ({ pollMinutes }: Pick<Crm, 'pollMinutes'>): number =>
  pollMinutes > 0 ? pollMinutes * 60_000 : 6 * HOUR_MS;

export const isHeld = (crm: HoldRules, properties: Readonly<Record<string, PropertyValue>>, now: number): boolean =>
  holdOf(crm, properties, now) !== undefined;

export interface HoldSource {
  readonly db: Db;
  readonly crm: Crm;
}

/** When to check each held record again. `reads` holds the records in the same order, with their hold property. */
export async function holdsOf(
  { db, crm }: HoldSource,
  ids: readonly string[],
  reads: readonly Read[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const overrides = await readOverrides(db, crm.name, ids, now);
  const holds = ids.flatMap((id, index): [string, number][] => {
    const read = reads[index];
    const override = overrides.get(id)?.get(ALL_PROPERTIES);
    const ends = [
      ...(override?.kind === 'hold' ? [override.until ?? Number.POSITIVE_INFINITY] : []),
      ...(read?.kind === 'found' ? [holdOf(crm, read.properties, now) ?? []] : []),
    ].flat();
    return ends.length === 0 ? [] : [[id, Math.min(Math.max(...ends), now + holdPollMs(crm))]];
  });
  return new Map(holds);
}

/** Check this right before a write. */
export async function isHeldByOverride(db: Db, provider: string, id: string, now: number): Promise<boolean> {
  const overrides = (await readOverrides(db, provider, [id], now)).get(id);
  return overrides?.get(ALL_PROPERTIES)?.kind === 'hold';
}
