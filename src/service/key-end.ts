/** When the credentials of Datafordeler end: they last two years at most, and do not state their end. */
import { readValue, writeValue } from '../store/kv.ts';
import type { Db, Tx } from '../store/store.ts';
import type { RegisterSettings } from './service-settings.ts';

export const DAY_MS = 86_400_000;
const WARN_DAYS = 30;
const KEY = 'datafordeler:ends';

/** Whether credentials end within 30 days of now, or have ended. */
export const isKeyEnding = (lastDay: string, now: number): boolean =>
  Date.parse(`${lastDay}T00:00:00Z`) - now < WARN_DAYS * DAY_MS;

/** Stores the last day in the configuration, for alerts. */
export async function storeKeyEnd(tx: Tx, registers: readonly RegisterSettings[], now: number): Promise<void> {
  const [lastDay] = registers.flatMap((register) =>
    register.source === 'datafordeler' ? (register.apiKeyEnds ?? []) : [],
  );
  if (lastDay === undefined) await tx.deleteFrom('kv').where('key', '=', KEY).execute();
  else await writeValue(tx, KEY, lastDay, now);
}

/** The last day of credentials that end soon. */
export async function readKeyEnd(db: Db, now: number): Promise<string | undefined> {
  const lastDay = await readValue(db, KEY);
  return lastDay !== undefined && isKeyEnding(lastDay, now) ? lastDay : undefined;
}
