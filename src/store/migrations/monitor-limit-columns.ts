/** How many posts a minute a webhook takes, and when the next may begin. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addMonitorLimits(tx: Tx, engine: Engine): Promise<void> {
  const { integer } = dialect(tx, engine);
  await tx.schema.alterTable('monitor').addColumn('posts_per_minute', integer).execute();
  await tx.schema.alterTable('monitor').addColumn('next_post_at', integer).execute();
}
