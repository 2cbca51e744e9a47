/** Reads a configuration file, YAML or JSON. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isScalar, parseDocument, visit } from 'yaml';
import { errorText } from '../protocol/text/error-text.ts';
import { decodeText } from '../protocol/text/text-form.ts';
import { type ConfigLoad, checkConfig } from './load.ts';
import type { ConfigProblem } from './schema/fill.ts';
import type { Env } from './variables.ts';

export interface ConfigSource {
  /** Default: `CVRSYNC_CONFIG`, then `cvrsync.yaml` in the working directory. */
  readonly file?: string | undefined;
  readonly env: Env;
}

const DEFAULT_FILE = 'cvrsync.yaml';

const namedFile = ({ file, env }: ConfigSource): string | undefined => file ?? (env['CVRSYNC_CONFIG'] || undefined);

/** Whether a configuration is named, or exists in the working directory. */
export const isConfigured = (source: ConfigSource): boolean =>
  namedFile(source) !== undefined || existsSync(DEFAULT_FILE);

/** The environment and the `.env` next to the configuration. Calls `failed` if that file is unreadable. */
export async function withEnvFile(source: ConfigSource, failed: (problem: ConfigProblem) => void): Promise<Env> {
  const file = resolve(dirname(namedFile(source) ?? DEFAULT_FILE), '.env');
  try {
    return { ...parseEnv(await readFile(file, 'utf8')), ...source.env };
  } catch (error) {
    // A Python environment may be a folder of that name.
    const isNone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR');
    if (!isNone) failed({ ...unreadable(error), path: file });
    return source.env;
  }
}

/**
 * Reads and checks the configuration, and returns all problems at once. It imports the providers and opens nothing.
 * Paths of secrets and providers are relative to the file, the store's to the working directory.
 */
export async function loadConfig(source: ConfigSource): Promise<ConfigLoad> {
  const file = resolve(namedFile(source) ?? DEFAULT_FILE);
  const bytes = await readFile(file).catch((error: unknown) => unreadable(error));
  if (!(bytes instanceof Uint8Array)) return { ok: false, file, errors: [bytes] };
  const text = decodeText(bytes);
  if (text === undefined)
    return { ok: false, file, errors: [{ path: '', message: 'is not text: write YAML or JSON, in UTF-8' }] };
  const parsed = parseConfig(text);
  if (!parsed.ok) return { ok: false, file, errors: parsed.errors };
  return checkConfig(parsed.value, file, source.env);
}

function unreadable(error: unknown): ConfigProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const advice = 'name another with --config, or write one with `cvrsync config init`';
  const messages: Readonly<Record<string, string>> = {
    ENOENT: `there is no such file: ${advice}`,
    EISDIR: `is a folder: ${advice}`,
    EACCES: 'may not be read by the user that runs cvrsync: give that user the right to',
  };
  return { path: '', message: messages[code] ?? `cannot be read (${code})` };
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly ConfigProblem[] };

/** Whether a line has `${NAME}` without quotes in a one-line map: YAML takes its brace for another map. */
function isUnquoted(text: string, line = 0): boolean {
  const written = text.split('\n')[line - 1] ?? '';
  const before = written.slice(0, Math.max(0, written.search(/[\s:,]\$\{\w/u)));
  const map = before.lastIndexOf('{');
  return map >= 0 && !/["'$]/u.test(before.slice(map));
}

/**
 * Parses a configuration file. Codes such as `011100`, which YAML takes for numbers, stay texts, as does every key and
 * every number that prints differently from how it was written. Errors have line and column, never the line itself.
 */
export function parseConfig(text: string): Parsed {
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { merge: true, prettyErrors: true, logLevel: 'silent' });
  // Later errors are mostly consequences of the first.
  const errors = document.errors.slice(0, 1).map((error): ConfigProblem => {
    const at = error.linePos?.[0];
    const where = at === undefined ? '' : `line ${at.line}, column ${at.col}`;
    const [message = ''] = error.message.split(/ at line \d+|:?\n/, 1);
    const hint = isUnquoted(text, at?.line) ? `. Write "$\{NAME}" in quotes inside of { }` : '';
    return { path: where, message: `not valid YAML: ${message}${hint}` };
  });
  if (errors.length > 0) return { ok: false, errors };
  visit(document, {
    Scalar: (key, node) => {
      if (typeof node.value !== 'number' || node.source === undefined) return;
      if (key === 'key' || String(node.value) !== node.source) node.value = node.source;
    },
    Pair: (_key, pair) => {
      if (isScalar(pair.key) && typeof pair.key.value !== 'string')
        pair.key.value = String(pair.key.source ?? pair.key.value);
    },
  });
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { ok: false, errors: [{ path: '', message: errorText(error) }] };
  }
}
