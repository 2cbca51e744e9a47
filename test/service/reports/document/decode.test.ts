import { describe, expect, it } from 'vitest';
import { readFacts } from '../../../../src/service/reports/document/read.ts';
import { annual, instance } from '../instance.ts';
import { valuesOf } from '../reading.ts';

const text = instance(annual({ name: 'Blåbær & Østers ApS' }));
const saying = (encoding: string) => text.replace('encoding="UTF-8"', `encoding="${encoding}"`);
const swapped = (utf16: Buffer) => Buffer.from(utf16).swap16();
const nameIn = async (bytes: Buffer) => valuesOf(await readFacts(bytes, () => true), 'gsd:NameOfReportingEntity');

const MARK = '\uFEFF';

describe('the bytes of a document', () => {
  it.each([
    ['in UTF-8', Buffer.from(text)],
    ['in UTF-8 with a byte order mark', Buffer.from(MARK + text)],
    ['in UTF-8 without a prolog', Buffer.from(text.slice(text.indexOf('\n') + 1))],
    ['in UTF-16 with a byte order mark', Buffer.from(MARK + saying('UTF-16'), 'utf16le')],
    ['in UTF-16, big end first, with a byte order mark', swapped(Buffer.from(MARK + saying('UTF-16'), 'utf16le'))],
    ['in UTF-16 without a byte order mark', Buffer.from(saying('UTF-16'), 'utf16le')],
    ['in UTF-16, big end first, without a byte order mark', swapped(Buffer.from(saying('UTF-16'), 'utf16le'))],
    ['in ISO-8859-1, said by the prolog only', Buffer.from(saying('ISO-8859-1'), 'latin1')],
    [
      'in Windows-1252, said in single quotes',
      Buffer.from(saying('windows-1252').replaceAll('"windows-1252"', "'windows-1252'"), 'latin1'),
    ],
    ['in UTF-8 although the prolog says UTF-16', Buffer.from(saying('UTF-16'))],
  ])('%s are text', async (_, bytes) => {
    expect(await nameIn(bytes)).toEqual(['Blåbær & Østers ApS']);
  });

  it('keep a letter that spans two chunks', async () => {
    for (const at of [0, 1]) {
      const filler = `<!--${'x'.repeat(64 * 1024 - text.indexOf('å') - 9 + at)}-->`;
      const long = text.replace('?>\n', `?>${filler}\n`);
      expect(await nameIn(Buffer.from(long))).toEqual(['Blåbær & Østers ApS']);
    }
  });

  it('in an unknown encoding are refused', async () => {
    await expect(readFacts(Buffer.from(saying('ebcdic-dk-no')), () => true)).rejects.toThrow(
      /unknown encoding, ebcdic-dk-no/,
    );
  });
});
