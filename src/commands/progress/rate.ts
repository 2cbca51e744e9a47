/** The speed and remaining time of long work, for people. Pure. */

export const grouped = (value: number): string => Math.round(value).toLocaleString('en');

export interface WorkRate {
  readonly done: number;
  readonly total: number | undefined;
  readonly perSecond: number;
}

/** `9,100/s, 3 s left`. */
export function rateText({ done, total, perSecond }: WorkRate): string {
  const rate = `${perSecond >= 10 ? grouped(perSecond) : perSecond.toFixed(1)}/s`;
  return total === undefined || perSecond < 0.001 ? rate : `${rate}, ${duration((total - done) / perSecond)} left`;
}

const duration = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
};
