import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './command.ts';
import type { CommandContext } from './context.ts';

/** Whether a person at a terminal can answer. */
export const canAsk = ({ stdin, stderr, json }: CommandContext): boolean =>
  stdin?.isTTY === true && stderr.isTTY === true && !json;

/** The answer to a yes-or-no question; undefined without a terminal. Anything but a yes is a no. */
export async function confirm(context: CommandContext, question: string): Promise<boolean | undefined> {
  const { stdin, stderr, signal } = context;
  if (stdin === undefined || !canAsk(context)) return undefined;
  const output = new Writable({
    write(chunk, _encoding, done) {
      stderr.write(String(chunk));
      done();
    },
  });
  const lines = createInterface({ input: stdin, output });
  const over = new AbortController();
  try {
    const closed = once(lines, 'close', { signal: over.signal }).then(() => '');
    closed.catch(() => {});
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), closed]);
    return /^(y|yes|j|ja)$/iu.test(answer.trim());
  } finally {
    over.abort();
    lines.close();
  }
}

/**
 * Asks for confirmation before a change of many records; `--yes` skips the question. Throws {@link UsageError} with
 * `advice` if there is no terminal.
 */
export async function confirmMany(
  context: CommandContext,
  yes: boolean,
  question: string,
  advice: string,
): Promise<boolean> {
  if (yes) return true;
  const answer = await confirm(context, question);
  if (answer !== undefined) return answer;
  throw new UsageError(`${question} cvrsync cannot ask here: add --yes, or ${advice}`);
}
