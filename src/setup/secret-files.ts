/** Stores typed secrets: each goes into a file next to the configuration, which names it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { readSecretFile } from '../store/secret-file.ts';
import { putAt, type Settings, type TypedSecret, withSuffix } from './questions.ts';

const FOLDER = 'secrets';

/**
 * Writes the secrets of a section into files of mode 0600 in the configuration's folder, and names them in its settings.
 */
export async function keepSecrets(
  folder: string,
  section: string,
  { settings, secrets }: { readonly settings: Settings; readonly secrets: readonly TypedSecret[] },
): Promise<Settings> {
  const named: Record<string, unknown> = structuredClone({ ...settings });
  for (const secret of secrets)
    putAt(named, withSuffix(secret.path), await keepSecret(folder, [section, ...secret.path].join('-'), secret.value));
  return named;
}

/** Writes or replaces a secret. Returns the path of its file for the configuration. */
async function keepSecret(folder: string, name: string, value: string): Promise<string> {
  const file = pathOf(name);
  const whole = path.join(folder, file);
  await mkdir(path.dirname(whole), { recursive: true, mode: 0o700 });
  await chmod(path.dirname(whole), 0o700);
  await writeWhole(whole, `${value}\n`, 0o600);
  return file;
}

/** Creates the secret if it does not exist. Returns the path of its file for the configuration. */
async function makeSecret(folder: string, name: string, make: () => string): Promise<string> {
  const kept = await readSecretFile(path.join(folder, pathOf(name)), 'file');
  return kept === undefined ? keepSecret(folder, name, make()) : pathOf(name);
}

/** The path of the webhook's secret in the configuration. */
export const WEBHOOK_SECRET = 'secrets/webhook';
const SECRET_BYTES = 24;

/** Creates the secret that the monitoring service sends with each event. Returns the path of its file. */
export const makeWebhookSecret = (folder: string): Promise<string> =>
  makeSecret(folder, path.basename(WEBHOOK_SECRET), () => randomBytes(SECRET_BYTES).toString('hex'));

const pathOf = (name: string): string => `${FOLDER}/${name.replaceAll(/[^A-Za-z0-9_-]+/gu, '-')}`;

/** Writes a file atomically. */
export async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  const partial = `${file}.${randomUUID()}`;
  try {
    const handle = await open(partial, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/** The system's error code, such as `EACCES`. */
export const codeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'EIO';
};
