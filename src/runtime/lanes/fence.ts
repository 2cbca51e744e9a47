/** Fencing tokens: each is unique to one claim, and says which opening of the store made it. */
import { randomInt } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { FIRST_DAEMON, type Store } from '../../store/store.ts';

/** Claims of one holder before a number comes again. */
const CLAIMS = 2 ** 24;

let claims = randomInt(CLAIMS);

/** A token that no earlier claim holds: a lane that ended and began again must not repeat one that an old owner still holds. */
export function newFence({ holder }: Pick<Store, 'holder'>): number {
  claims = (claims + 1) % CLAIMS;
  return holder * CLAIMS + claims;
}

/** Of a lane's fencing token: who made the claim. */
export const HOLDER: RawBuilder<number> = sql<number>`fence / ${sql.lit(CLAIMS)}`;

/** Daemons' claims have this token or a greater one, commands' a smaller one. */
export const FIRST_DAEMON_FENCE = FIRST_DAEMON * CLAIMS;
