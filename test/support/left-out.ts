/** After a run: what of its files is left to the night, in one line, so that nothing is left out in silence. */
import { readFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { ALL } from './all.ts';

export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (ALL) return;
    const skipped = modules.flatMap(({ children }) => [...children.allTests('skipped')]).length;
    const line = leftOut(
      skipped,
      modules.map(({ moduleId }) => readFileSync(moduleId, 'utf8')),
    );
    if (line !== undefined) process.stdout.write(`\n${line}\n`);
  }
}

/** Tests that are skipped, and the source files that try less than `npm run test:all`, as a line; undefined if there are none. */
export function leftOut(skipped: number, sources: readonly string[]): string | undefined {
  const count = (imported: RegExp): number => sources.filter((source) => imported.test(source)).length;
  const parts = [
    [skipped, 'whole tests'],
    [count(/^import [^;]*\bsupport\/all\.ts';$/mu), 'files with more cases'],
    [count(/^import [^;]*\bSUITE_ENGINES\b/mu), 'files on PostgreSQL as well'],
  ] as const;
  const said = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  return said.length === 0 ? undefined : `Left to the night (npm run test:all): ${said.join(', ')}.`;
}
