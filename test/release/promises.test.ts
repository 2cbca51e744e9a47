/** The page about releases: each promise of compatibility names a test that exists. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readDoc, tableIn } from '../support/docs.ts';

it('each promise of compatibility names a test that exists', () => {
  const rows = tableIn(readDoc('docs/release.md'), 'Part', 'Promise', 'Test');
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) {
    const file = /^`(test\/\S+\.test\.ts)`$/.exec(row['Test'] ?? '')?.[1] ?? '';
    expect(existsSync(join(import.meta.dirname, '../..', file)) && file !== '', row['Part']).toBe(true);
  }
});
