/** Reading files row by row. */
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readIndexFile } from '../../../src/match/index/read-file.ts';
import { readCsv } from '../../../src/runtime/files/csv-rows.ts';
import { newFolder } from '../../support/stores.ts';

const DESCRIPTORS = '/proc/self/fd';

function isOpen(file: string): boolean {
  return readdirSync(DESCRIPTORS).some((one) => {
    try {
      return readlinkSync(path.join(DESCRIPTORS, one)) === file;
    } catch {
      return false;
    }
  });
}

/** Longer than what a stream reads at once. */
function longFile(head: string, line: string): string {
  const file = path.join(newFolder(), 'long');
  writeFileSync(file, `${head}\n${`${line}\n`.repeat(20_000)}`);
  return file;
}

describe.runIf(process.platform === 'linux')('a file that is read in part', () => {
  it('is closed if a column is missing', async () => {
    const file = longFile('number;name', '10000001;Name ApS');
    for await (const row of readCsv(file, ['answer'])) expect(row).toHaveProperty('problem');
    await expect.poll(() => isOpen(file)).toBe(false);
  });

  it.each([
    ['cvrNumber;name', '10000001;Name ApS'],
    ['{}', '{"cvrNumber":"10000001"}'],
  ])('is closed if its reader leaves after the first line, %s', async (head, line) => {
    const file = longFile(head, line);
    for await (const row of readIndexFile(file, 0)) {
      expect(row).toHaveProperty('line');
      break;
    }
    await expect.poll(() => isOpen(file)).toBe(false);
  });
});
