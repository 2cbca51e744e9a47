/** Runs the program in this process and keeps what it printed. */
import { PassThrough } from 'node:stream';
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

/** Runs one command line with a person at the terminal, who types this. */
export function askCli(typed: string, argv: readonly string[]): Promise<{ code: ExitCode; shown: string }> {
  const asking = askingCli(argv);
  asking.type(typed);
  return asking.ended;
}

/** Runs one command line with a person at the terminal, who sees what it shows and then types. */
export function askingCli(argv: readonly string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  let shown = '';
  const write = (text: string): void => {
    shown += text;
  };
  const sink = { isTTY: true, write };
  const stop = new AbortController();
  const ran = main(argv, { stdin, stdout: sink, stderr: sink, env: {}, signal: stop.signal });
  return {
    type: (text: string): void => void stdin.write(text),
    shown: (): string => shown,
    /** As Ctrl-C does. */
    stop: (): void => stop.abort(new Error('stopped by SIGINT')),
    ended: ran.then((code) => ({ code, shown })),
  };
}
