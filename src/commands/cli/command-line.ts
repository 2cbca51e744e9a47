/** Command lines that cvrsync prints for a person to run next. */
import type { CommandContext } from './context.ts';

/**
 * A command line with these options, as a shell takes it, on the configuration that this run was given. Options that are
 * undefined, null or false are left out.
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
    const flag = `--${name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`;
    return [value === true ? flag : `${flag} ${quoted(String(value))}`];
  });
  return ['cvrsync', words, ...given].join(' ');
}

/** A text as a shell takes it for one word. */
function quoted(text: string): string {
  if (/^[\w./\\:~@+-]+$/u.test(text)) return text;
  return /["$`]/u.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
