/** What the benches put into a store is what the present schema holds: no other test runs them. */
import { describe, expect, it } from 'vitest';
import { withLinks, withManyLinks, withWaiting } from './bench/store.ts';
import { newFolder, opened } from './support/stores.ts';

describe('the stores of the benches', () => {
  const rows = async (folder: string, table: 'link' | 'lane' | 'fact' | 'rate_limit'): Promise<number> => {
    const store = await opened(`${folder}/cvrsync.db`);
    return (await store.db.selectFrom(table).selectAll().execute()).length;
  };

  it('hold linked records', async () => {
    const folder = newFolder();
    await withLinks(folder, 'hubspot', ['1', '2'], 20_000_000);
    await withLinks(folder, 'salesforce', ['3'], 20_000_000);
    expect(await rows(folder, 'link')).toBe(3);
  });

  it('hold records that are behind, of two CRMs', async () => {
    const folder = newFolder();
    await withWaiting(folder, 'hubspot', ['1', '2'], 20_000_000);
    await withWaiting(folder, 'salesforce', ['3'], 20_000_002);
    expect(await rows(folder, 'lane')).toBe(3);
    expect(await rows(folder, 'fact')).toBeGreaterThan(30);
  });

  it('hold many links of blocked records', async () => {
    const folder = newFolder();
    await withManyLinks(folder, 'hubspot', 100, 20_000_000);
    expect([await rows(folder, 'link'), await rows(folder, 'fact'), await rows(folder, 'rate_limit')]).toEqual([
      100, 100, 1,
    ]);
  });
});
