/** Files that hold customers' data are made for their owner only. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, opened } from '../support/stores.ts';

it('the store, its journal, its lock and backups are made with mode 0600, whatever the umask', async () => {
  const folder = newFolder();
  const before = process.umask(0);
  try {
    const store = await opened(join(folder, 'store.db'));
    await store.claimDaemon();
    await store.write(async (tx) => {
      await tx.insertInto('kv').values({ key: 'k', value: 'v', updated_at: 1 }).execute();
    });
    await store.backup(join(folder, 'backup.db'));
    const modes = Object.fromEntries(
      readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
    );
    expect(modes).toMatchObject({
      'store.db': '600',
      'store.db-wal': '600',
      'store.db.lock': '600',
      'backup.db': '600',
    });
    expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
  } finally {
    process.umask(before);
  }
});
