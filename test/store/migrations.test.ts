import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/engines/open.ts';
import { migrateStore } from '../../src/store/migrations/migrations.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, newStore, newStoreUrl, opened } from '../support/stores.ts';
import { addRemarks } from './next-version.ts';

const PROCESS = path.join(import.meta.dirname, 'store-process.ts');

const versionOf = async ({ db }: Store) =>
  (await sql<{ version: number }>`select version from schema_version`.execute(db)).rows;
const remarksIn = async ({ db }: Store) =>
  (await sql<{ remark: string }>`select record_id, "remark" from link order by record_id`.execute(db)).rows;
const addLinks = (store: Store) =>
  store.write((tx) =>
    sql`insert into link (provider, record_id, entity, state, desired, observed, created_at, updated_at) values
      ('crm', '1', 'CVR-1-95012353', 'active', 'on', 'on', 1, 1), ('crm', '2', 'CVR-1-95012353', 'gone', 'off', 'off', 1, 1)`.execute(
      tx,
    ),
  );
const REMARKED = [
  { record_id: '1', remark: 'crm' },
  { record_id: '2', remark: 'crm' },
];

describe.each(ENGINES)('a store of the first version on %s', (engine) => {
  it('is migrated with its rows, once even if many open it at the same time', async () => {
    const url = await newStoreUrl(engine);
    const store = await opened(url);
    const others = [await opened(url), await opened(url)];
    await addLinks(store);
    await Promise.all([store, ...others].map((each) => migrateStore(each, [addRemarks])));
    expect(await versionOf(store)).toEqual([{ version: 2 }]);
    expect(await remarksIn(store)).toEqual(REMARKED);
    await expect(openStore(url)).rejects.toThrow(/schema version 2, written by a newer cvrsync; this one knows 1/);
    await expect(openStore(url, { migrate: false })).rejects.toThrow(/run the newer version, or restore a backup/);
  });

  it('stays as it was if the migration fails, and tries again', async () => {
    const store = await newStore(engine);
    await addLinks(store);
    const stopped = migrateStore(store, [addRemarks, () => Promise.reject(new Error('stopped'))]);
    await expect(stopped).rejects.toThrow('stopped');
    expect(await versionOf(store)).toEqual([{ version: 1 }]);
    await expect(remarksIn(store)).rejects.toThrow(/remark/);
    await migrateStore(store, [addRemarks]);
    expect(await remarksIn(store)).toEqual(REMARKED);
  });

  it('stays as it was if the process is killed in between', async () => {
    const url = await newStoreUrl(engine);
    const store = await openStore(url);
    await addLinks(store);
    await store.close();
    const child = spawn(process.execPath, [PROCESS, url, 'migrate-and-stay'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const after = await opened(url);
    expect(await versionOf(after)).toEqual([{ version: 1 }]);
    await migrateStore(after, [addRemarks]);
    expect(await versionOf(after)).toEqual([{ version: 2 }]);
    expect(await remarksIn(after)).toEqual(REMARKED);
  });
});
