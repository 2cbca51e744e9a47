/** How SQLite finds what a statement asks for: at a million links that decides whether an answer takes a moment or minutes. */
import Database from 'better-sqlite3';
import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { onTestFinished } from 'vitest';
import { openStore } from '../../src/store/engines/open.ts';
import type { StoreSchema } from '../../src/store/schema.ts';
import type { Db } from '../../src/store/store.ts';
import { newStoreUrl } from '../support/stores.ts';

/** A link that counts. */
export const linkOf = (recordId: string, over: object = {}) => ({
  ...{ provider: 'hubspot', record_id: recordId, entity: `CVR-1-${recordId}`, state: 'active' as const },
  ...{ desired: 'on' as const, observed: 'on' as const, created_at: 1, updated_at: 1 },
  ...{ send_update: 0, synced_seq: 0, origin: 'number' as const, trust: 'crm' as const, writes_number: 0 },
  ...over,
});

/** How SQLite finds the rows of each statement that `ask` makes. */
export async function plansOf(ask: (db: Db) => Promise<unknown>): Promise<readonly string[]> {
  const url = await newStoreUrl('sqlite');
  const store = await openStore(url);
  await store.write((tx) => tx.insertInto('link').values(linkOf('1')).execute());
  await store.close();
  const file = new Database(url);
  const asked: CompiledQuery[] = [];
  const db = new Kysely<StoreSchema>({
    dialect: new SqliteDialect({ database: file }),
    log: ({ query }) => void asked.push(query),
  });
  onTestFinished(() => db.destroy());
  await ask(db);
  return asked.flatMap(({ sql, parameters }) =>
    file
      .prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
      .all(...parameters)
      .map(({ detail }) => detail),
  );
}

/** Reads of a whole table: a partial index of exceptions is not one. */
export const wholeTables = (plans: readonly string[]): readonly string[] =>
  plans.filter(
    (plan) =>
      /^SCAN (link|receipt|property_state|state|fact|known_value|history)\b/.test(plan) && !EXCEPTIONS.test(plan),
  );
const EXCEPTIONS =
  /USING (COVERING )?INDEX (link_refused|link_unconfirmed|property_state_refused|property_state_kept|receipt_quarantined)$/;
/** Active links are nearly all there are, and a connection has its share: to look for them by that is to read the table. */
export const ALL_LINKS = /^SEARCH link USING (?!.*link_inactive).*\((state|provider)=\?\)$/;
