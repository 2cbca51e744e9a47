import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/engines/open.ts';
import { ENGINES, emptyStoreUrl, newStore, opened } from '../../support/stores.ts';

const keep = (key: string) => ({ key, value: 'v', updated_at: 1_785_000_000_000 });

describe.each(ENGINES)('a store on %s', (engine) => {
  it('keeps what was written over a close and a reopen', async () => {
    const url = await emptyStoreUrl(engine);
    const store = await openStore(url);
    await store.write((tx) => tx.insertInto('kv').values(keep('a')).execute());
    await store.close();
    const again = await opened(url);
    expect(await again.db.selectFrom('kv').selectAll().execute()).toEqual([keep('a')]);
  });

  it('writes all of a transaction or nothing, and throws what stopped it', async () => {
    const store = await newStore(engine);
    const failed = store.write(async (tx) => {
      await tx.insertInto('kv').values(keep('a')).execute();
      throw new Error('stopped');
    });
    await expect(failed).rejects.toThrow('stopped');
    expect(await store.db.selectFrom('kv').selectAll().execute()).toEqual([]);
  });

  it('can be read inside a write, and shows only what is committed', async () => {
    const store = await newStore(engine);
    const seen = await store.write(async (tx) => {
      await tx.insertInto('kv').values(keep('a')).execute();
      return store.db.selectFrom('kv').selectAll().execute();
    });
    expect(seen).toEqual([]);
  });

  it('returns 64-bit integers as numbers and counts up from one', async () => {
    const store = await newStore(engine);
    const row = { dedupe_key: 'd', entity: 'CVR-1-1', timestamp: 't', body: null, received_at: 2 ** 47 };
    const { seq } = await store.write((tx) =>
      tx.insertInto('receipt').values(row).returning('seq').executeTakeFirstOrThrow(),
    );
    expect(seq).toBe(1);
    expect(await store.db.selectFrom('receipt').select('received_at').executeTakeFirst()).toEqual({
      received_at: 2 ** 47,
    });
  });

  it('orders text byte by byte', async () => {
    const store = await newStore(engine);
    await store.write((tx) => tx.insertInto('kv').values(['b', 'a-1', 'B', 'a1', 'å'].map(keep)).execute());
    const rows = await store.db.selectFrom('kv').select('key').orderBy('key').execute();
    expect(rows.map(({ key }) => key)).toEqual(['B', 'a-1', 'a1', 'b', 'å']);
  });

  it('is migrated once if many open it at the same time', async () => {
    const url = await emptyStoreUrl(engine);
    const stores = await Promise.all([1, 2, 3, 4].map(() => opened(url)));
    await Promise.all(stores.map((store) => store.ping()));
  });

  it('is refused when a newer version wrote it', async () => {
    const url = await emptyStoreUrl(engine);
    const store = await openStore(url);
    await store.write((tx) => sql`update schema_version set version = 999`.execute(tx));
    await store.close();
    await expect(openStore(url)).rejects.toThrow(/schema version 999, written by a newer cvrsync/);
    await expect(openStore(url, { migrate: false })).rejects.toThrow(/newer cvrsync/);
  });

  it('is refused, not changed, when it is behind and must not be migrated', async () => {
    const url = await emptyStoreUrl(engine);
    await expect(openStore(url, { migrate: false })).rejects.toThrow(/run cvrsync migrate/);
    await expect(openStore(url, { migrate: false })).rejects.toThrow(/schema version 0/);
  });

  it('reports that it is down', async () => {
    const store = await newStore(engine);
    await store.close();
    await expect(store.ping()).rejects.toThrow();
    await store.close();
  });
});

describe('a store on PostgreSQL', () => {
  it('keeps the password out of its errors', async () => {
    const failed = openStore('postgres://someone:hunter2@127.0.0.1:1/nowhere');
    await expect(failed).rejects.toThrow(/ECONNREFUSED/);
    await expect(failed).rejects.not.toThrow(/hunter2/);
  });

  it('commits to disk even if the server is configured not to wait', async () => {
    const url = new URL(await emptyStoreUrl('postgres'));
    const first = await openStore(url.href);
    await first.write((tx) =>
      sql.raw(`alter database ${url.pathname.slice(1)} set synchronous_commit = off`).execute(tx),
    );
    await first.close();
    const store = await opened(url.href);
    const level = await store.write((tx) => sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(tx));
    expect(level.rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  it('survives the loss of its connections, in use and idle', async () => {
    const store = await newStore('postgres');
    const kill = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    const cut = store.write(async (tx) => {
      await kill.execute(store.db);
      await tx.insertInto('kv').values(keep('a')).execute();
    });
    await expect(cut).rejects.toThrow();
    await store.write((tx) => tx.insertInto('kv').values(keep('b')).execute());
    expect(await store.db.selectFrom('kv').select('key').execute()).toEqual([{ key: 'b' }]);
  });

  it('is backed up with its own tool', async () => {
    const store = await newStore('postgres');
    await expect(store.backup('backup.db')).rejects.toThrow(/pg_dump/);
  });
});
