import { flagOf } from './command.ts';
import type { CommandContext } from './context.ts';

/**
 * A command line for a person to run next, quoted for a shell, with these options and the configuration of this run.
 * Omits options that are undefined, null or false.
 */
export function commandLine(
  { configFile }: Pick<CommandContext, 'configFile'>,
  words: string,
  options: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
): string {
  const given = Object.entries<string | number | boolean | null | undefined>({
    ...options,
    config: configFile,
  }).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === false) return [];
    const flag = flagOf(name);
    return [value === true ? flag : `${flag} ${quoted(String(value))}`];
  });
  return ['cvrsync', words, ...given].join(' ');
}

function quoted(text: string): string {
  if (/^[\w./\\:~@+-]+$/u.test(text)) return text;
  return /["$`]/u.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
