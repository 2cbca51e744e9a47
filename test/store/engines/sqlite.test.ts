import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../../src/store/engines/open.ts';
import { ASIDE, type Store } from '../../../src/store/store.ts';
import { builtScript, ENVIRONMENT } from '../../support/program.ts';
import { emptyStoreUrl, makeOlder, newFolder, newStore, newStoreUrl, opened } from '../../support/stores.ts';
import { canCountSyncs, countSyncs } from '../../support/syncs.ts';

const PROCESS = builtScript(path.join(import.meta.dirname, '../store-process.ts'));

const put = (store: Store, key: string, value = 'v') =>
  store.write((tx) => tx.insertInto('kv').values({ key, value, updated_at: 0 }).execute());

const level = (store: Store) =>
  store.write(async (tx) => (await sql<{ synchronous: number }>`pragma synchronous`.execute(tx)).rows[0]?.synchronous);

function fixture(...args: string[]) {
  const child = spawn(process.execPath, [PROCESS, ...args], { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function linked(to: string): string {
  const name = path.join(newFolder(), 'linked');
  symlinkSync(to, name);
  return name;
}

function withoutLockFile(file: string, aside?: string): string {
  if (aside === undefined) rmSync(`${file}.lock`);
  else renameSync(`${file}.lock`, aside);
  return file;
}

describe('a store in a SQLite file', () => {
  it('waits for the disk: after the first write, and after every reopen', async () => {
    const url = await emptyStoreUrl('sqlite');
    const first = await openStore(url);
    await put(first, 'a');
    expect(await level(first)).toBe(2);
    await first.close();
    const again = await opened(url);
    expect(await level(again)).toBe(2);
    await put(again, 'b');
    expect(await level(again)).toBe(2);
  });

  it.skipIf(!canCountSyncs)('syncs the disk at least once for every write', async () => {
    const url = await emptyStoreUrl('sqlite');
    const log = path.join(newFolder(), 'syncs');
    const none = await countSyncs(log, [PROCESS, url, 'write', '0']);
    // The first run also made the tables; the others did nothing but the fifty writes.
    expect(none.syncs).toBeGreaterThan(0);
    for (const how of ['write', 'write-aside']) {
      const many = await countSyncs(log, [PROCESS, url, how, '50']);
      expect(many.syncs).toBeGreaterThanOrEqual(50);
    }
  });

  it.skipIf(!canCountSyncs)(
    'does not wait for the disk if a write is useless after a restart of the machine',
    async () => {
      const url = await emptyStoreUrl('sqlite');
      const log = path.join(newFolder(), 'syncs');
      const none = await countSyncs(log, [PROCESS, url, 'write', '0']);
      const many = await countSyncs(log, [PROCESS, url, 'write-ephemeral', '50']);
      expect(many.syncs).toBeLessThanOrEqual(none.syncs);
      const store = await opened(url);
      expect(await store.db.selectFrom('kv').select('key').where('value', '=', 'v').execute()).toHaveLength(50);
    },
  );

  it('keeps what was written before, wherever a power cut ends the log', async () => {
    const url = await emptyStoreUrl('sqlite');
    const store = await opened(url);
    const logBytes = () => statSync(`${url}-wal`).size;
    const ends = [];
    for (const [key, options] of [
      ['first', {}],
      ['ephemeral', { ephemeral: true }],
      ['aside', ASIDE],
      ['last', {}],
    ] as const) {
      await store.write((tx) => tx.insertInto('kv').values({ key, value: 'power', updated_at: 0 }).execute(), options);
      ends.push({ key, bytes: logBytes() });
    }
    const sizes = ends.map(({ bytes }) => bytes);
    // A page of the log is 4,120 bytes: some cuts are between two, most within one.
    for (let bytes = Math.min(...sizes); bytes <= Math.max(...sizes); bytes += 515) {
      const image = path.join(newFolder(), 'store.db');
      copyFileSync(url, image);
      copyFileSync(`${url}-wal`, `${image}-wal`);
      truncateSync(`${image}-wal`, bytes);
      const found = await opened(image);
      const rows = await found.db.selectFrom('kv').select('key').where('value', '=', 'power').execute();
      const whole = ends.filter((end) => end.bytes <= bytes).map(({ key }) => key);
      expect(rows.map(({ key }) => key).toSorted()).toEqual(whole.toSorted());
      await found.close();
    }
  });

  it('waits for the disk again after such a write, and after one that failed', async () => {
    const store = await newStore('sqlite');
    await store.write(async () => {}, { ephemeral: true });
    expect(await level(store)).toBe(2);
    const failing = store.write(() => Promise.reject(new Error('not now')), { ephemeral: true });
    await expect(failing).rejects.toThrow('not now');
    expect(await level(store)).toBe(2);
  });

  it('creates the folders it needs', async () => {
    const url = path.join(newFolder(), 'a/b/store.db');
    await opened(url);
    expect(existsSync(url)).toBe(true);
  });

  it('cannot be written through the connection for reads', async () => {
    const store = await newStore('sqlite');
    await expect(store.db.deleteFrom('kv').execute()).rejects.toThrow(/readonly/);
  });

  it('admits one daemon, and the next as soon as that one is killed', async () => {
    const url = await emptyStoreUrl('sqlite');
    const child = fixture(url, 'daemon');
    await once(child.stdout, 'data');
    const store = await opened(url);
    await expect(store.claimDaemon()).rejects.toThrow(`Another cvrsync daemon is running on ${url}`);
    await put(store, 'a command beside the daemon may write');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await store.claimDaemon();
    await store.claimDaemon();
  });

  it.each<[string, (file: string) => string]>([
    ['through a symbolic link', (file) => linked(file)],
    ['through a link to its folder', (file) => path.join(linked(path.dirname(file)), path.basename(file))],
    ['through a link to a link', (file) => linked(linked(file))],
    ['after its lock file was deleted', (file) => withoutLockFile(file)],
    ['after its lock file was replaced', (file) => withoutLockFile(file, `${file}.old`)],
    ['through a link, without the lock file', (file) => linked(withoutLockFile(file))],
  ])('admits no second daemon %s', async (_, other) => {
    const url = await emptyStoreUrl('sqlite');
    const child = fixture(url, 'daemon');
    await once(child.stdout, 'data');
    const name = other(url);
    await expect(openStore(name, { claim: true })).rejects.toThrow(`Another cvrsync daemon is running on ${name}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await openStore(name, { claim: true })).close();
  });

  it.each(['daemon', 'write'])('refuses a file of two names to a %s', async (what) => {
    const url = await emptyStoreUrl('sqlite');
    const child = fixture(url, 'daemon');
    await once(child.stdout, 'data');
    const name = path.join(newFolder(), 'other.db');
    linkSync(url, name);
    const { status, stderr } = spawnSync(process.execPath, [PROCESS, name, what, '1'], { env: ENVIRONMENT });
    expect(status).toBe(1);
    expect(String(stderr)).toContain(`${name} has 2 names (hard links)`);
    expect(String(stderr)).toContain(`find / -xdev -samefile ${name}`);
    expect(existsSync(`${name}-wal`)).toBe(false);
    rmSync(name);
    await opened(url);
  });

  it('is not migrated by a daemon that it refuses', async () => {
    const url = await newStoreUrl('sqlite');
    const store = await opened(url);
    await makeOlder(store);
    await store.claimDaemon();
    await expect(openStore(url, { claim: true })).rejects.toThrow('Another cvrsync daemon is running');
    await expect(openStore(url, { migrate: false })).rejects.toThrow(/run cvrsync migrate/);
  });

  it('waits for another writing process without blocking its own thread', async () => {
    const url = await emptyStoreUrl('sqlite');
    const store = await opened(url);
    const other = new Database(url);
    onTestFinished(() => void other.close());
    other.exec('begin immediate');
    let turns = 0;
    const ticking = setInterval(() => turns++, 5);
    const writing = put(store, 'a');
    while (turns < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    other.exec('commit');
    clearInterval(ticking);
    await writing;
  });

  it('reports a full disk as an error, keeps what it had, and continues when there is room', async () => {
    const store = await newStore('sqlite');
    await put(store, 'before');
    await store.write((tx) => sql`pragma max_page_count = 40`.execute(tx));
    const big = 'x'.repeat(500_000);
    await expect(put(store, 'big', big)).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    expect(await store.db.selectFrom('kv').select('key').execute()).toEqual([{ key: 'before' }]);
    await store.write((tx) => sql`pragma max_page_count = 100000`.execute(tx));
    await put(store, 'big', big);
  });

  it('reports how much disk is left', async () => {
    const store = await newStore('sqlite');
    expect(await store.freeBytes()).toBeGreaterThan(0);
  });

  it('moves its log into the file, even during a write, and reports the size of the log', async () => {
    const store = await newStore('sqlite');
    await store.write(async (tx) => {
      await tx.insertInto('kv').values({ key: 'a', value: 'v', updated_at: 0 }).execute();
      await store.checkpoint();
    });
    expect(await store.walBytes()).toBeGreaterThan(0);
  });

  it('refuses a file that is something else, or damaged, by its name', async () => {
    const folder = newFolder();
    const text = path.join(folder, 'notes.txt');
    writeFileSync(text, 'not a database, but long enough to look at'.repeat(100));
    await expect(openStore(text)).rejects.toThrow(`${text} is not a SQLite database`);

    const url = path.join(folder, 'store.db');
    const store = await openStore(url);
    for (let i = 0; i < 200; i++) await put(store, `key ${i}`, 'x'.repeat(500));
    await store.close();
    const bytes = new Uint8Array(8_192).fill(0x5a);
    const file = openSync(url, 'r+');
    writeSync(file, bytes, 0, bytes.length, 40_960);
    closeSync(file);
    await expect(openStore(url)).rejects.toThrow(`${url} is damaged`);
  });
});

describe('a backup', () => {
  it('is whole while this and another process write', async () => {
    const url = await emptyStoreUrl('sqlite');
    const store = await opened(url);
    await store.write(async (tx) => {
      for (let i = 0; i < 3_000; i++) {
        await tx
          .insertInto('kv')
          .values({ key: `before ${i}`, value: 'x'.repeat(2_000), updated_at: 0 })
          .execute();
      }
    });
    const child = fixture(url, 'write', '100000');
    while ((await count(store)) < 3_050) await new Promise((resolve) => setTimeout(resolve, 5));
    const folder = newFolder();
    const to = path.join(folder, 'backups/store.db');
    let finished = false;
    const backing = store.backup(to).finally(() => {
      finished = true;
    });
    let mine = 0;
    while (!finished) {
      await put(store, `mine ${mine++}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await backing;
    child.kill('SIGKILL');
    expect(readdirSync(path.dirname(to))).toEqual(['store.db']);
    const copy = new Database(to);
    onTestFinished(() => void copy.close());
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
    const restored = await opened(to);
    expect(await count(restored, 'before %')).toBe(3_000);
    expect(await count(restored)).toBeGreaterThanOrEqual(3_050);
    // One state, not the newest: following every write of the other process, the copy would never end.
    expect(await count(restored)).toBeLessThan(await count(store));
  });

  it('never replaces a file', async () => {
    const url = await emptyStoreUrl('sqlite');
    const store = await opened(url);
    await expect(store.backup(url)).rejects.toThrow(/exists already/);
  });
});

async function count(store: Store, like = '%'): Promise<number> {
  const row = await store.db
    .selectFrom('kv')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .where('key', 'like', like)
    .executeTakeFirstOrThrow();
  return row.rows;
}
