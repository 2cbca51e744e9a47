/** `backup`: a copy of the store while the daemon works on it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineCommand, needed } from './command.ts';
import { withStore } from './opened.ts';

export const command = defineCommand({
  name: 'backup',
  about: 'copy the store into a new file, also while the daemon runs (SQLite; use pg_dump for PostgreSQL)',
  args: { file: needed('the file to write; it must not exist') },
  run: async (context, { file }) => {
    const to = resolve(file);
    await withStore(context, (store) => store.backup(to));
    const { size } = await stat(to);
    context.output.result(
      { file: to, bytes: size },
      `Wrote ${to} (${size} bytes). To restore, stop the daemon and put it in the store's place.`,
    );
    return 0;
  },
});
