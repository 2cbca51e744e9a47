/** The trace contexts of what causes work in another lane, where telemetry is on. */
import type { Tx } from '../store.ts';

export async function addTraces(tx: Tx): Promise<void> {
  for (const table of ['arrival', 'receipt', 'change'])
    await tx.schema.alterTable(table).addColumn('trace', 'text').execute();
}
