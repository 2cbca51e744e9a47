/** Stores for the suites that every engine must pass. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { Migration } from '../../src/store/migrations/dialect.ts';
import { migrateStore } from '../../src/store/migrations/migrations.ts';
import { openStore, type Store } from '../../src/store/open.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { createDatabase } from './postgres.ts';

export const ENGINES = ['sqlite', 'postgres'] as const;

/** The URL of a store that does not exist yet, or an empty database. */
export async function newStoreUrl(engine: (typeof ENGINES)[number]): Promise<string> {
  return engine === 'sqlite' ? path.join(newFolder(), 'store.db') : createDatabase(inject('postgres'));
}

/** A folder that goes away with the test. */
export function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'cvrsync-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A fresh store, closed with the test. */
export async function newStore(engine: (typeof ENGINES)[number]): Promise<Store> {
  return opened(await newStoreUrl(engine));
}

/** The store at a URL, closed with the test. */
export async function opened(url: string): Promise<Store> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

/** A store as it was before a migration, closed with the test; `migrateStore` brings it and its rows up to date. */
export async function storeBefore(engine: (typeof ENGINES)[number], migration: Migration): Promise<Store> {
  const url = await newStoreUrl(engine);
  const store = engine === 'sqlite' ? openSqlite(url) : openPostgres(url);
  onTestFinished(() => store.close());
  await migrateStore(store, migration);
  return store;
}
