/** After a run: which files took longest, so that it is seen when one grows. */
import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;
const ROOT = path.resolve(import.meta.dirname, '../..');

export class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const lines = slowest(
      modules.map((module) => [path.relative(ROOT, module.moduleId), module.diagnostic().duration]),
    );
    process.stdout.write(`\nThe slowest files:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  }
}

/** The files that took longest, by their ms, as lines. */
export function slowest(files: readonly (readonly [file: string, ms: number])[]): readonly string[] {
  return files
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(6)} s  ${file}`);
}
