/** API keys: random, shown once, stored as a digest. */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { ApiKeyTable } from '../../store/service-schema.ts';
import type { Db, Tx } from '../../store/store.ts';

/** The groups of endpoints that a key opens. */
export const SCOPES = ['monitoring', 'news', 'testwebhook', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const USUAL_SCOPES: readonly Scope[] = ['monitoring', 'news', 'testwebhook'];

/** A key without its text. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** Exact to the minute. */
  readonly usedAt: number | null;
}

/** Makes a leaked key easy to find in logs, repositories and mails. */
const PREFIX = 'cvrsync_';
const FORM = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{43}$`);
const USED_EVERY_MS = 60_000;

/** Creates a key. The caller shows its text; the store has only the digest. */
export async function createKey(
  tx: Tx,
  {
    id = randomUUID(),
    name,
    scopes,
  }: { readonly id?: string; readonly name: string; readonly scopes: readonly Scope[] },
  now: number,
): Promise<{ readonly id: string; readonly key: string }> {
  const key = `${PREFIX}${randomBytes(32).toString('base64url')}`;
  const chosen = JSON.stringify(SCOPES.filter((scope) => scopes.includes(scope)));
  const { redact } = await readErasures(tx);
  await tx
    .insertInto('api_key')
    .values({ id, name: redact(name), hash: digest(key), scopes: chosen, created_at: now })
    .execute();
  return { id, key };
}

export const keyFrom = (text: string): string => `${PREFIX}${text}`;

/** Stores a key with a known text under a fixed id; replaces the previous key of the id. */
export async function ensureKey(
  tx: Tx,
  {
    id,
    name,
    key,
    scopes,
  }: { readonly id: string; readonly name: string; readonly key: string; readonly scopes: readonly Scope[] },
  now: number,
): Promise<void> {
  const to = { name, hash: digest(key), scopes: JSON.stringify(scopes), revoked_at: null };
  await tx
    .insertInto('api_key')
    .values({ id, ...to, created_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(to))
    .execute();
}

/** Ends a key for good; its jobs stay. False if the key does not exist, true if it was revoked before. */
export async function revokeKey(tx: Tx, id: string, now: number): Promise<boolean> {
  const key = await tx.selectFrom('api_key').select('revoked_at').where('id', '=', id).executeTakeFirst();
  if (key === undefined) return false;
  await tx
    .updateTable('api_key')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute();
  return true;
}

/** All keys with the revoked ones, oldest first. */
export async function listKeys(db: Db): Promise<ApiKey[]> {
  const rows = await db.selectFrom('api_key').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(readRow);
}

export async function getKey(db: Db, id: string): Promise<ApiKey | undefined> {
  const row = await db.selectFrom('api_key').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readRow(row);
}

export async function findKey(
  db: Db,
  key: string,
): Promise<{ readonly id: string; readonly scopes: readonly Scope[] } | undefined> {
  // Spares the store a look-up.
  if (!FORM.test(key)) return undefined;
  const row = await db
    .selectFrom('api_key')
    .select(['id', 'scopes'])
    .where('hash', '=', digest(key))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && { id: row.id, scopes: readScopes(row.scopes) };
}

export async function touchKey(tx: Tx, id: string, now: number): Promise<void> {
  await tx
    .updateTable('api_key')
    .set({ used_at: now })
    .where('id', '=', id)
    .where((where) => where.or([where('used_at', 'is', null), where('used_at', '<=', now - USED_EVERY_MS)]))
    .execute();
}

/** Keys are 256 random bits and need no slower hash. */
const digest = (key: string): string => hash('sha256', key, 'base64url');

const readRow = (row: Selectable<ApiKeyTable>): ApiKey => ({
  id: row.id,
  name: row.name,
  scopes: readScopes(row.scopes),
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
  usedAt: row.used_at,
});

const readScopes = (json: string): readonly Scope[] => {
  const known: unknown = JSON.parse(json);
  return Array.isArray(known) ? SCOPES.filter((scope) => known.includes(scope)) : [];
};
