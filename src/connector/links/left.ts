/**
 * Connections that people left. The mark is in the store, so it counts in every daemon and command, and after a restart:
 * nothing is read, written or linked there until a person returns.
 */
import { type Claim, settleAll } from '../../runtime/lanes/lanes.ts';
import { lockUntilCommit } from '../../store/advisory-lock.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';

export interface LeftConnection {
  /** Ms since 1970. */
  readonly at: number;
  readonly by: string;
  /** The run that left it. */
  readonly run: number;
}

/** Of the keys of left connections in `kv`. */
export const LEFT = 'left:';

export async function readLeft(db: Db, provider: string): Promise<LeftConnection | undefined> {
  const text = await readValue(db, `${LEFT}${provider}`);
  return text === undefined ? undefined : JSON.parse(text);
}

/** By the names of the connections. */
export async function readAllLeft(db: Db): Promise<ReadonlyMap<string, LeftConnection>> {
  const rows = await db
    .selectFrom('kv')
    .select(['key', 'value'])
    .where('key', '>=', LEFT)
    .where('key', '<', `${LEFT}\u{10FFFF}`)
    .orderBy('key')
    .execute();
  return new Map(rows.map(({ key, value }) => [key.slice(LEFT.length), JSON.parse(value)]));
}

/** Waits for transactions that link a record; none links one to this connection from now on. */
export async function markLeft(tx: Tx, provider: string, left: LeftConnection): Promise<void> {
  await lockUntilCommit(tx, 'leaving', 'exclusive');
  await writeValue(tx, `${LEFT}${provider}`, JSON.stringify(left), left.at);
}

/** False if it was not left. */
export async function endLeft(tx: Tx, provider: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('kv').where('key', '=', `${LEFT}${provider}`).executeTakeFirst();
  return numDeletedRows > 0n;
}

export class LeftError extends Error {
  override readonly name = 'LeftError';
}

export const leftText = (provider: string, { at, by }: LeftConnection): string =>
  `${provider} was left at ${new Date(at).toISOString()} by ${by}: nothing is read or written there`;

/** How a person comes back. */
export const returnAdvice = (provider: string): string => `cvrsync return ${provider} ends that`;

/** Throws {@link LeftError} if the connection was left. In a transaction, nobody leaves it before that ends. */
export async function refuseLeft(db: Db, provider: string): Promise<void> {
  if (db.isTransaction) await lockUntilCommit(db, 'leaving', 'shared');
  const left = await readLeft(db, provider);
  if (left !== undefined) throw new LeftError(`${leftText(provider, left)}; ${returnAdvice(provider)}`);
}

/** Work on the records of a connection, which ends without a call if the connection was left. */
export const unlessLeft =
  (
    store: Store,
    provider: string,
    work: (claims: readonly Claim[], signal: AbortSignal) => Promise<void>,
  ): typeof work =>
  async (claims, signal) => {
    if ((await readLeft(store.db, provider)) === undefined) return work(claims, signal);
    const settled = claims.map((claim) => [claim, { kind: 'done' }] as const);
    await store.write((tx) => settleAll(tx, settled));
  };
