/** Files that a page sends while it still reads them from the store. */
import { Readable } from 'node:stream';
import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sendCsv } from '../../src/dashboard/page/csv.ts';
import type { CsvRow } from '../../src/runtime/files/csv-text.ts';
import { recordAudit } from '../../src/runtime/operators/audit.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

describe.each(SUITE_ENGINES)('a file whose rows cannot be read, on %s', (engine) => {
  it.each([
    ['/audit.csv', 'audit'],
    ['/inbox.csv?kind=difference', 'property_state'],
  ])('ends the answer to %s, is logged, and does not stop the daemon', async (path, table) => {
    const { store, signedIn, logged } = await startPages({ engine });
    const viewer = await signedIn('viewer');
    await store.write((tx) => sql`alter table ${sql.table(table)} rename to elsewhere`.execute(tx));
    await expect(viewer.get(path)).rejects.toThrow();
    expect(logged).toEqual([expect.stringContaining('page failed')]);
    expect((await viewer.get('/deliveries')).status).toBe(200);
  });
});

describe('a CSV file', () => {
  it('contains no formula, even for a spreadsheet that splits cells at commas', async () => {
    const { store, admin } = await startPages();
    const entry = { actor: { kind: 'key', name: 'a' }, via: 'api', action: 'x' } as const;
    const results = [
      'Birk,=1+1',
      'Birk,\t@SUM(1)',
      'holds "Bo,=HYPERLINK(""https://evil.example"")", and',
      '+1,-1',
      'Bo,＝1',
    ];
    await store.write(async (tx) => {
      for (const result of results) await recordAudit(tx, { ...entry, result }, 0);
    });
    const { text } = await (await admin()).get('/audit.csv');
    const lines: readonly (readonly string[])[] = parse(text, {
      bom: true,
      delimiter: ',',
      relax_quotes: true,
      relax_column_count: true,
    });
    expect(lines).toHaveLength(1 + results.length);
    expect(lines.flat().filter((cell) => /^[=+\-@＝]/u.test(cell.trim()))).toEqual([]);
  });

  it('frees the source of its rows if the client disconnects', async () => {
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
