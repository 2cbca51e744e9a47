/** hold: whether a record's own property says that it is to be left alone. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { isBlank } from '../decide/decide.ts';
import type { Crm } from './crm.ts';

const NO = /^(?:false|no|nej|0)$/iu;
const DAY = /^\d{4}-\d\d-\d\d$/u;
const INSTANT = /^\d{4}-\d\d-\d\dT/u;
const DAY_MS = 86_400_000;

/** The end of a day in Denmark, whether it has summer time or not: up to an hour late, never early. */
export const endOfDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) + DAY_MS - 3_600_000;

/**
 * Until when the CRM says that the record is to be left alone, in ms since 1970; infinite if it names no day, and
 * undefined if it says nothing. A date is the last day of the hold, an instant its end.
 */
export function holdOf(
  { hold }: Pick<Crm, 'hold'>,
  properties: Readonly<Record<string, PropertyValue>>,
  now: number,
): number | undefined {
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
 * How long a record under hold waits for its next look, in ms: as often as the CRM is asked for changes. CRMs do not say
 * when a hold is lifted.
 */
export const holdPollMs = ({ pollMinutes }: Pick<Crm, 'pollMinutes'>): number =>
  pollMinutes > 0 ? pollMinutes * 60_000 : 6 * HOUR_MS;

/** Whether the CRM says now that the record is to be left alone. */
export const isHeld = (
  crm: Pick<Crm, 'hold'>,
  properties: Readonly<Record<string, PropertyValue>>,
  now: number,
): boolean => holdOf(crm, properties, now) !== undefined;
