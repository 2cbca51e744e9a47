/** Single sign-on in the store: sign-ons that began, and the operators whom an issuer names. */
import type { Db, Store, Tx } from '../../store/store.ts';
import { digestOf, nameWithSubject, type Operator, type Role, randomSecret } from './operators.ts';

/** A sign-on is finished within so long. */
const SIGN_ON_MS = 10 * 60_000;
/** The issuer says only at a sign-on what somebody may do: sessions end sooner than those of a token. */
export const SIGN_ON_SESSION_MS = 12 * 60 * 60_000;
const NAME_LENGTH = 100;

/** What a sign-on that began is to be finished with. */
export interface SignOn {
  readonly nonce: string;
  readonly verifier: string;
  readonly next: string;
  readonly kept: string | null;
}

/** Names a sign-on: the secret in the browser's cookie, and the state that the issuer sends back. */
export interface SignOnKey {
  readonly secret: string;
  readonly state: string;
}

const hashOf = ({ secret, state }: SignOnKey): string => digestOf(`${secret} ${state}`);

/** Keeps a sign-on that begins. */
export async function addSignOn(tx: Tx, key: SignOnKey, signOn: SignOn, now: number): Promise<void> {
  await tx
    .insertInto('sign_on')
    .values({ ...signOn, hash: hashOf(key), ends_at: now + SIGN_ON_MS })
    .execute();
}

/** Uses a sign-on up; undefined where this browser began none with this state, finished it, or took too long. */
export async function takeSignOn(store: Store, key: SignOnKey, now: number): Promise<SignOn | undefined> {
  const hash = hashOf(key);
  // What nobody began costs a read, and no write.
  const known = await store.db.selectFrom('sign_on').select('hash').where('hash', '=', hash).executeTakeFirst();
  if (known === undefined) return undefined;
  const row = await store.write((tx) =>
    tx.deleteFrom('sign_on').where('hash', '=', hash).returningAll().executeTakeFirst(),
  );
  return row === undefined || row.ends_at <= now ? undefined : row;
}

/** Somebody as an issuer names them. */
export interface IssuerSubject {
  /** Issuer and subject: stays theirs, whatever else changes. */
  readonly subject: string;
  /** What people call them; another operator may have this name. */
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
 * The operator whom an issuer names, with the role that it gives now; made at the first time. Nobody gets the name, and with it
 * the rights, of an operator who exists. Revoked ones stay so until they are allowed again by name.
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
  // Nobody knows the token: only the issuer opens this door.
  const row = { name: free, role, subject, token_hash: digestOf(randomSecret()), created_at: now };
  await tx.insertInto('operator').values(row).execute();
  return { name: free, isRevoked: false };
}

/** Ends every session of somebody to whom the issuer no longer gives a role. */
export async function endSessionsOf(tx: Tx, subject: string): Promise<void> {
  const known = await findSubject(tx, subject);
  if (known !== undefined) await tx.deleteFrom('session').where('operator', '=', known.name).execute();
}
