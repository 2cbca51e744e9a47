/**
 * How fast a webhook is posted to that takes so many posts a minute and no more. The time of the next ones is in the
 * monitor's row: several daemons share one limit, and a restart keeps it.
 */
import type { Store } from '../../../store/store.ts';
import type { Monitor } from '../../monitors/monitor.ts';

const MINUTE_MS = 60_000;

/** Posts that may begin now; where none may, when the next ones may. */
export interface Permit {
  readonly posts: number;
  readonly nextAt: number;
}

/**
 * Takes what a monitor may post within the next second, or one post where it takes fewer. Ask only with the claim of its
 * lane. A time further ahead than that was written before the clock was set back, and is passed over.
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
