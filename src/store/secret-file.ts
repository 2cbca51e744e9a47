/** Secrets in files next to the store, readable by their owner only. */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from './prepare-file.ts';

/** The text of a secret file; undefined if it does not exist. `what` names it in errors: "key file". */
export async function readSecretFile(file: string, what: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Error(
      `The ${what} ${file} cannot be read: give this user the right to read it, or restore it from the backup`,
      {
        cause: error,
      },
    );
  }
}

/**
 * The text of a secret file, created with mode 0600 if missing. If two processes create it, both get the first one's.
 */
export async function storeSecretFile(file: string, what: string, make: () => string): Promise<string> {
  const kept = await readSecretFile(file, what);
  if (kept !== undefined) return kept;
  await makeSecretFile(file, what, make());
  return readFile(file, 'utf8');
}

/**
 * Gives the file its name only when it is complete and on disk: data sealed with a key that a crash destroyed would be
 * lost.
 */
async function makeSecretFile(file: string, what: string, text: string): Promise<void> {
  makeFolder(path.dirname(path.resolve(file)));
  const partial = `${file}.${randomUUID()}`;
  try {
    const handle = await open(partial, 'wx', 0o600);
    try {
      await handle.writeFile(`${text}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(partial, file);
  } catch (error) {
    // Another process was first: use its secret.
    if (codeOf(error) !== 'EEXIST')
      throw new Error(`The ${what} ${file} cannot be created: give this user the right to write to its folder`, {
        cause: error,
      });
  } finally {
    await rm(partial, { force: true });
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
