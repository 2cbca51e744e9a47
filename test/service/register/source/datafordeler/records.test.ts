import { describe, expect, test } from 'vitest';
import { recordsIn } from '../../../../../src/service/register/source/datafordeler/files/records.ts';

/** The rows of a text that comes in pieces of some bytes. */
async function read(text: string, format: 'csv' | 'json', size = 7): Promise<readonly unknown[]> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const rows: unknown[] = [];
  for await (const batch of recordsIn(pieces(), format)) rows.push(...batch);
  return rows;
}

const NAME = 'Blå "Ø", {Æ} ] \\ \r\n ApS';

describe('the rows of a file', () => {
  test.each([1, 2, 3, 7, 1_000])('of CSV are the same in pieces of %i bytes', async (size) => {
    const quoted = `"${NAME.replaceAll('"', '""')}"`;
    const text = `\uFEFFid,vaerdi,sekvens,feltliste\r\n,${quoted},0,x\r\n42,,1,\r\n43,"",2,"y"`;
    expect(await read(text, 'csv', size)).toEqual([
      { vaerdi: NAME, sekvens: '0' },
      { id: '42', sekvens: '1' },
      { id: '43', sekvens: '2' },
    ]);
  });

  const rows = [
    { id: '1', vaerdi: NAME, sekvens: 0 },
    { id: '2', vaerdi: null },
    { id: '3', vaerdi: true },
  ];
  const layouts = {
    list: JSON.stringify(rows),
    spaced: JSON.stringify(rows, null, 2),
    wrapped: JSON.stringify({ data: { CVR_Navn: rows }, text: 'an } alone' }),
    lines: rows.map((row) => `${JSON.stringify(row)}\r\n`).join(''),
  };
  test.each(Object.entries(layouts))('of JSON are the same in every layout: %s', async (_, text) => {
    for (const size of [1, 3, 64]) expect(await read(text, 'json', size)).toEqual(rows);
  });

  test.each([
    ['csv', 'id,vaerdi\n1,"an open te'],
    ['csv', 'id,vaerdi\n1,a,b\n'],
    ['json', '[{"id":"1"},{"id":"2"'],
    ['json', '[{"id":"1","vaerdi":"an open te'],
  ] as const)('of %s that is cut or broken are refused: %s', async (format, text) => {
    await expect(read(text, format)).rejects.toMatchObject({ name: 'SourceError' });
  });
});
