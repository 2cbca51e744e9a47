/** `backup`: a copy of the store, and of its key, while the daemon works on it. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { keyFileOf } from '../service/keys/secrets.ts';
import { prepareBackup } from '../store/prepare-file.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, needed } from './cli/command.ts';

export const command = defineCommand({
  name: 'backup',
  audit: 'store.backup',
  about:
    'copy the store and its key file into new files, also while the daemon runs (SQLite; use pg_dump for PostgreSQL)',
  args: { file: needed('the file to write; it must not exist') },
  run: async (context, { file }) => {
    const to = resolve(file);
    const { store: url, service } = await context.config([]);
    const keyFile = await withStore(context, async (store) => {
      const key = service?.secretKey === undefined && store.engine === 'sqlite' ? await copyKey(url, to) : undefined;
      try {
        await store.backup(to);
      } catch (error) {
        if (key !== undefined) await rm(key);
        throw error;
      }
      return key;
    });
    const { size } = await stat(to);
    const wrote = `Wrote ${to} (${size} bytes)${keyFile === undefined ? '' : `, and ${keyFile}, which decrypts the secrets in the store: keep it as safe as a secret`}.`;
    const configured =
      service?.secretKey === undefined ? '' : ' Keep service.secretKey with it: it decrypts the secrets in the store.';
    context.output.result(
      { file: to, bytes: size, ...(keyFile !== undefined && { keyFile }) },
      `${wrote}${configured} To restore it, stop the daemon and run: cvrsync restore ${file}`,
    );
    return 0;
  },
});

/** For its owner only; never over a key that is there. Undefined where the store has none. */
async function copyKey(storeUrl: string, to: string): Promise<string | undefined> {
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
