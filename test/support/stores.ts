/** Stores for the suites that every engine must pass. */
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { inject, onTestFinished } from 'vitest';
import { saltOf } from '../../src/runtime/daemons.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { ALL } from './all.ts';
import { createDatabase, renameDatabase } from './postgres.ts';

export const ENGINES = ['sqlite', 'postgres'] as const;

/**
 * The engines of a test whose subject is not the engine: SQLite in the suite, after which PostgreSQL runs the same statements
 * (`statements-global.ts`), and both in `npm run test:all`.
 */
export const SUITE_ENGINES: readonly (typeof ENGINES)[number][] = ALL ? ENGINES : ['sqlite'];

/**
 * The URL of a store with its tables and no rows: a copy of one that was made once for the whole run, since making the
 * tables takes longer than most tests.
 */
export async function newStoreUrl(engine: (typeof ENGINES)[number], template = EMPTY): Promise<string> {
  return engine === 'sqlite' ? copyOfFile(newFolder(), template) : copyOfDatabase(template);
}

/** How a store is made that others are copied from. */
interface Template {
  readonly name: string;
  readonly fill: (store: Store) => Promise<unknown>;
}

const EMPTY: Template = { name: 'empty', fill: async () => {} };

/** Of a store that had a daemon: with its salt, so that a process digests the secrets of a test once, which takes long. */
export const SALTED: Template = { name: 'salted', fill: (store) => saltOf(store, Date.now()) };

/** The URL of a store that does not exist yet, or an empty database. */
export async function emptyStoreUrl(engine: (typeof ENGINES)[number]): Promise<string> {
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

async function copyOfFile(folder: string, { name, fill }: Template): Promise<string> {
  const template = path.join(inject('templates'), `${name}.db`);
  if (!existsSync(template)) {
    // Two workers may come here at once: the last to rename wins, with an equal file.
    const made = path.join(mkdtempSync(path.join(inject('templates'), 'making-')), 'store.db');
    await makeTemplate(made, fill);
    renameSync(made, template);
  }
  const copy = path.join(folder, 'store.db');
  copyFileSync(template, copy);
  return copy;
}

async function copyOfDatabase({ name, fill }: Template): Promise<string> {
  const server = inject('postgres');
  const template = `template_${name}_${path.basename(inject('templates')).replaceAll(/\W/g, '_')}`.toLowerCase();
  const copy = await createDatabase(server, template);
  if (copy !== undefined) return copy;
  const made = await createDatabase(server);
  await makeTemplate(made, fill);
  await renameDatabase(server, made, template);
  return copyOfDatabase({ name, fill });
}

async function makeTemplate(url: string, fill: Template['fill']): Promise<void> {
  const store = await openStore(url);
  await fill(store);
  await store.close();
}

/** The store at a URL, closed with the test. */
export async function opened(url: string): Promise<Store> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

/** Makes a store one of a version before the first, which the program must bring up to date before it works with it. */
export const makeOlder = (store: Store): Promise<unknown> =>
  store.write((tx) => sql`update schema_version set version = 0`.execute(tx));
