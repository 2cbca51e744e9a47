/** Why an address gets no more mail of a monitor: it asked for none, or its server said that it is none. */

import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addBounces(tx: Tx, engine: Engine): Promise<void> {
  const { text } = dialect(tx, engine);
  await tx.schema.alterTable('unsubscribed').addColumn('bounced', text).execute();
}
