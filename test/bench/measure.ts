/** Numbers out of measurements, and the line a bench prints. */
import { availableParallelism, cpus } from 'node:os';

/** The value below which this share of the values lies; NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Rounded for people. */
export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

/** The ratio of rounds that alternate, as a bench reports it: their median, and how far they were apart. */
export const spread = (ratios: readonly number[]): { ratio: number; lowest: number; highest: number } => ({
  ratio: round(median(ratios), 3),
  lowest: round(Math.min(...ratios), 3),
  highest: round(Math.max(...ratios), 3),
});

/** Prints the one line of a bench. */
export function report(bench: string, measured: object, aim: object, ok: boolean): void {
  const machine = { cpus: availableParallelism(), model: cpus()[0]?.model ?? '', node: process.versions.node };
  process.stdout.write(`${JSON.stringify({ bench, measured, aim, ok, machine })}\n`);
}
