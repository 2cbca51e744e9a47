const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A length of time in the largest unit that fits, cut to a whole number; `ms` may be negative. */
export function largestUnit(ms: number): {
  readonly count: number;
  readonly unit: 'day' | 'hour' | 'minute' | 'second';
} {
  const [unit, length] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? UNITS[3];
  return { count: Math.trunc(ms / length), unit };
}
