/** A SQLite store whose files are moved, replaced or deleted while it is open, and what distinguishes a lost store from a first start. */
import { copyFileSync, existsSync, globSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/engines/open.ts';
import { LostStoreError } from '../../src/store/file/marker.ts';
import { StoreGoneError } from '../../src/store/file/place.ts';
import { ASIDE, type Store } from '../../src/store/store.ts';
import { storeErrorIn } from '../../src/store/store-error.ts';
import { emptyStoreUrl, newFolder, opened } from '../support/stores.ts';

const put = (store: Store, key: string) =>
  store.write((tx) => tx.insertInto('kv').values({ key, value: 'v', updated_at: 0 }).execute());

/** Its name does not begin as the store's does. */
const markerOf = (file: string): string => path.join(path.dirname(file), `.${path.basename(file)}.marker`);

const deleteAll = (file: string): void => {
  for (const each of globSync(`${file}*`)) rmSync(each);
};

describe('a write', () => {
  it.each<[string, (file: string) => void]>([
    ['its file is deleted', (file) => rmSync(file)],
    ['its journal is deleted', (file) => rmSync(`${file}-wal`)],
    ['the index of its journal is deleted', (file) => rmSync(`${file}-shm`)],
    ['all files are deleted', deleteAll],
    ['its file is moved', (file) => renameSync(file, `${file}.moved`)],
    [
      'a copy takes the place of its file',
      (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ],
  ])('fails with the error of the store once %s, as does a ping', async (_, lose) => {
    const url = await emptyStoreUrl('sqlite');
    const store = await opened(url);
    await put(store, 'before');
    await store.ping();
    lose(url);
    const failed = await put(store, 'after').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreGoneError);
    expect(storeErrorIn(failed)?.message).toContain(url);
    for (const options of [{ ephemeral: true }, ASIDE] as const)
      await expect(store.write(async () => {}, options)).rejects.toThrow('moved, replaced or deleted');
    await expect(store.ping()).rejects.toThrow('moved, replaced or deleted');
  });

  it('fails once a link leads to another file', async () => {
    const [url, other] = [await emptyStoreUrl('sqlite'), await emptyStoreUrl('sqlite')];
    const link = path.join(newFolder(), 'link.db');
    await (await openStore(url)).close();
    await (await openStore(other)).close();
    symlinkSync(url, link);
    const store = await opened(link);
    await put(store, 'before');
    rmSync(link);
    symlinkSync(other, link);
    await expect(put(store, 'after')).rejects.toThrow(StoreGoneError);
  });

  it('works again once the moved file is back', async () => {
    const url = await emptyStoreUrl('sqlite');
    const store = await opened(url);
    await put(store, 'before');
    renameSync(url, `${url}.moved`);
    await expect(put(store, 'meanwhile')).rejects.toThrow(StoreGoneError);
    renameSync(`${url}.moved`, url);
    await put(store, 'after');
    await store.ping();
  });
});

describe('a store that was created', () => {
  it.each<[string, (file: string) => void]>([
    ['deleted', deleteAll],
    ['moved', (file) => renameSync(file, `${file}.moved`)],
    ['emptied', (file) => truncateSync(file)],
    [
      'replaced by a database without tables',
      (file) => {
        deleteAll(file);
        const empty = new Database(file);
        empty.pragma('journal_mode = WAL');
        empty.close();
      },
    ],
  ])('and %s is not created again by itself', async (_, lose) => {
    const url = await emptyStoreUrl('sqlite');
    await (await openStore(url)).close();
    lose(url);
    const wasThere = existsSync(url);
    for (const options of [{}, { claim: true }, { migrate: 'new' }, { migrate: false }] as const)
      await expect(openStore(url, options)).rejects.toThrow(LostStoreError);
    expect(existsSync(url)).toBe(wasThere);
    await (await openStore(url, { startEmpty: true })).close();
    await (await openStore(url)).close();
  });

  it('is created again after its marker was deleted, and marked again', async () => {
    const url = await emptyStoreUrl('sqlite');
    await (await openStore(url)).close();
    deleteAll(url);
    rmSync(markerOf(url));
    await (await openStore(url)).close();
    expect(existsSync(markerOf(url))).toBe(true);
  });

  it('is marked by the first daemon of this version, behind a link too', async () => {
    const url = await emptyStoreUrl('sqlite');
    await (await openStore(url)).close();
    rmSync(markerOf(url));
    const link = path.join(newFolder(), 'link.db');
    symlinkSync(url, link);
    await (await openStore(link, { migrate: false })).close();
    expect(existsSync(markerOf(url))).toBe(false);
    await (await openStore(link, { claim: true })).close();
    expect(existsSync(markerOf(url))).toBe(true);
    deleteAll(url);
    await expect(openStore(link)).rejects.toThrow(LostStoreError);
  });
});
