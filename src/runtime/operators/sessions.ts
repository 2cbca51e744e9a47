/** Sessions of signed-in operators. A session ends by signing out, by disuse or by age. */
import { readErasures } from '../../store/erasure/erasures.ts';
import type { Db, Tx } from '../../store/store.ts';
import { recordAudit } from './audit.ts';
import { createOperator, digestOf, hasOperators, isActive, type Operator, randomSecret } from './operators.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const IDLE_MS = 8 * HOUR_MS;
export const LONGEST_MS = 7 * 24 * HOUR_MS;
/** A session remains recognisable for this time after its end. */
const KNOWN_MS = 24 * HOUR_MS;
const LINK_MS = 15 * MINUTE_MS;
const AGENT_LENGTH = 160;

export interface OperatorSession {
  /** The digest of its id: names the session without opening it. */
  readonly hash: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly endsAt: number;
}

export interface OpenSession extends OperatorSession {
  readonly isSignOn: boolean;
  readonly operator: Pick<Operator, 'name' | 'role'>;
}

export interface NewSession {
  readonly operator: string;
  readonly agent: string;
  readonly lastsMs?: number;
}

/** Starts a session and returns its id, for a cookie only. */
export async function startSession(
  tx: Tx,
  { operator, agent, lastsMs = LONGEST_MS }: NewSession,
  now: number,
): Promise<string> {
  const id = randomSecret();
  const times = { created_at: now, seen_at: now, ends_at: now + lastsMs };
  const { redact } = await readErasures(tx);
  await tx
    .insertInto('session')
    .values({ hash: digestOf(id), operator, agent: redact(agent.slice(0, AGENT_LENGTH)), ...times })
    .execute();
  return id;
}

const lasting = (db: Db, now: number) =>
  db
    .selectFrom('session')
    .where('ends_at', '>', now)
    .where('seen_at', '>', now - IDLE_MS);

export async function findSession(db: Db, id: string, now: number): Promise<OpenSession | undefined> {
  const row = await lasting(db, now)
    .innerJoin('operator', 'operator.name', 'session.operator')
    .select(['hash', 'agent', 'session.created_at', 'seen_at', 'ends_at', 'operator.name', 'role', 'subject'])
    .where('hash', '=', digestOf(id))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && { ...readSession(row), isSignOn: row.subject !== null, operator: { name: row.name, role: row.role } };
}

/** Whether an id belongs to a session that lasts, or that ended by itself within the last day. */
export async function isPastSession(db: Db, id: string): Promise<boolean> {
  const found = db
    .selectFrom('session')
    .innerJoin('operator', 'operator.name', 'session.operator')
    .select('hash')
    .where('hash', '=', digestOf(id))
    .where('revoked_at', 'is', null);
  return (await found.executeTakeFirst()) !== undefined;
}

export const isNoteDue = ({ seenAt }: OperatorSession, now: number): boolean => now - seenAt >= MINUTE_MS;

/** Records a use, which postpones the end by disuse. */
export async function touchSession(tx: Tx, { hash }: OperatorSession, now: number): Promise<void> {
  await tx.updateTable('session').set({ seen_at: now }).where('hash', '=', hash).execute();
}

export async function listSessions(db: Db, operator: string, now: number): Promise<readonly OperatorSession[]> {
  const rows = await lasting(db, now)
    .selectAll()
    .where('operator', '=', operator)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .execute();
  return rows.map(readSession);
}

export async function endSession(tx: Tx, operator: string, hash: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('session')
    .where('operator', '=', operator)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Marks the link that creates the first operator: no operator has an empty name. */
const NOBODY = '';
const FIRST_OPERATOR = 'admin';

/** Creates the token of a link that signs the operator in once, within 15 minutes. */
export async function createLoginLink(tx: Tx, operator: string, now: number): Promise<string> {
  const token = randomSecret();
  await tx
    .insertInto('login_link')
    .values({ hash: digestOf(token), operator, ends_at: now + LINK_MS })
    .execute();
  return token;
}

/**
 * Creates the token of a link that creates the first operator, an admin, and signs them in; undefined once any operator
 * has existed.
 */
export const createFirstLink = async (tx: Tx, now: number): Promise<string | undefined> =>
  (await hasOperators(tx)) ? undefined : await createLoginLink(tx, NOBODY, now);

/** Creates the token of a link that signs the admin of a set-up in; creates the admin if none exists. */
export async function createSetUpLink(tx: Tx, now: number): Promise<string> {
  const admin = await tx
    .selectFrom('operator')
    .select('name')
    .where('role', '=', 'admin')
    .where('revoked_at', 'is', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return createLoginLink(tx, admin?.name ?? NOBODY, now);
}

export async function isLoginLink(db: Db, token: string): Promise<boolean> {
  const found = db.selectFrom('login_link').select('hash').where('hash', '=', digestOf(token));
  return (await found.executeTakeFirst()) !== undefined;
}

/** Consumes a link's token and returns its operator; undefined if it was used or has expired. */
export async function useLoginLink(tx: Tx, token: string, now: number): Promise<string | undefined> {
  const link = await tx
    .deleteFrom('login_link')
    .where('hash', '=', digestOf(token))
    .returning(['operator', 'ends_at'])
    .executeTakeFirst();
  if (link === undefined || link.ends_at <= now) return undefined;
  if (link.operator === NOBODY) return await createFirstOperator(tx, now);
  return (await isActive(tx, link.operator)) ? link.operator : undefined;
}

async function createFirstOperator(tx: Tx, now: number): Promise<string | undefined> {
  if (await hasOperators(tx)) return undefined;
  const [name, role] = [FIRST_OPERATOR, 'admin'] as const;
  await createOperator(tx, { name, role }, now);
  const actor = { kind: 'operator', name } as const;
  const entry = { actor, via: 'page', action: 'operator.create', subject: name, detail: { role } } as const;
  await recordAudit(tx, { ...entry, result: 'created by the link of the first start' }, now);
  return name;
}

/** Deletes ended links and sign-ons, and sessions that ended a day ago. */
export async function deleteEndedSessions(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('session')
    .where(({ eb, or }) => or([eb('ends_at', '<=', now - KNOWN_MS), eb('seen_at', '<=', now - KNOWN_MS - IDLE_MS)]))
    .execute();
  await tx.deleteFrom('login_link').where('ends_at', '<=', now).execute();
  await tx.deleteFrom('sign_on').where('ends_at', '<=', now).execute();
}

const readSession = (row: {
  readonly hash: string;
  readonly agent: string;
  readonly created_at: number;
  readonly seen_at: number;
  readonly ends_at: number;
}): OperatorSession => ({
  hash: row.hash,
  agent: row.agent,
  createdAt: row.created_at,
  seenAt: row.seen_at,
  endsAt: row.ends_at,
});
