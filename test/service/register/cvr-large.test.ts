/** One large document, or one unreadable index, does not stop the others. */
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../../src/protocol/text/json.ts';
import type { UnreadableDocument } from '../../../src/service/register/source/source.ts';
import { fixtureOf, HOUR } from './cvr-fixture.ts';
import { documentsFrom, numbersIn, readAll, upTo } from './source-contract.ts';

describe('a document over 32 MiB', () => {
  /** The fixture's bound is 2,500 bytes for a page, and 20,000 for one document. */
  const stageWith = async (bytes: number) => {
    const fixture = await fixtureOf({ pageSize: 8, largestBytes: 20_000 }, {}, { maxBytes: 2_500 });
    const documents = documentsFrom(0, 9);
    const [large] = documentsFrom(4, 1);
    if (!isJsonObject(large) || !isJsonObject(large['Vrvirksomhed'])) throw new Error('the document is no object');
    const filled = { Vrvirksomhed: { ...large['Vrvirksomhed'], filler: 'x'.repeat(bytes) } };
    await fixture.tell([...documents.slice(0, 4), filled, ...documents.slice(5)]);
    return fixture;
  };

  it('is read alone', async () => {
    const { source } = await stageWith(8_000);
    expect((await readAll(source)).numbers).toEqual(upTo(9));
  });

  it('is quarantined by its number if it exceeds every limit, and the feed continues after it', async () => {
    const { source } = await stageWith(30_000);
    const { signal } = new AbortController();
    const numbers: number[] = [];
    const broken: UnreadableDocument[] = [];
    let cursor: string | undefined;
    for (let more = true; more; ) {
      const page = await source.page(cursor, signal);
      numbers.push(...numbersIn(page.documents));
      broken.push(...(page.broken ?? []));
      ({ cursor, more } = page);
    }
    expect(numbers).toEqual([...upTo(4), ...upTo(4, 5)]);
    expect(broken).toMatchObject([{ where: '95000004', reason: expect.stringContaining('larger than 20000 bytes') }]);
  });

  it('does not stop others from being found by their numbers', async () => {
    const { source } = await stageWith(30_000);
    const found = await source.find?.(['95000003', '95000004', '95000005'], new AbortController().signal);
    expect(numbersIn(found?.documents ?? [])).toEqual([3, 5]);
  });

  it('is requested compressed, like every page', async () => {
    const asked: (string | undefined)[] = [];
    const { page } = await fixtureOf({
      http: async ({ headers }) => {
        asked.push(headers?.['accept-encoding']);
        const nothing = { _shards: { total: 6, successful: 6 }, hits: { hits: [] } };
        return { status: 200, headers: {}, body: '', bytes: Buffer.from(JSON.stringify(nothing)) };
      },
    });
    await page();
    expect(asked).toEqual(['gzip']);
  });
});

describe('an index that cannot be read', () => {
  it('does not stop the other one, and is named meanwhile', async () => {
    const { emulator, page, clock } = await fixtureOf({}, { companies: 12 });
    emulator.fault({ match: 'virksomhed/_search', times: 100, action: { kind: 'status', status: 503 } });
    await expect(page()).rejects.toMatchObject({ name: 'SourceError' });
    const kinds = new Set<string>();
    let cursor: string | undefined;
    for (let pages = 0; pages < 3; pages++) {
      const read = await page(cursor);
      for (const document of read.documents) for (const kind of Object.keys(Object(document))) kinds.add(kind);
      expect(read.trouble).toContain('virksomhed: the register answered 503');
      ({ cursor } = read);
    }
    expect([...kinds]).toEqual(['VrproduktionsEnhed']);
    clock.forward(HOUR);
    await expect(page(cursor)).rejects.toMatchObject({ name: 'SourceError' });
  });
});
