import { readFile, writeFile } from 'node:fs/promises';
import { prepareBackup } from '../../store/prepare-file.ts';
import { keyFileOf } from './secrets.ts';

/**
 * Copies the key file of a SQLite store next to a copy of the store. Only the owner can read it. Never replaces a
 * file. Undefined if the store has no key file.
 */
export async function copyKey(storeUrl: string, to: string): Promise<string | undefined> {
  const from = await keyFileOf(storeUrl);
  if (from === undefined) return undefined;
  const copy = `${to}.key`;
  prepareBackup(to);
  try {
    await writeFile(copy, await readFile(from), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Error(`${copy} exists already: name another file`, { cause: error });
    throw error;
  }
  return copy;
}
