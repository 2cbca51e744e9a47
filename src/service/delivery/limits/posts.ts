/**
 * Limits posts to a webhook that accepts a number per minute. The monitor's row holds the time of the next posts, so
 * several daemons share the limit and a restart keeps it.
 */
import type { Store } from '../../../store/store.ts';
import type { Monitor } from '../../monitors/monitor.ts';

const MINUTE_MS = 60_000;

export interface Permit {
  readonly posts: number;
  readonly nextAt: number;
}

/**
 * Takes the posts of the next second, at least one. Needs the claim of the monitor's lane. Ignores a stored time
 * further ahead: somebody set the clock back.
 */
export async function takePosts(
  store: Store,
  { id, postsPerMinute }: Pick<Monitor, 'id' | 'postsPerMinute'>,
  now: number,
): Promise<Permit> {
  if (postsPerMinute === null) return { posts: Number.POSITIVE_INFINITY, nextAt: now };
  const posts = Math.max(1, Math.floor(postsPerMinute / 60));
  const waitMs = Math.ceil((posts * MINUTE_MS) / postsPerMinute);
  return store.write(async (tx) => {
    const row = await tx.selectFrom('monitor').select('next_post_at').where('id', '=', id).executeTakeFirst();
    const nextAt = row?.next_post_at ?? 0;
    if (nextAt > now && nextAt <= now + waitMs) return { posts: 0, nextAt };
    await tx
      .updateTable('monitor')
      .set({ next_post_at: now + waitMs })
      .where('id', '=', id)
      .execute();
    return { posts, nextAt: now + waitMs };
  });
}
