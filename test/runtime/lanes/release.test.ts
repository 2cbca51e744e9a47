/** A daemon that starts frees the lanes of dead daemons, and leaves those of living daemons and of commands. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { releaseDead } from '../../../src/runtime/lanes/release.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStoreUrl, opened } from '../../support/stores.ts';

const NOW = 1_785_000_000_000;
const HOUR = 3_600_000;

async function take(store: Store, key: string, now = NOW) {
  await store.write((tx) => mark(tx, 'q', [key], now));
  return claim(store, 'q', { limit: 1, now, leaseMs: HOUR, keys: [key] });
}

const keysOf = async (store: Store) => {
  const claims = await claim(store, 'q', { limit: 9, now: NOW, leaseMs: HOUR });
  return claims.map(({ key, unended }) => `${key} ${unended}`).sort();
};

describe.each(ENGINES)('the leases of a dead daemon on %s', (engine) => {
  it('end when the next one starts, and their claims count as never ended', async () => {
    const url = await newStoreUrl(engine);
    const dead = await openStore(url, { claim: true });
    await take(dead, 'a');
    await take(dead, 'of an hour later', NOW + HOUR);
    const command = await opened(url);
    await take(command, 'of a command');
    await dead.close();
    const next = await openStore(url, { claim: true });
    await take(next, 'mine');
    expect(await releaseDead(next, NOW)).toBe(2);
    expect(await keysOf(next)).toEqual(['a 1', 'of an hour later 1']);
    expect(await releaseDead(next, NOW)).toBe(0);
    await next.close();
  });
});

describe('daemons on one PostgreSQL', () => {
  it('keep their leases while they live, also after the server ended their connections', async () => {
    const url = await newStoreUrl('postgres');
    const [first, second] = [await openStore(url, { claim: true }), await opened(url)];
    await take(first, 'a');
    await second.claimDaemon();
    expect(await releaseDead(second, NOW)).toBe(0);
    expect((await second.livingDaemons()).toSorted()).toEqual([first.holder, second.holder].toSorted());

    // Of this database alone: other tests share the server.
    const ended = sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`;
    await ended.execute(second.db);
    await expect.poll(() => second.livingDaemons()).toEqual([]);
    for (const store of [first, second]) {
      await expect
        .poll(async () => {
          await store.claimDaemon();
          return store.livingDaemons();
        })
        .toContain(store.holder);
    }
    expect(await releaseDead(second, NOW)).toBe(0);
    await first.close();
    await expect.poll(() => second.livingDaemons()).toEqual([second.holder]);
    expect(await releaseDead(second, NOW)).toBe(1);
  });
});
