/** A store is copied to another one: each row unchanged, on either engine, also after a process that copied was killed. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { PLACES } from '../../../src/commands/erase/places.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import { readValue, writeValue } from '../../../src/store/kv.ts';
import { closeBoth, openCopy, planCopy, reopenStore } from '../../../src/store/move/begin.ts';
import { type CopyDeps, checkRows, copyRows } from '../../../src/store/move/copy.ts';
import { readMark } from '../../../src/store/move/mark.ts';
import { commonTables, countTable } from '../../../src/store/move/rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { rowsWith } from '../../commands/whole-store.ts';
import { builtScript, ENVIRONMENT } from '../../support/program.ts';
import { type ENGINES, emptyStoreUrl, newStoreUrl, opened } from '../../support/stores.ts';
import { fillTables } from './fill-tables.ts';

const PROCESS = builtScript(path.join(import.meta.dirname, 'copy-process.ts'));
type Way = readonly [(typeof ENGINES)[number], (typeof ENGINES)[number]];
const WAYS: readonly Way[] = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
];
const nothing = async (): Promise<void> => {};

/** A store with rows in every table, and a place for its copy. */
async function filled(way: Way, rows = 7) {
  const [fromUrl, toUrl] = [await newStoreUrl(way[0]), await emptyStoreUrl(way[1])];
  await fillTables(await opened(fromUrl), rows);
  return { fromUrl, toUrl };
}

async function begun({ fromUrl, toUrl }: { readonly fromUrl: string; readonly toUrl: string }) {
  const from = await openStore(fromUrl, { migrate: false, mayBeMoved: true });
  const to = await openStore(toUrl, { migrate: 'new', mayBeMoved: true });
  const tables = await commonTables(from.db, to.db, Object.keys(PLACES).toSorted());
  const places = { from, to, fromUrl, toUrl, tables };
  const plan = await planCopy(places, 1);
  await closeBoth(places, plan, nothing, 1);
  return {
    places,
    plan,
    deps: { ...places, signal: new AbortController().signal, now: () => 1, report: () => {}, mostRows: 4 },
    async close() {
      await from.close();
      await to.close();
    },
  };
}

/** Copies all, as the command does. */
async function copied(urls: { readonly fromUrl: string; readonly toUrl: string }, more: Partial<CopyDeps> = {}) {
  const { places, plan, deps, close } = await begun(urls);
  try {
    await copyRows({ ...deps, ...more });
    const checked = await checkRows(deps);
    await openCopy(places, plan, nothing, 2);
    return checked;
  } finally {
    await close();
  }
}

const tableCount = Object.keys(PLACES).length;
/** In digits. */
async function timesOf({ db }: Store): Promise<readonly string[]> {
  const { rows } = await sql<{ at: string }>`select cast(at as text) as at from history`.execute(db);
  return rows.map(({ at }) => at);
}

/** Resolves once somebody waits for a lock of ours. */
const lockAwaited = ({ db }: Store): Promise<true> =>
  vi.waitUntil(
    async () => {
      const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(db);
      return rows.length > 0;
    },
    { timeout: 60_000 },
  );

describe.each(WAYS)('from %s to %s', (...way) => {
  it('copies every row of every table, whatever it holds, and the counters', { timeout: 60_000 }, async () => {
    const urls = await filled(way);
    const source = await opened(urls.fromUrl);
    // The last number given out belongs to no row any more.
    await source.write((tx) => sql`delete from arrival where seq = 7`.execute(tx));
    const before = await rowsWith(source, '');
    const checked = await copied(urls);
    expect(checked).toHaveLength(tableCount);
    const target = await opened(urls.toUrl);
    const after = await rowsWith(target, '');
    expect(after.length).toBe(checked.reduce((sum, { rows }) => sum + rows, 1));
    expect(after).toEqual(before);
    expect(await timesOf(target)).toContain('9223372036854775807');
    const arrival = { body: '{}', is_signed: 0, received_at: 1 };
    const next = await target.write((tx) => tx.insertInto('arrival').values(arrival).returning('seq').execute());
    expect(next).toEqual([{ seq: 8 }]);
  });

  it('resumes after its process was killed, at any page', { timeout: 60_000 }, async () => {
    const urls = await filled(way, 3);
    const before = await rowsWith(await opened(urls.fromUrl), '');
    for (const pages of [1, 40]) {
      const { signal, stderr } = spawnSync(process.execPath, [PROCESS, urls.fromUrl, urls.toUrl, String(pages)], {
        env: ENVIRONMENT,
      });
      expect([signal, String(stderr)]).toEqual(['SIGKILL', '']);
    }
    await expect(openStore(urls.toUrl)).rejects.toThrow(/is an incomplete copy of /u);
    await expect(openStore(urls.fromUrl)).rejects.toThrow(/is being copied to/u);
    let pages = 0;
    await copied(urls, {
      report() {
        pages += 1;
      },
    });
    expect(pages).toBeLessThan(2 * tableCount - 14);
    expect(await rowsWith(await opened(urls.toUrl), '')).toEqual(before);
  });

  it('names the row that differs: one changed, one missing, one too many', { timeout: 60_000 }, async () => {
    const urls = await filled(way, 4);
    const { deps, close } = await begun(urls);
    try {
      await copyRows(deps);
      const plant = (statement: string) => deps.to.write((tx) => sql.raw(statement).execute(tx));
      await plant(`update link set state = 'gone' where entity like '%smil%'`);
      await expect(checkRows(deps)).rejects.toThrow(/link \(provider .* smil1, record_id .*\) differs in it/u);
      await plant(`delete from link where entity like '%smil%'`);
      await expect(checkRows(deps)).rejects.toThrow(/it lacks link \(provider .* smil1/u);
      await deps.from.write((tx) => sql.raw(`delete from link where entity like '%smil%'`).execute(tx));
      await plant(`insert into match_key (key, entry, company) values (99, 98, 97)`);
      await expect(checkRows(deps)).rejects.toThrow('match_key (key 99, entry 98) is only in it');
    } finally {
      await close();
    }
  });

  it('is refused if the target holds an installation, or a part of another copy', async () => {
    const urls = await filled(way, 1);
    const other = await filled(way, 1);
    await expect(begun({ ...urls, toUrl: other.fromUrl })).rejects.toThrow('already holds an installation (the table');
    await (await begun(other)).close();
    await expect(begun({ ...urls, toUrl: other.toUrl })).rejects.toThrow(/is an incomplete copy of .*: name another/u);
    await expect(begun({ ...urls, toUrl: other.fromUrl })).rejects.toThrow('is a store that is itself being copied');
    expect(await readMark((await opened(urls.fromUrl)).db)).toBeUndefined();
  });

  it('leaves the store closed, until somebody opens it again', async () => {
    const urls = await filled(way, 1);
    await copied(urls);
    await expect(openStore(urls.fromUrl, { claim: true })).rejects.toThrow(
      /was copied to .*: name that one as `store`/u,
    );
    await expect(begun({ ...urls, toUrl: await emptyStoreUrl(way[1]) })).rejects.toThrow('was copied to');
    const store = await openStore(urls.fromUrl, { mayBeMoved: true });
    expect(await reopenStore(store, urls.fromUrl)).toMatchObject({ doneAt: 2 });
    await store.close();
    expect(
      await countTable(await opened(urls.fromUrl), { name: 'kv', columns: [], keys: [], integers: new Set() }),
    ).toBe(1);
  });

  it('opens only one of two copies of a store, and none of a store that was opened again meanwhile', async () => {
    const urls = await filled(way, 1);
    await (await begun(urls)).close();
    const second = { ...urls, toUrl: await emptyStoreUrl(way[1]) };
    await copied(second);
    await expect(begun(urls)).rejects.toThrow('was copied to');

    const other = await filled(way, 1);
    const { places, plan, deps, close } = await begun(other);
    await copyRows(deps);
    await reopenStore(places.from, other.fromUrl);
    await expect(openCopy(places, plan, nothing, 2)).rejects.toThrow('was reopened during the copy');
    await close();
    await expect(openStore(other.toUrl)).rejects.toThrow('is an incomplete copy');
  });

  it('includes what a command writes as it begins, and refuses what that writes later', async () => {
    const urls = await filled(way, 1);
    const command = await opened(urls.fromUrl);
    const [begins, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writes = command.write(async (tx) => {
      await writeValue(tx, 'early', '1', 1);
      begins.resolve();
      await ends.promise;
    });
    await begins.promise;
    const copies = copied(urls);
    if (way[0] === 'postgres') await Promise.race([copies, lockAwaited(command)]);
    ends.resolve();
    await writes;
    await copies;
    expect(await readValue((await opened(urls.toUrl)).db, 'early')).toBe('1');
    await expect(command.write((tx) => writeValue(tx, 'late', '1', 1))).rejects.toThrow('was copied to');
    expect(await readValue(command.db, 'late')).toBeUndefined();
  });

  it('finishes a copy that was complete when its process was killed', async () => {
    const urls = await filled(way, 1);
    const { places, plan, deps, close } = await begun(urls);
    await copyRows(deps);
    const killed = async (): Promise<void> => {
      throw new Error('killed');
    };
    await expect(openCopy(places, plan, killed, 2)).rejects.toThrow('killed');
    await close();
    await expect(openStore(urls.fromUrl)).rejects.toThrow('was copied to');
    await expect(openStore(urls.toUrl)).rejects.toThrow('is an incomplete copy');
    expect(await copied(urls)).toHaveLength(tableCount);
    expect((await opened(urls.toUrl)).engine).toBe(way[1]);
  });
});

it('a copy stops at a text that PostgreSQL cannot store, and names its row', async () => {
  const urls = { fromUrl: await newStoreUrl('sqlite'), toUrl: await emptyStoreUrl('postgres') };
  const store = new Database(urls.fromUrl);
  store.prepare(`insert into kv (key, value, updated_at) values ('planted', ?, 1)`).run('a\0b');
  store.close();
  await expect(copied(urls)).rejects.toThrow('kv (key planted) holds a NUL character');
});

it('a copy is refused while a daemon runs on the store, and leaves no mark', async () => {
  const urls = await filled(['postgres', 'sqlite'], 1);
  const daemon = await openStore(urls.fromUrl, { claim: true });
  await expect(begun(urls)).rejects.toThrow(/^a daemon runs on postgres:.*: stop them all/u);
  await daemon.close();
  await copied(urls);
});
