import type { LocatedProblem } from '../../config/locate.ts';
import { causesOf, errorText } from '../../protocol/text/error-text.ts';
import { type ExitCode, UsageError } from './command.ts';
import { ConfigError, type GlobalOptions } from './context.ts';

/**
 * Shows on stderr why a command failed, as lines or with `--json` as one document, and returns the exit code. Shows the
 * stack only at log level debug.
 */
export function showFailure(
  error: unknown,
  stderr: { write(text: string): unknown },
  options: Pick<GlobalOptions, 'json' | 'logLevel'>,
): ExitCode {
  const message = errorText(error);
  const reasons = causesOf(error);
  const isDebug = options.logLevel === 'debug' || options.logLevel === 'trace';
  const problems = error instanceof ConfigError ? error.problems : undefined;
  const lines = options.json
    ? [JSON.stringify({ errorMessage: message, reasons, errors: problems })]
    : [
        `cvrsync: ${message}`,
        ...(problems ?? []).flatMap(problemLines),
        ...reasons.map((reason) => `  because: ${reason}`),
      ];
  for (const line of lines) stderr.write(`${line}\n`);
  if (isDebug && error instanceof Error) stderr.write(`${error.stack ?? ''}\n`);
  return error instanceof ConfigError || error instanceof UsageError ? 2 : 1;
}

/** One problem of the configuration: where, what, and the line of the file. */
export function problemLines({ path, message, line, column, excerpt }: LocatedProblem): readonly string[] {
  const where = line === undefined ? '' : `line ${line}, column ${column}: `;
  const shown = excerpt?.split('\n').map((each) => `    ${each}`) ?? [];
  return [`  ${where}${path === '' ? '' : `${path} `}${message}`, ...shown];
}
