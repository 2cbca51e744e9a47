/** Secrets that somebody types in the set-up: each goes into a file beside the configuration, which names it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { readSecretFile } from '../store/secret-file.ts';
import { putAt, type Settings, type TypedSecret, withSuffix } from './questions.ts';

/** Beside the configuration. */
const FOLDER = 'secrets';

/** Writes the secrets of a section into files of mode 0600, and names them in its settings. `folder`: that of the configuration. */
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

/** Writes one secret in place of the one before; the path of its file as the configuration names it. */
async function keepSecret(folder: string, name: string, value: string): Promise<string> {
  const file = pathOf(name);
  const whole = path.join(folder, file);
  await mkdir(path.dirname(whole), { recursive: true, mode: 0o700 });
  await chmod(path.dirname(whole), 0o700);
  await writeWhole(whole, `${value}\n`, 0o600);
  return file;
}

/** The secret of this name, made where there is none yet; the path of its file as the configuration names it. */
async function makeSecret(folder: string, name: string, make: () => string): Promise<string> {
  const kept = await readSecretFile(path.join(folder, pathOf(name)), 'file');
  return kept === undefined ? keepSecret(folder, name, make()) : pathOf(name);
}

/** What the configuration calls the file of the webhook's secret. */
export const WEBHOOK_SECRET = 'secrets/webhook';
const SECRET_BYTES = 24;

/** The secret that the monitoring service sends with each event, made at its first use; the path of its file. */
export const makeWebhookSecret = (folder: string): Promise<string> =>
  makeSecret(folder, path.basename(WEBHOOK_SECRET), () => randomBytes(SECRET_BYTES).toString('hex'));

const pathOf = (name: string): string => `${FOLDER}/${name.replaceAll(/[^A-Za-z0-9_-]+/gu, '-')}`;

/** Writes a file that is whole under its name, whatever happens meanwhile. */
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

/** The system's code of a failure, as `EACCES`. */
export const codeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'EIO';
};
