/** CSV as it is written for spreadsheets. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readCsv } from '../../../src/runtime/files/csv-rows.ts';
import { BYTE_ORDER_MARK, csvText } from '../../../src/runtime/files/csv-text.ts';
import { newFolder } from '../../support/stores.ts';

it('CSV is read back as it was written, without the protection from formulas', async () => {
  const rows = [
    ['difference/crm/a%2C%3D1/name', '-abcdefgh_-12345'],
    ['lane/apply/x', '=1+1'],
    ['link/crm/"7"', ''],
  ];
  const file = path.join(newFolder(), 'answers.csv');
  writeFileSync(file, BYTE_ORDER_MARK + csvText([['id', 'revision'], ...rows]));
  const read: (readonly string[])[] = [];
  for await (const row of readCsv(file, ['id', 'revision']))
    read.push('problem' in row ? [row.problem] : [row.cell('id'), row.cell('revision')]);
  expect(read).toEqual(rows);
});
