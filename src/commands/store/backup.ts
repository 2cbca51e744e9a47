/** `backup`: copies the store and its key while the daemon runs. */
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { copyKey } from '../../service/keys/copy-key.ts';
import { checkCopy } from '../../store/recovery/restore.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, flag, needed } from '../cli/command.ts';

export const command = defineCommand({
  name: 'backup',
  examples: ['backup backups/cvrsync.db --verify'],
  audit: 'store.backup',
  about:
    'copy the store and its key file into new files, even while the daemon runs (SQLite; use pg_dump for PostgreSQL)',
  args: { file: needed('the file to write; it must not exist') },
  options: { verify: flag('read the finished copy, and delete it if it is damaged') },
  run: async (context, { file }, { verify }) => {
    const to = resolve(file);
    const { store: url, service } = await context.config([]);
    const keyFile = await withStore(context, async (store) => {
      const key = service?.secretKey === undefined && store.engine === 'sqlite' ? await copyKey(url, to) : undefined;
      try {
        await store.backup(to);
        if (verify) await verified(to);
      } catch (error) {
        if (key !== undefined) await rm(key);
        throw error;
      }
      return key;
    });
    const { size } = await stat(to);
    const wrote = `Wrote ${verify ? 'and verified ' : ''}${to} (${size} bytes)${keyFile === undefined ? '' : `, and ${keyFile}, which decrypts the secrets in the store: keep it as safe as a secret`}.`;
    const configured =
      service?.secretKey === undefined ? '' : ' Keep service.secretKey with it: it decrypts the secrets in the store.';
    context.output.result(
      { file: to, bytes: size, verified: verify, ...(keyFile !== undefined && { keyFile }) },
      `${wrote}${configured} To restore it, stop the daemon and run: cvrsync restore ${file}`,
    );
    return 0;
  },
});

/** Deletes the copy and throws if it is damaged. */
async function verified(copy: string): Promise<void> {
  try {
    checkCopy(copy, copy);
  } catch (error) {
    await rm(copy);
    throw error;
  }
}
