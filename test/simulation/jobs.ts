/** Simulates in several processes at once, each with seeds of its own: a world has a process to itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { lineOf, NOTHING, readSummary, sumOf } from './summary.ts';

interface Jobs {
  readonly count: number;
  readonly seed: number;
  /** How many worlds in all; as many as fit into the time if it is not said. */
  readonly worlds: number | undefined;
}

/** Runs this program again `count` times, and says what each says. The last line sums all up. */
export async function runJobs({ count, seed, worlds }: Jobs, say: (line: string) => void): Promise<void> {
  const [program = '', ...given] = process.argv.slice(1);
  const summaries = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const own = ['--jobs', '1', '--seed', String(seed + index), '--stride', String(count)];
      if (worlds !== undefined) own.push('--worlds', String(Math.ceil((worlds - index) / count)));
      const child = spawn(process.execPath, [program, ...given, ...own], { stdio: ['ignore', 'pipe', 'inherit'] });
      const exit = once(child, 'exit');
      let summary = NOTHING;
      for await (const line of createInterface({ input: child.stdout })) {
        const found = readSummary(line);
        if (found === undefined) say(line);
        else summary = found;
      }
      const [code] = await exit;
      if (code !== 0) process.exitCode = 1;
      return summary;
    }),
  );
  say(lineOf(summaries.reduce(sumOf)));
}
