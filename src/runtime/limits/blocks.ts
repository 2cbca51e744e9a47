/** An account's blocks: until when nobody may call it, since when and why. */
import type { Db, Tx } from '../../store/store.ts';

/** The end of the key of an account's row for all of its budgets. */
export const EVERY_BUDGET = '/*';

/** Why an account is blocked: by credentials that are not accepted, by a refusal, by a limit that it states. */
export type BlockFault = 'auth' | 'refused' | 'rate' | 'locked';

/** An account that nobody may call before `until`. */
export interface AccountBlock {
  readonly account: string;
  /** When the first of the blocks began that followed each other until this one. */
  readonly since: number;
  readonly until: number;
  readonly reason: string | null;
  readonly fault: BlockFault;
}

/** A block within this time of the one before is the same trouble: between them an account is only probed. */
export const SAME_TROUBLE_MS = 10 * 60_000;
/** A limit that holds longer than this is no mere pause: a person should know. */
const LONG_PAUSE_MS = 15 * 60_000;

/** How far the clocks of two machines may differ. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/** A block that was made by a clock which ran ahead and was set right since: it holds from now on, as long as it was meant to. */
export const fromNow = <B extends Pick<AccountBlock, 'since' | 'until'>>(block: B, now: number): B =>
  block.since > now + CLOCKS_DIFFER_MS ? { ...block, since: now, until: now + block.until - block.since } : block;

/** Whether a block is a person's to end: credentials, a refusal, or a limit that holds for long. */
export const needsPerson = ({ fault, since, until }: AccountBlock): boolean =>
  fault === 'auth' || fault === 'refused' || until - since > LONG_PAUSE_MS;

/** The last time that has a date: beyond it an end cannot be shown. */
export const LAST_TIME_MS = 8.64e15;

/** The blocks that hold now, or held until `agoMs` ago at most, by account. */
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

/** Ends an account's block: it is called at once. False where none holds. */
export async function endBlock(tx: Tx, account: string, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('rate_limit')
    .where('key', '=', `${account}${EVERY_BUDGET}`)
    .where('blocked_until', '>', now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
