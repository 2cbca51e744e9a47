/**
 * The lease under which this process makes calls. A process that froze may wake after another one took its lanes, so it
 * asks the store directly before a call's bytes leave.
 */
import { each } from '../../store/each.ts';
import type { Store } from '../../store/store.ts';
import { renew } from './lanes.ts';
import type { Claim } from './settlement.ts';

/** Another process owns a lane. Nothing was sent. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor() {
    super('this process froze and lost its lease: it sent nothing');
  }
}

export interface Lease {
  /** Throws {@link LeaseLostError} if a claim was lost. Accepts an answer of the store younger than `maxAgeMs` (0). */
  confirm(maxAgeMs?: number): Promise<void>;
  /** Records that a call starts: its bytes may leave at any later time. */
  sends(): void;
  /** Whether nothing was sent, because the first call was stopped. */
  readonly isUnsent: boolean;
}

const AGAIN_MS = 10_000;

export function leaseOf(store: Store, claims: readonly Claim[], now: () => number): Lease {
  let [sent, stopped] = [false, false];
  let known = { askedAt: Number.NEGATIVE_INFINITY, until: 0 };
  return {
    async confirm(maxAgeMs = 0) {
      if (now() - known.askedAt < maxAgeMs && now() < known.until) return;
      const askedAt = now();
      known = { askedAt, until: await standsUntil(store, claims) };
      // It ran out, but no process claimed the lane: extend it.
      if (known.until > 0 && now() >= known.until) known = { askedAt, until: await holdAgain(store, claims, now()) };
      // Check the clock too: the process may have frozen since the store answered.
      if (now() < known.until) return;
      stopped = true;
      throw new LeaseLostError();
    },
    sends() {
      sent = true;
    },
    get isUnsent() {
      return stopped && !sent;
    },
  };
}

/** When the first of these claims runs out; 0 if another process owns one. */
async function standsUntil({ db }: Store, claims: readonly Claim[]): Promise<number> {
  const tokens = new Map(claims.map(({ key, fence }) => [key, fence]));
  const rows = await db
    .selectFrom('lane')
    .select(['key', 'fence', 'lease_until'])
    .where('queue', '=', claims[0]?.queue ?? '')
    .where('key', 'in', each(db, [...tokens.keys()]))
    .execute();
  const ends = rows.filter(({ key, fence }) => fence === tokens.get(key)).map(({ lease_until }) => lease_until ?? 0);
  return ends.length < tokens.size ? 0 : Math.max(1, Math.min(...ends));
}

async function holdAgain(store: Store, claims: readonly Claim[], now: number): Promise<number> {
  const until = now + AGAIN_MS;
  return (await renew(store, claims, until)).size < claims.length ? 0 : until;
}
