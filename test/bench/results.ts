/** The table at the end of a run of benches: what was aimed at, what was measured, and whether that is enough. */
import { loadavg } from 'node:os';

interface Result {
  readonly measured: Readonly<Record<string, unknown>>;
  readonly aim: Readonly<Record<string, unknown>>;
  readonly ok: boolean;
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
}

const told = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');

/** Renders the lines that benches reported, each with its name; undefined for one that could not run. */
export function renderTable(lines: readonly (readonly [string, string | undefined])[]): string {
  const rows = lines.map(([name, line]) => {
    if (line === undefined) return [name, '', '', 'could not run'];
    // Written by `report` in measure.ts.
    const { measured, aim, ok } = JSON.parse(line) as Result;
    const hasAim = Object.keys(aim).length > 0;
    return [name, hasAim ? told(aim) : 'none', told(measured), hasAim ? (ok ? 'met' : 'MISSED') : ''];
  });
  const first = lines.find(([, line]) => line !== undefined)?.[1];
  const machine = first === undefined ? undefined : (JSON.parse(first) as Result).machine;
  const conditions =
    machine === undefined
      ? ''
      : `\n${machine.cpus} cores (${machine.model}), Node ${machine.node}, load ${loadavg()
          .map((load) => load.toFixed(1))
          .join(' ')}\n`;
  const cells = [['Bench', 'Aim', 'Measured', 'Verdict'], ['---', '---', '---', '---'], ...rows];
  return `${cells.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n${conditions}`;
}
