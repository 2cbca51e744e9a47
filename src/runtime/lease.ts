/**
 * The lease under which calls leave this process. A process that stood still may wake when its lanes belong to another:
 * whether its claims still stand is asked of the store as the last thing before a call's bytes leave.
 */
import { each } from '../store/each.ts';
import type { Db } from '../store/store.ts';
import type { Claim } from './settlement.ts';

/** Another process owns a lane by now, or the lease ran out. Nothing was sent. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor() {
    super('this process stood still and lost its lease: nothing was sent');
  }
}

export interface Lease {
  /** Throws {@link LeaseLostError} where a claim stands no longer. An answer younger than `maxAgeMs` (0) is good enough. */
  confirm(maxAgeMs?: number): Promise<void>;
  /** Says that a call goes now: its bytes may leave at any time, however late. */
  sends(): void;
  /** Whether nothing has left, because the first call was stopped. */
  readonly isUnsent: boolean;
}

/** The lease of these claims, all of one queue. */
export function leaseOf(db: Db, claims: readonly Claim[], now: () => number): Lease {
  let [sent, stopped] = [false, false];
  let known = { askedAt: Number.NEGATIVE_INFINITY, until: 0 };
  return {
    async confirm(maxAgeMs = 0) {
      if (now() - known.askedAt >= maxAgeMs) {
        const askedAt = now();
        known = { askedAt, until: await standsUntil(db, claims) };
      }
      // By the clock as well: the process may have stood still since the store answered, or the whole machine slept.
      if (now() >= known.until) {
        stopped = true;
        throw new LeaseLostError();
      }
    },
    sends() {
      sent = true;
    },
    get isUnsent() {
      return stopped && !sent;
    },
  };
}

/** When the first of these claims runs out; 0 where one is another's by now. */
async function standsUntil(db: Db, claims: readonly Claim[]): Promise<number> {
  const fences = new Map(claims.map(({ key, epoch }) => [key, epoch]));
  const rows = await db
    .selectFrom('lane')
    .select(['key', 'epoch', 'lease_until'])
    .where('queue', '=', claims[0]?.queue ?? '')
    .where('key', 'in', each(db, [...fences.keys()]))
    .execute();
  const ends = rows.filter(({ key, epoch }) => epoch === fences.get(key)).map(({ lease_until }) => lease_until ?? 0);
  return ends.length < fences.size ? 0 : Math.min(...ends);
}
