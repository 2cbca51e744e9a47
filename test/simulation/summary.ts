/** The result of a run of worlds: one line, which the process of several jobs reads and adds up. */

export interface Summary {
  readonly worlds: number;
  readonly steps: number;
  /** Simulated. */
  readonly days: number;
  /** Of the processor. */
  readonly cpuMinutes: number;
  /** The seeds of the worlds that failed. */
  readonly failed: readonly number[];
}

export const NOTHING: Summary = { worlds: 0, steps: 0, days: 0, cpuMinutes: 0, failed: [] };

export const sumOf = (one: Summary, other: Summary): Summary => ({
  worlds: one.worlds + other.worlds,
  steps: one.steps + other.steps,
  days: one.days + other.days,
  cpuMinutes: one.cpuMinutes + other.cpuMinutes,
  failed: [...one.failed, ...other.failed],
});

export function lineOf({ worlds, steps, days, cpuMinutes, failed }: Summary): string {
  const end = failed.length === 0 ? 'none failed' : `failed: seed ${failed.join(', ')}`;
  const anHour = cpuMinutes > 0 ? Math.round((days * 60) / cpuMinutes) : 0;
  return `${worlds} worlds, ${steps} steps, ${days.toFixed(1)} days in ${cpuMinutes.toFixed(2)} minutes of the processor (${anHour} days an hour), ${end}`;
}

const LINE =
  /^(\d+) worlds, (\d+) steps, ([\d.]+) days in ([\d.]+) minutes of the processor \(\d+ days an hour\), (?:none failed|failed: seed ([\d, ]+))$/;

/** Undefined if the line is none of {@link lineOf}. */
export function readSummary(line: string): Summary | undefined {
  const [all, worlds, steps, days, cpuMinutes, failed = ''] = LINE.exec(line) ?? [];
  if (all === undefined) return undefined;
  return {
    ...{ worlds: Number(worlds), steps: Number(steps), days: Number(days), cpuMinutes: Number(cpuMinutes) },
    failed: failed === '' ? [] : failed.split(', ').map(Number),
  };
}
