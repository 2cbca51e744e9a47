/** Records why a monitor sends no more mail to an address: its owner unsubscribed, or its mail server refused it for good. */

import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addBounces(tx: Tx, engine: Engine): Promise<void> {
  const { text } = dialect(tx, engine);
  await tx.schema.alterTable('unsubscribed').addColumn('bounced', text).execute();
}
