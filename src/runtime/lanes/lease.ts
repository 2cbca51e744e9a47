/**
 * The lease under which calls leave this process. A process that stood still may wake when its lanes belong to another:
 * whether its claims still stand is asked of the store as the last thing before a call's bytes leave.
 */
import { each } from '../../store/each.ts';
import type { Store } from '../../store/store.ts';
import { renew } from './lanes.ts';
import type { Claim } from './settlement.ts';

/** Another process owns a lane by now. Nothing was sent. */
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

/** How long a claim is held that had run out and that nobody had taken, in ms. */
const AGAIN_MS = 10_000;

/** The lease of these claims, all of one queue. */
export function leaseOf(store: Store, claims: readonly Claim[], now: () => number): Lease {
  let [sent, stopped] = [false, false];
  let known = { askedAt: Number.NEGATIVE_INFINITY, until: 0 };
  return {
    async confirm(maxAgeMs = 0) {
      if (now() - known.askedAt < maxAgeMs && now() < known.until) return;
      const askedAt = now();
      known = { askedAt, until: await standsUntil(store, claims) };
      // It ran out and nobody took it: it is ours as soon as it is held again.
      if (known.until > 0 && now() >= known.until) known = { askedAt, until: await holdAgain(store, claims, now()) };
      // By the clock as well: the process may have stood still since the store answered.
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

/** When the first of these claims runs out; 0 where one is another's by now. */
async function standsUntil({ db }: Store, claims: readonly Claim[]): Promise<number> {
  const fences = new Map(claims.map(({ key, fence }) => [key, fence]));
  const rows = await db
    .selectFrom('lane')
    .select(['key', 'fence', 'lease_until'])
    .where('queue', '=', claims[0]?.queue ?? '')
    .where('key', 'in', each(db, [...fences.keys()]))
    .execute();
  const ends = rows.filter(({ key, fence }) => fence === fences.get(key)).map(({ lease_until }) => lease_until ?? 0);
  return ends.length < fences.size ? 0 : Math.max(1, Math.min(...ends));
}

async function holdAgain(store: Store, claims: readonly Claim[], now: number): Promise<number> {
  const until = now + AGAIN_MS;
  return (await renew(store, claims, until)).size < claims.length ? 0 : until;
}
