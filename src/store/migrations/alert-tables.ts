/** What the operator was told of: one row for each channel and thing that needs a person, for as long as it does. */

import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addAlerts(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('alert')
    .addColumn('channel', text, (column) => column.notNull())
    .addColumn('key', text, (column) => column.notNull())
    .addColumn('what', text, (column) => column.notNull())
    .addColumn('since', integer, (column) => column.notNull())
    .addColumn('told_at', integer)
    .addColumn('gone_at', integer)
    .addPrimaryKeyConstraint('alert_key', ['channel', 'key'])
    .execute();
}
