/** Single sign-on in the store: started sign-ons, and the operators of an issuer. */
import type { Db, Store, Tx } from '../../store/store.ts';
import { digestOf, nameWithSubject, type Operator, type Role, randomSecret } from './operators.ts';

const SIGN_ON_MS = 10 * 60_000;
/** Shorter than a token's session, because the issuer confirms the role only at a sign-on. */
export const SIGN_ON_SESSION_MS = 12 * 60 * 60_000;
const NAME_LENGTH = 100;

export interface SignOn {
  readonly nonce: string;
  readonly verifier: string;
  readonly next: string;
  readonly kept: string | null;
}

/** The secret in the browser's cookie, and the state that the issuer sends back. */
export interface SignOnKey {
  readonly secret: string;
  readonly state: string;
}

const hashOf = ({ secret, state }: SignOnKey): string => digestOf(`${secret} ${state}`);

export async function addSignOn(tx: Tx, key: SignOnKey, signOn: SignOn, now: number): Promise<void> {
  await tx
    .insertInto('sign_on')
    .values({ ...signOn, hash: hashOf(key), ends_at: now + SIGN_ON_MS })
    .execute();
}

/** Consumes a sign-on; undefined if this browser did not start it with this state, finished it, or took too long. */
export async function takeSignOn(store: Store, key: SignOnKey, now: number): Promise<SignOn | undefined> {
  const hash = hashOf(key);
  // An unknown sign-on costs a read and no write.
  const known = await store.db.selectFrom('sign_on').select('hash').where('hash', '=', hash).executeTakeFirst();
  if (known === undefined) return undefined;
  const row = await store.write((tx) =>
    tx.deleteFrom('sign_on').where('hash', '=', hash).returningAll().executeTakeFirst(),
  );
  return row === undefined || row.ends_at <= now ? undefined : row;
}

export interface IssuerSubject {
  /** Issuer and subject: never changes. */
  readonly subject: string;
  /** Display name; another operator may have it. */
  readonly name: string;
}

type Known = Pick<Operator, 'name' | 'revokedAt'>;

async function findSubject(db: Db, subject: string): Promise<Known | undefined> {
  const row = await db
    .selectFrom('operator')
    .select(['name', 'revoked_at'])
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row && { name: row.name, revokedAt: row.revoked_at };
}

/**
 * Finds or creates the operator of an issuer's subject, with the role that the issuer gives now. Never gives away the
 * name, and so the rights, of an existing operator. Revoked operators stay revoked until somebody allows them by name.
 */
export async function admitSubject(
  tx: Tx,
  { subject, name, role }: IssuerSubject & { readonly role: Role },
  now: number,
): Promise<{ readonly name: string; readonly isRevoked: boolean }> {
  const known = await findSubject(tx, subject);
  if (known !== undefined) {
    if (known.revokedAt === null)
      await tx.updateTable('operator').set({ role }).where('subject', '=', subject).execute();
    return { name: known.name, isRevoked: known.revokedAt !== null };
  }
  const called =
    name
      .replace(/\p{Cc}/gu, '')
      .trim()
      .slice(0, NAME_LENGTH) || subject;
  const other = await tx.selectFrom('operator').select('name').where('name', '=', called).executeTakeFirst();
  const free = other === undefined ? called : nameWithSubject(called, subject);
  // Nobody knows the token: only the issuer can sign this operator in.
  const row = { name: free, role, subject, token_hash: digestOf(randomSecret()), created_at: now };
  await tx.insertInto('operator').values(row).execute();
  return { name: free, isRevoked: false };
}

export async function endSessionsOf(tx: Tx, subject: string): Promise<void> {
  const known = await findSubject(tx, subject);
  if (known !== undefined) await tx.deleteFrom('session').where('operator', '=', known.name).execute();
}
