/** Replaces references to the environment in the configuration: `${NAME}`, `${NAME:-default}`, and secrets in files. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConfigProblem, UNSET } from './schema/fill.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Throws if it cannot read the file. */
export type ReadText = (path: string) => string;

const REFERENCE = /\$\$\{|\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}|\$\{/g;
/** A name after `$` at the end of a text, as in a shell: `$TOKEN`, `Bearer $TOKEN`. */
const BARE = /(?:^|\s)\$(?<name>[A-Za-z_]\w*)\s*$/;
const FILE_SUFFIX = '_FILE';

interface Sources {
  readonly env: Env;
  readonly read: ReadText;
}

export interface ReferenceProblems {
  /** Misspelled references. */
  readonly errors: ConfigProblem[];
  /** Variables that are not set, and files that cannot be read; {@link UNSET} replaces the value. */
  readonly missing: ConfigProblem[];
}

/**
 * Replaces the references in all texts of a parsed file, so that no value can change the file's structure. `$${` stands
 * for `${`. If NAME is not set, reads the file that NAME_FILE names. A key `secret_FILE` becomes `secret` with the
 * content of the file. Trims contents, and does not replace references in them.
 */
export function substitute(value: unknown, path: string, sources: Sources, problems: ReferenceProblems): unknown {
  if (typeof value === 'string') return substituteText(value, path, sources, problems);
  if (Array.isArray(value))
    return value.map((item: unknown, index) => substitute(item, `${path}.${index}`, sources, problems));
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value);
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const filled = substitute(item, at, sources, problems);
    const base = key.slice(0, -FILE_SUFFIX.length);
    if (!key.endsWith(FILE_SUFFIX) || base === '') return [key, filled];
    if (keys.includes(base))
      problems.errors.push({ path: at, message: `is given in addition to ${base}: use one of them` });
    if (typeof filled === 'string') return [base, readSecret(filled, at, sources, problems)];
    problems.errors.push({ path: at, message: 'should be the path of a file' });
    return [base, ''];
  });
  return Object.fromEntries(entries);
}

function substituteText(text: string, path: string, sources: Sources, problems: ReferenceProblems): string {
  const bare = BARE.exec(text)?.groups?.['name'];
  // Only an obvious reference: a password may also begin with $.
  if (bare !== undefined && (bare === bare.toUpperCase() || sources.env[bare] !== undefined)) {
    const message = `holds $${bare} without braces: write $\{${bare}} for the environment variable, or put the text itself into one`;
    problems.errors.push({ path, message });
    return UNSET;
  }
  return text.replaceAll(REFERENCE, (found, name: string | undefined, fallback: string | undefined) => {
    if (found === '$${') return '${';
    if (name === undefined) {
      problems.errors.push({ path, message: `holds \${ without a name and }; write $\${ for the text itself` });
      return found;
    }
    const value = sources.env[name];
    // As in a shell, a default also replaces an empty value.
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    const file = sources.env[name + FILE_SUFFIX];
    if (file !== undefined && file !== '') return readSecret(file, path, sources, problems);
    if (fallback === undefined)
      problems.missing.push({
        path,
        message: `the environment variable ${name} is not set (nor ${name}${FILE_SUFFIX})`,
      });
    return fallback ?? UNSET;
  });
}

function readSecret(file: string, path: string, { read }: Sources, problems: ReferenceProblems): string {
  try {
    return read(file).trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    problems.missing.push({ path, message: `cannot read the file ${file}${code}` });
    return UNSET;
  }
}

export const readerIn =
  (folder: string): ReadText =>
  (path) =>
    readFileSync(resolve(folder, path), 'utf8');
