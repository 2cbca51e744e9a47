/** Operators: the people who may use the dashboard. A token is random, shown once and stored as a digest. */
import { hash, randomBytes } from 'node:crypto';
import type { Db, Tx } from '../../store/store.ts';

/** In ascending order: view, act, and manage what others depend on. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface Operator {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** Makes a leaked token easy to find in logs, repositories and mails. */
const PREFIX = 'cvrsync_operator_';
const FORM = /^cvrsync_operator_[A-Za-z0-9_-]{43}$/;

/** Tokens and session ids are 256 random bits and need no slower hash. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'base64url');

export const randomSecret = (): string => randomBytes(32).toString('base64url');

export const includesRole = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/**
 * Creates an operator and returns the token, which cannot be shown again. Undefined if the name belongs to an active
 * operator; the name of a revoked one is free. An operator of single sign-on who had the name stays revoked, under a
 * longer name.
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

/**
 * Gives an active operator a new token, which replaces the former one; undefined for those of single sign-on, who have
 * none.
 */
export async function renewToken(tx: Tx, name: string): Promise<string | undefined> {
  const token = `${PREFIX}${randomSecret()}`;
  const { numUpdatedRows } = await tx
    .updateTable('operator')
    .set({ token_hash: digestOf(token) })
    .where('name', '=', name)
    .where('subject', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? token : undefined;
}

/** Whether an operator signs in by a token. */
export async function hasToken(db: Db, name: string): Promise<boolean> {
  const own = db.selectFrom('operator').select('name').where('name', '=', name).where('subject', 'is', null);
  return (await own.executeTakeFirst()) !== undefined;
}

/** Gives an operator another name, with the sessions; false if another one has it. The audit keeps the former name. */
export async function nameOperator(tx: Tx, from: string, to: string): Promise<boolean> {
  if ((await tx.selectFrom('operator').select('name').where('name', '=', to).executeTakeFirst()) !== undefined)
    return false;
  await tx.updateTable('operator').set({ name: to }).where('name', '=', from).execute();
  await tx.updateTable('session').set({ operator: to }).where('operator', '=', from).execute();
  await tx.updateTable('login_link').set({ operator: to }).where('operator', '=', from).execute();
  return true;
}

/** Name of a single sign-on operator if another operator has the plain name. */
export const nameWithSubject = (name: string, subject: string): string => `${name} (${subject})`;

/**
 * Lets a revoked operator sign in again through single sign-on; false if there is none. A revoked token never works
 * again.
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

/**
 * Ends an operator's access and all sessions. Returns what the operator was; undefined if the operator does not exist.
 */
export async function revokeOperator(tx: Tx, name: string, now: number): Promise<'active' | 'revoked' | undefined> {
  const known = await tx.selectFrom('operator').select('revoked_at').where('name', '=', name).executeTakeFirst();
  if (known === undefined) return undefined;
  await tx
    .updateTable('operator')
    .set({ revoked_at: now })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .execute();
  await tx.deleteFrom('session').where('operator', '=', name).execute();
  await tx.deleteFrom('login_link').where('operator', '=', name).execute();
  return known.revoked_at === null ? 'active' : 'revoked';
}

export async function listOperators(db: Db): Promise<readonly Operator[]> {
  const rows = await db.selectFrom('operator').selectAll().orderBy('name').execute();
  return rows.map(({ name, role, created_at, revoked_at }) => ({
    name,
    role,
    createdAt: created_at,
    revokedAt: revoked_at,
  }));
}

export async function findOperator(db: Db, token: string): Promise<Pick<Operator, 'name' | 'role'> | undefined> {
  // Does not look up a text that cannot be a token.
  if (!FORM.test(token)) return undefined;
  return await db
    .selectFrom('operator')
    .select(['name', 'role'])
    .where('token_hash', '=', digestOf(token))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

export async function isActive(db: Db, name: string): Promise<boolean> {
  const found = db.selectFrom('operator').select('name').where('name', '=', name).where('revoked_at', 'is', null);
  return (await found.executeTakeFirst()) !== undefined;
}

/** Whether an operator ever existed: after that no link creates one, even if all are revoked. */
export async function hasOperators(db: Db): Promise<boolean> {
  return (await db.selectFrom('operator').select('name').limit(1).executeTakeFirst()) !== undefined;
}
