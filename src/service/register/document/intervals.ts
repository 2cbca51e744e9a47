/** The register's intervals for numbers of employees. */

const BOUNDS: readonly number[] = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const CODE = /^ANTAL_(\d+)(?:_(\d+))?/;

const between = (from: number, to: number): string => {
  if (from >= 1000) return '1000+';
  return from === to ? String(from) : `${from}-${to}`;
};

/** The interval of a code: `ANTAL_2_4` is `2-4`, `ANTAL_1_1` is `1`, anything from 1,000 on `1000+`. */
export const intervalOfCode = (code: unknown): string | null => {
  const [, from, to] = typeof code === 'string' ? (CODE.exec(code) ?? []) : [];
  if (from === undefined) return null;
  return to === undefined && Number(from) < 1000 ? `${Number(from)}+` : between(Number(from), Number(to));
};

export const intervalOfNumber = (count: number): string => {
  const at = BOUNDS.findLastIndex((bound) => bound <= count);
  const [from = 0, next = Number.POSITIVE_INFINITY] = [BOUNDS[at], BOUNDS[at + 1]];
  return between(from, next - 1);
};
