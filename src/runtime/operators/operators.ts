/** Operators: the people who may use the dashboard. A token is random, shown once, and kept as a digest. */
import { hash, randomBytes } from 'node:crypto';
import type { Db, Tx } from '../../store/store.ts';

/** What an operator may do, the least first: look, act, and manage what the others depend on. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** An operator as they are listed: without the token. Times in ms since 1970. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** Lets a token be found where it does not belong: in a log, a repository, a mail. */
const PREFIX = 'cvrsync_operator_';
const FORM = /^cvrsync_operator_[A-Za-z0-9_-]{43}$/;

/** Tokens and session ids are 256 random bits: nothing slower is needed. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'base64url');

/** A secret that nobody guesses. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** Whether a role includes another one's rights. */
export const includesRole = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/**
 * Makes an operator, and gives the token, which cannot be shown again. Undefined where one of that name is active; the name of
 * a revoked one is free again. Whoever had it through single sign-on stays revoked, under a longer name.
 */
export async function createOperator(
  tx: Tx,
  { name, role }: { readonly name: string; readonly role: Role },
  now: number,
): Promise<string | undefined> {
  const known = await tx
    .selectFrom('operator')
    .select(['revoked_at', 'subject'])
    .where('name', '=', name)
    .executeTakeFirst();
  if (known !== undefined && known.revoked_at === null) return undefined;
  if (known !== undefined && known.subject !== null)
    await tx
      .updateTable('operator')
      .set({ name: nameWithSubject(name, known.subject) })
      .where('name', '=', name)
      .execute();
  const token = `${PREFIX}${randomSecret()}`;
  const row = { role, token_hash: digestOf(token), created_at: now, revoked_at: null };
  await tx
    .insertInto('operator')
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
  return token;
}

/** What somebody who comes through single sign-on is called if another operator has their name. */
export const nameWithSubject = (name: string, subject: string): string => `${name} (${subject})`;

/**
 * Lets somebody sign in again through single sign-on who was revoked. False if no such operator is revoked: a token that was
 * revoked never counts again.
 */
export async function allowOperator(tx: Tx, name: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('operator')
    .set({ revoked_at: null })
    .where('name', '=', name)
    .where('revoked_at', 'is not', null)
    .where('subject', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends an operator's access, with every session. False where there is no such operator, true also where it had ended before. */
export async function revokeOperator(tx: Tx, name: string, now: number): Promise<boolean> {
  const known = await tx.selectFrom('operator').select('name').where('name', '=', name).executeTakeFirst();
  if (known === undefined) return false;
  await tx
    .updateTable('operator')
    .set({ revoked_at: now })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .execute();
  await tx.deleteFrom('session').where('operator', '=', name).execute();
  await tx.deleteFrom('login_link').where('operator', '=', name).execute();
  return true;
}

/** All operators, the revoked ones too, by name. */
export async function listOperators(db: Db): Promise<readonly Operator[]> {
  const rows = await db.selectFrom('operator').selectAll().orderBy('name').execute();
  return rows.map(({ name, role, created_at, revoked_at }) => ({
    name,
    role,
    createdAt: created_at,
    revokedAt: revoked_at,
  }));
}

/** The active operator whose token it is; undefined where there is none. */
export async function findOperator(db: Db, token: string): Promise<Pick<Operator, 'name' | 'role'> | undefined> {
  // What cannot be a token costs no look at the store.
  if (!FORM.test(token)) return undefined;
  return await db
    .selectFrom('operator')
    .select(['name', 'role'])
    .where('token_hash', '=', digestOf(token))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

/** Whether there is an operator of this name who may sign in. */
export async function isActive(db: Db, name: string): Promise<boolean> {
  const found = db.selectFrom('operator').select('name').where('name', '=', name).where('revoked_at', 'is', null);
  return (await found.executeTakeFirst()) !== undefined;
}

/** Whether there ever was an operator: from then on no link makes one, also after the last one was revoked. */
export async function hasOperators(db: Db): Promise<boolean> {
  return (await db.selectFrom('operator').select('name').limit(1).executeTakeFirst()) !== undefined;
}
