/** Runs the program in this process and keeps what it printed. */
import type { ExitCode } from '../../src/commands/cli/command.ts';
import { main } from '../../src/main.ts';

export interface Ran {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line with an environment of its own. */
export async function runCli(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const world = { stdout: sink('stdout'), stderr: sink('stderr'), env, signal: new AbortController().signal };
  const code = await main(argv, world);
  return { code, ...printed };
}
