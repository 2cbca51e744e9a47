import { clockAt, instantOfClock } from '../../../protocol/danish/clock.ts';

export const todayAt = (now: number): string => new Date(clockAt(now)).toISOString().slice(0, 10);

/** When a day begins in Copenhagen. Clocks there never change at midnight. */
export const startOf = (day: string): number => instantOfClock(Date.parse(`${day}T00:00:00Z`));
