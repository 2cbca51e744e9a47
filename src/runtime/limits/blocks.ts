/** Blocks of an account: the time without calls, and its reason. */
import type { Db, Tx } from '../../store/store.ts';

export const EVERY_BUDGET = '/*';

/** Rejected credentials, another refusal, or a limit that the account states. */
export type BlockFault = 'auth' | 'refused' | 'rate' | 'locked';

export interface AccountBlock {
  readonly account: string;
  /** When the first block of this series began. */
  readonly since: number;
  readonly until: number;
  readonly reason: string | null;
  readonly fault: BlockFault;
}

/** A block that begins within this time after the last one continues its series: in between, cvrsync only probes. */
export const SAME_TROUBLE_MS = 10 * 60_000;
/** An operator should know of a longer limit. */
const LONG_PAUSE_MS = 15 * 60_000;

const CLOCKS_DIFFER_MS = 5 * 60_000;

/** Restarts a block that a clock running ahead has made: it holds from now on, for its full length. */
export const fromNow = <B extends Pick<AccountBlock, 'since' | 'until'>>(block: B, now: number): B =>
  block.since > now + CLOCKS_DIFFER_MS ? { ...block, since: now, until: now + block.until - block.since } : block;

export const needsPerson = ({ fault, since, until }: AccountBlock): boolean =>
  fault === 'auth' || fault === 'refused' || until - since > LONG_PAUSE_MS;

/** The last time that a Date can hold. */
export const LAST_TIME_MS = 8.64e15;

export async function readBlocks(db: Db, now: number, agoMs = 0): Promise<readonly AccountBlock[]> {
  const rows = await db
    .selectFrom('rate_limit')
    .selectAll()
    .where('blocked_until', '>', now - agoMs)
    .orderBy('key')
    .execute();
  return rows.map(({ key, blocked_until, blocked_since: since, reason, fault }) => {
    const until = Math.min(blocked_until, LAST_TIME_MS);
    return {
      account: key.slice(0, -EVERY_BUDGET.length),
      ...(since === null ? { since: until, until } : fromNow({ since, until }, now)),
      reason,
      fault: FAULTS.find((one) => one === fault) ?? 'rate',
    };
  });
}

const FAULTS = ['auth', 'refused', 'rate', 'locked'] as const satisfies readonly BlockFault[];

/** Ends an account's block, so that calls start at once; false if there is none. */
export async function endBlock(tx: Tx, account: string, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('rate_limit')
    .where('key', '=', `${account}${EVERY_BUDGET}`)
    .where('blocked_until', '>', now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
