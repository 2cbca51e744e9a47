/** Files that a page sends while it still reads them from the store. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type CsvRow, sendCsv } from '../../src/dashboard/page/csv.ts';
import { ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

describe.each(ENGINES)('a file whose rows cannot be read, on %s', (engine) => {
  it.each([
    ['/audit.csv', 'audit'],
    ['/review.csv?kind=difference', 'property_state'],
  ])('ends the answer to %s, tells the log, and leaves the daemon at work', async (path, table) => {
    const { store, signedIn, logged } = await startPages({ engine });
    const viewer = await signedIn('viewer');
    await store.write((tx) => sql`alter table ${sql.table(table)} rename to elsewhere`.execute(tx));
    await expect(viewer.get(path)).rejects.toThrow();
    expect(logged).toEqual([expect.stringContaining('page failed')]);
    expect((await viewer.get('/deliveries')).status).toBe(200);
  });
});

describe('a CSV file', () => {
  it('frees what its rows come from where the client leaves early', async () => {
    let isFreed = false;
    async function* endless(): AsyncGenerator<readonly CsvRow[]> {
      try {
        for (;;) yield [['x'.repeat(1_000)]];
      } finally {
        isFreed = true;
      }
    }
    const { content } = sendCsv('rows.csv', endless());
    if (!(content instanceof Readable)) throw new Error('not sent row by row');
    content.once('data', () => content.destroy());
    await expect.poll(() => isFreed).toBe(true);
  });
});
