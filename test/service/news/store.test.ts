import { describe, expect, it } from 'vitest';
import { type NewsQuery, queryNews, storeNews } from '../../../src/service/news/store.ts';
import { PROMOTED_MS } from '../../../src/service/news/wording/make.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { storedItem } from './samples.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 2, 1);
const company = (number: number): string => `CVR-1-${10_000_000 + number}`;

const query = (ids: readonly string[], more: Partial<NewsQuery> = {}): NewsQuery => ({
  ids,
  limit: 30,
  page: 1,
  orderBy: 'promoteduntil',
  ...more,
});
const idsOf = async (store: Store, asked: NewsQuery): Promise<string[]> =>
  (await queryNews(store.db, asked)).map(({ uniqueId }) => uniqueId);

describe.each(ENGINES)('news on %s', (engine) => {
  it('is returned as it was stored, and marks the requested entities', async () => {
    const store = await newStore(engine);
    const item = storedItem('a', NOW, [company(1), company(2)], {
      type: 'Gazette',
      headline: 'Æ {A|CVR-1-10000001} \u0000 "',
      tagLine: 'to',
      content: '<p>&lt;</p>',
      providerData: { url: 'https://x.example', sourceName: null },
      imageId: 'i',
    });
    await store.write((tx) => storeNews(tx, [item]));
    expect(await queryNews(store.db, query([company(2)]))).toEqual([
      {
        headline: item.headline,
        content: '<p>&lt;</p>',
        tagLine: 'to',
        time: '2026-03-01T00:00:00.000Z',
        promotedUntil: '2026-03-08T00:00:00.000Z',
        type: 'Gazette',
        provider: 'VIRK',
        providerData: { url: 'https://x.example', sourceName: null },
        url: 'https://register.example',
        imageId: 'i',
        storyId: 'a',
        uniqueId: 'a',
        entityIds: [
          { relatedEntityIdName: `Navn ${company(1)}`, entityId: company(1), isMainId: true, inQuery: false },
          { relatedEntityIdName: `Navn ${company(2)}`, entityId: company(2), isMainId: false, inQuery: true },
        ],
      },
    ]);
  });

  it('stays unchanged if it is stored again, also with new items', async () => {
    const store = await newStore(engine);
    await store.write((tx) => storeNews(tx, [storedItem('a', NOW, [company(1)])]));
    await store.write((tx) =>
      storeNews(tx, [
        storedItem('a', NOW + DAY, [company(1), company(2)], { headline: 'another' }),
        storedItem('b', NOW, [company(1)]),
      ]),
    );
    await store.write((tx) => storeNews(tx, []));
    const items = await queryNews(store.db, query([company(1), company(2)]));
    expect(items.map(({ uniqueId, headline }) => [uniqueId, headline])).toEqual([
      ['b', 'Nyt b'],
      ['a', 'Nyt a'],
    ]);
    expect(await idsOf(store, query([company(2)]))).toEqual([]);
  });

  it('about several of the requested entities is returned once', async () => {
    const store = await newStore(engine);
    await store.write((tx) =>
      storeNews(tx, [
        storedItem('old', NOW - DAY, [company(3)]),
        storedItem('both', NOW, [company(1), company(2), company(3)]),
      ]),
    );
    expect(await idsOf(store, query([company(1), company(2), company(3)], { limit: 2 }))).toEqual(['both', 'old']);
  });

  it('is ordered by promotion, or by publication', async () => {
    const store = await newStore(engine);
    await store.write((tx) =>
      storeNews(tx, [
        storedItem('early but long', NOW, [company(1)]),
        storedItem('late but short', NOW + DAY, [company(1)], { promotedUntil: NOW + 2 * DAY }),
        storedItem('late and equal', NOW + DAY, [company(2)], { promotedUntil: NOW + 2 * DAY }),
      ]),
    );
    const asked = [company(1), company(2)];
    expect(await idsOf(store, query(asked))).toEqual(['early but long', 'late and equal', 'late but short']);
    expect(await idsOf(store, query(asked, { orderBy: 'publishtime' }))).toEqual([
      'late and equal',
      'late but short',
      'early but long',
    ]);
  });

  it('is found by time, both ends included, and by type', async () => {
    const store = await newStore(engine);
    const times = [-2, -1, 0, 1, 2].map((day) => NOW + day * DAY);
    await store.write((tx) =>
      storeNews(
        tx,
        times.map((time, at) => storedItem(`${at}`, time, [company(1)], { type: at % 2 === 0 ? 'Board' : 'Account' })),
      ),
    );
    for (const orderBy of ['promoteduntil', 'publishtime'] as const) {
      const ask = (more: Partial<NewsQuery>): Promise<string[]> =>
        idsOf(store, query([company(1)], { orderBy, ...more }));
      expect(await ask({ from: NOW })).toEqual(['4', '3', '2']);
      expect(await ask({ to: NOW })).toEqual(['2', '1', '0']);
      expect(await ask({ from: NOW - DAY, to: NOW + DAY })).toEqual(['3', '2', '1']);
      expect(await ask({ from: NOW + DAY, to: NOW })).toEqual([]);
      expect(await ask({ types: ['Account'] })).toEqual(['3', '1']);
      expect(await ask({ types: ['Account', 'Board'], to: NOW, limit: 1, page: 2 })).toEqual(['1']);
      expect(await ask({ types: [] })).toEqual([]);
      expect(await ask({ types: ['Gazette'] })).toEqual([]);
    }
  });

  it('is the same page by page as all at once, for any entities and in any order', async () => {
    const store = await newStore(engine);
    // Many at the same moment, many about several: ties and repeats at every edge of a page.
    const items = Array.from({ length: 400 }, (_, at) =>
      storedItem(`n${at}`, NOW + (at % 7) * DAY, [
        ...new Set([company(at % 13), company((at * 7) % 40), company((at * 3) % 5)]),
      ]),
    );
    await store.write((tx) => storeNews(tx, items));
    const asked = Array.from({ length: 1_200 }, (_, at) => company((at * 11) % 1_200));
    for (const orderBy of ['promoteduntil', 'publishtime'] as const) {
      const all = await idsOf(store, query(asked, { limit: 1_000, orderBy }));
      expect([...all].sort()).toEqual(items.map(({ id }) => id).sort());
      const pages: string[] = [];
      for (let page = 1; page <= 15; page++)
        pages.push(...(await idsOf(store, query(asked, { limit: 30, page, orderBy }))));
      expect(pages).toEqual(all);
      expect(await idsOf(store, query([...asked].reverse(), { limit: 50, page: 3, orderBy }))).toEqual(
        all.slice(100, 150),
      );
    }
  });

  it('keeps its order while items are added', async () => {
    const store = await newStore(engine);
    const add = (from: number, to: number) =>
      store.write((tx) =>
        storeNews(
          tx,
          Array.from({ length: to - from }, (_, at) => storedItem(`${from + at}`, NOW, [company(1)])),
        ),
      );
    await add(0, 50);
    const before = await idsOf(store, query([company(1)], { limit: 100 }));
    await add(50, 60);
    const after = await idsOf(store, query([company(1)], { limit: 100 }));
    expect(after.slice(10)).toEqual(before);
  });

  it('cannot be promoted for longer than queries assume', async () => {
    const store = await newStore(engine);
    const item = storedItem('a', NOW, [company(1)], { promotedUntil: NOW + PROMOTED_MS + 1 });
    await expect(store.write((tx) => storeNews(tx, [item]))).rejects.toThrow('promoted');
  });

  it('of 100,000 entities is found in a bounded number of statements', async () => {
    const store = await newStore(engine);
    await store.write((tx) =>
      storeNews(
        tx,
        Array.from({ length: 2_000 }, (_, at) => storedItem(`n${at}`, NOW + at, [company(at * 37)])),
      ),
    );
    let statements = 0;
    const counting = store.db.withPlugin({
      transformQuery: ({ node }) => {
        statements++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const found = await queryNews(
      counting,
      query(
        Array.from({ length: 100_000 }, (_, at) => company(at)),
        { limit: 200 },
      ),
    );
    expect(found.map(({ uniqueId }) => uniqueId)).toEqual(Array.from({ length: 200 }, (_, at) => `n${1_999 - at}`));
    // One for 500 entities each, and one for the items.
    expect(statements).toBe(201);
  });
});
