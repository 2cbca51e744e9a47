/** Reads a configuration file, YAML or JSON. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { decodeText } from '../protocol/text/text-form.ts';
import { type ConfigLoad, checkConfig } from './load.ts';
import { locateAll } from './locate.ts';
import { parseConfig } from './parse.ts';
import type { ConfigProblem } from './schema/fill.ts';
import type { Env } from './variables.ts';

export interface ConfigSource {
  /** `CVRSYNC_CONFIG` by default, then `cvrsync.yaml` in the working directory, then in `data`. */
  readonly file?: string | undefined;
  readonly env: Env;
}

const DEFAULT_FILE = 'cvrsync.yaml';
/** In a container the working directory is read-only, and this folder a volume. */
const DEFAULT_FILES = [DEFAULT_FILE, 'data/cvrsync.yaml'];

const defaultFile = (): string => DEFAULT_FILES.find((each) => existsSync(each)) ?? DEFAULT_FILE;

const givenFile = ({ file, env }: ConfigSource): string | undefined => file ?? (env['CVRSYNC_CONFIG'] || undefined);

export const namedFile = (source: ConfigSource): string => givenFile(source) ?? defaultFile();

/** Whether a configuration is named, or exists in a default place. */
export const isConfigured = (source: ConfigSource): boolean =>
  givenFile(source) !== undefined || existsSync(defaultFile());

/** The environment and the `.env` next to the configuration. Calls `failed` if that file is unreadable. */
export async function withEnvFile(source: ConfigSource, failed: (problem: ConfigProblem) => void): Promise<Env> {
  const file = resolve(dirname(namedFile(source)), '.env');
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
 * Reads and checks the configuration, and returns all problems at once. Imports the providers and opens nothing. Paths
 * of secrets and providers are relative to the file, the store's to the working directory.
 */
export async function loadConfig(source: ConfigSource): Promise<ConfigLoad> {
  const file = resolve(namedFile(source));
  const bytes = await readFile(file).catch((error: unknown) => unreadable(error));
  if (!(bytes instanceof Uint8Array)) return { ok: false, file, errors: [bytes] };
  const text = decodeText(bytes);
  if (text === undefined)
    return { ok: false, file, errors: [{ path: '', message: 'is not text: write YAML or JSON, in UTF-8' }] };
  const parsed = parseConfig(text);
  if (!parsed.ok) return { ok: false, file, errors: parsed.errors };
  const load = await checkConfig(parsed.value, file, source.env);
  return load.ok ? load : { ...load, errors: await locateAll(load.errors, parsed, dirname(file)) };
}

function unreadable(error: unknown): ConfigProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const advice = 'name another with --config, or write one with `cvrsync init`';
  const messages: Readonly<Record<string, string>> = {
    ENOENT: `there is no such file: ${advice}`,
    EISDIR: `is a folder: ${advice}`,
    EACCES: 'may not be read by the user that runs cvrsync: give that user the right to',
  };
  return { path: '', message: messages[code] ?? `cannot be read (${code})` };
}
