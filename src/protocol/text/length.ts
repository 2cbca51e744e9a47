/** Lengths of time as people write them: `90m`, `2h`, `3d` or `1w`. In ms. */

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** A length without an end. */
export const FOREVER = 'forever';

/** The length that a text names; undefined for any other text. */
export function readLength(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,5})\s*([mhdw])$/iu.exec(text.trim()) ?? [];
  const ms = UNIT_MS[unit.toLowerCase()];
  return ms === undefined ? undefined : Number(count) * ms;
}

/** A length in the form that {@link readLength} reads; {@link FOREVER} if it has no end. */
export function lengthText(ms: number): string {
  if (!Number.isFinite(ms)) return FOREVER;
  const [unit = 'm', size = 60_000] = Object.entries(UNIT_MS).findLast(([, each]) => ms % each === 0) ?? [];
  return `${Math.ceil(ms / size)}${unit}`;
}
