/** API keys: random, shown once, kept as a digest. */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { ApiKeyTable } from '../../store/service-schema.ts';
import type { Db, Tx } from '../../store/store.ts';

/** What a key may be used for: the monitoring endpoints, news, the webhook test, the administration. */
export const SCOPES = ['monitoring', 'news', 'testwebhook', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a key is given where nothing is said: everything but the administration. */
export const USUAL_SCOPES: readonly Scope[] = ['monitoring', 'news', 'testwebhook'];

/** A key as it is listed: without the key. Times in ms since 1970. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** To the minute. */
  readonly usedAt: number | null;
}

/** Lets a key be found where it does not belong: in a log, a repository, a mail. */
const PREFIX = 'cvrsync_';
const FORM = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{43}$`);
const USED_EVERY_MS = 60_000;

/** Makes a key, under a random id where none is given. It cannot be shown again. */
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

/** The key that a text of 43 characters of base64url stands for. */
export const keyFrom = (text: string): string => `${PREFIX}${text}`;

/** Makes a key whose text is known beforehand, under an id of its own; takes the place of the one that had the id. */
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

/** Ends a key for good; its jobs stay. False where there is none, true also where it had ended before. */
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

/** All keys, the revoked ones too, oldest first. */
export async function listKeys(db: Db): Promise<ApiKey[]> {
  const rows = await db.selectFrom('api_key').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(readRow);
}

/** A key by its id, also where it was revoked; undefined where there is none. */
export async function getKey(db: Db, id: string): Promise<ApiKey | undefined> {
  const row = await db.selectFrom('api_key').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readRow(row);
}

/** The key with that text, by its digest; undefined where there is none or it was revoked. */
export async function findKey(
  db: Db,
  key: string,
): Promise<{ readonly id: string; readonly scopes: readonly Scope[] } | undefined> {
  // What cannot be a key costs no look at the store.
  if (!FORM.test(key)) return undefined;
  const row = await db
    .selectFrom('api_key')
    .select(['id', 'scopes'])
    .where('hash', '=', digest(key))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && { id: row.id, scopes: readScopes(row.scopes) };
}

/** Notes that a key was used, where the last note is a minute old. */
export async function touchKey(tx: Tx, id: string, now: number): Promise<void> {
  await tx
    .updateTable('api_key')
    .set({ used_at: now })
    .where('id', '=', id)
    .where((where) => where.or([where('used_at', 'is', null), where('used_at', '<=', now - USED_EVERY_MS)]))
    .execute();
}

/** Keys are 256 random bits: nothing slower is needed. */
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
