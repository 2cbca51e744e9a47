/** Fencing tokens: each belongs to one claim, and names the opening of the store that made it. */
import { randomInt } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { FIRST_DAEMON, type Store } from '../../store/store.ts';

const CLAIMS = 2 ** 24;

let claims = randomInt(CLAIMS);

/**
 * A token that no earlier claim holds: a lane that ends and begins again must not reuse one that a previous owner still
 * holds.
 */
export function newFencingToken({ holder }: Pick<Store, 'holder'>): number {
  claims = (claims + 1) % CLAIMS;
  return holder * CLAIMS + claims;
}

/** SQL: the holder in a lane's fencing token. */
export const HOLDER: RawBuilder<number> = sql<number>`fence / ${sql.lit(CLAIMS)}`;

/** Tokens of daemons start here; those of commands are smaller. */
export const FIRST_DAEMON_TOKEN = FIRST_DAEMON * CLAIMS;
