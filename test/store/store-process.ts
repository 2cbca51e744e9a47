/** A process of its own for tests: opens the store at the first argument, then does what the second one says. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/engines/open.ts';
import { migrateStore } from '../../src/store/migrations/migrations.ts';
import { ASIDE } from '../../src/store/store.ts';
import { addRemarks } from './next-version.ts';

const [, , url = '', what, count = '0'] = process.argv;
const store = await openStore(url);

if (what === 'daemon') {
  await store.claimDaemon();
  process.stdout.write('claimed\n');
  // Holds the store, as a daemon does: collected as garbage it would give its lock back.
  setInterval(() => store.engine, 1_000);
} else if (what === 'migrate-and-stay') {
  const stay = async () => {
    process.stdout.write('between\n');
    setInterval(() => store.engine, 1_000);
    await new Promise(() => {});
  };
  await migrateStore(store, [addRemarks, stay]);
} else if (what === 'write' || what === 'write-aside' || what === 'write-ephemeral' || what === 'write-and-stay') {
  for (let i = 0; i < Number(count); i++) {
    await store.write(
      (tx) =>
        tx
          .insertInto('kv')
          .values({ key: `${process.pid}-${i}`, value: 'v', updated_at: i })
          .execute(),
      what === 'write-ephemeral' ? { ephemeral: true } : what === 'write-aside' ? ASIDE : {},
    );
    // Leaves others a gap to write in.
    await sleep(1);
  }
  if (what === 'write-and-stay') {
    process.stdout.write('written\n');
    setInterval(() => store.engine, 1_000);
  } else await store.close();
}
