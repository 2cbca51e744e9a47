/** When the credentials of Datafordeler end: they last two years at most, and nothing in them says so. */
import type { RegisterSettings } from './service-settings.ts';

export const DAY_MS = 86_400_000;
const WARN_DAYS = 30;

/** Whether the credentials end within 30 days, or have ended; false if nobody stated a day. */
export function isKeyEnding(register: RegisterSettings | undefined, now: number): boolean {
  if (register?.source !== 'datafordeler' || register.apiKeyEnds === undefined) return false;
  return Date.parse(`${register.apiKeyEnds}T00:00:00Z`) - now < WARN_DAYS * DAY_MS;
}
