import { connect } from 'node:net';
import { Value } from 'typebox/value';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer } from '../../../src/http/server/server.ts';
import { newsItem } from '../../../src/protocol/news.ts';
import { createKey, type Scope } from '../../../src/service/keys/keys.ts';
import { storeNews } from '../../../src/service/news/store.ts';
import type { NewsItem } from '../../../src/service/news/wording/make.ts';
import { createAccess } from '../../../src/service/routes/access.ts';
import { addNewsRoutes } from '../../../src/service/routes/news.ts';
import { newStore } from '../../support/stores.ts';
import { COMPANY, storedItem } from '../news/samples.ts';

const NOW = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

interface Fixture {
  readonly url: string;
  readonly key: string;
  ask(query: string, body?: unknown): Promise<Answer>;
}

async function fixture(items: readonly NewsItem[] = [], scopes: readonly Scope[] = ['news']): Promise<Fixture> {
  const store = await newStore('sqlite');
  const { key } = await store.write((tx) => createKey(tx, { name: 'Nordlys A/S', scopes }, NOW));
  await store.write((tx) => storeNews(tx, items));
  const server = createServer();
  addNewsRoutes(server, { store, access: createAccess({ store, requestsPerMinute: 500, now: () => NOW }) });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  return {
    url,
    key,
    async ask(query, body = [COMPANY]) {
      const answer = await fetch(`${url}/modules/news?${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-access-key': key },
        body: JSON.stringify(body),
      });
      return { status: answer.status, json: await answer.json() };
    },
  };
}

const idsOf = ({ json }: Answer): unknown =>
  Array.isArray(json) ? json.map((item: { uniqueId?: unknown }) => item.uniqueId) : json;
const week = [0, 1, 2, 3].map((day) =>
  storedItem(`day ${day}`, NOW + day * DAY, [COMPANY], { type: day % 2 === 0 ? 'Board' : 'Gazette' }),
);

/** What the answer says is wrong, as `path`s. */
const wrongIn = ({ json }: Answer): unknown =>
  typeof json === 'object' && json !== null && 'errors' in json && Array.isArray(json.errors)
    ? json.errors.map((error: { path?: unknown }) => error.path)
    : json;

describe('POST /modules/news', () => {
  it('answers items as the specification has them', async () => {
    const item = storedItem('a', NOW, [COMPANY, 'CVR-3-4000000001'], {
      providerData: { sourceName: 'Opdigtet Presse', url: null, nested: { kept: [1] } },
    });
    const { ask } = await fixture([item]);
    const { status, json } = await ask('', ['cvr-3-4000000001', 'CVR-1-99999999']);
    expect(status).toBe(200);
    expect(json).toEqual([
      {
        headline: 'Nyt a',
        content: '<p></p>',
        tagLine: '',
        time: '2026-03-01T00:00:00.000Z',
        promotedUntil: '2026-03-08T00:00:00.000Z',
        type: 'Information',
        provider: 'VIRK',
        providerData: { sourceName: 'Opdigtet Presse', url: null, nested: { kept: [1] } },
        url: 'https://register.example',
        imageId: null,
        storyId: 'a',
        uniqueId: 'a',
        entityIds: [
          { relatedEntityIdName: `Navn ${COMPANY}`, entityId: COMPANY, isMainId: true, inQuery: false },
          {
            relatedEntityIdName: 'Navn CVR-3-4000000001',
            entityId: 'CVR-3-4000000001',
            isMainId: false,
            inQuery: true,
          },
        ],
      },
    ]);
    expect(Array.isArray(json) && json.every((one) => Value.Check(newsItem, one))).toBe(true);
  });

  it('has pages of 30 in the default order', async () => {
    const items = Array.from({ length: 40 }, (_, at) => storedItem(`${at}`, NOW + at, [COMPANY]));
    const { ask } = await fixture(items);
    expect(idsOf(await ask(''))).toEqual(Array.from({ length: 30 }, (_, at) => `${39 - at}`));
    expect(idsOf(await ask('page=2'))).toEqual(Array.from({ length: 10 }, (_, at) => `${9 - at}`));
    expect(idsOf(await ask('page=3'))).toEqual([]);
    expect(idsOf(await ask('Limit=200&PAGE=1'))).toHaveLength(40);
  });

  it('accepts times in any zone, and an unescaped plus', async () => {
    const { ask } = await fixture(week);
    expect(idsOf(await ask('from=2026-03-03'))).toEqual(['day 3', 'day 2']);
    expect(idsOf(await ask('from=2026-03-03T01:00:00%2B01:00&to=2026-03-03T00:00:00Z'))).toEqual(['day 2']);
    expect(idsOf(await ask('to=2026-03-02T01:00:00+01:00'))).toEqual(['day 1', 'day 0']);
    expect(idsOf(await ask('from=2026-03-04&to=2026-03-02'))).toEqual([]);
    expect(idsOf(await ask('from=&to='))).toHaveLength(4);
  });

  it('accepts types as ids or names in any case, separated by commas', async () => {
    const { ask } = await fixture(week);
    for (const types of ['28', 'board', 'BOARD', '28,Board, 27', ',28,'])
      expect(idsOf(await ask(`types=${encodeURIComponent(types)}`))).toEqual(['day 2', 'day 0']);
    expect(idsOf(await ask('types=400,28'))).toHaveLength(4);
    for (const types of ['', ',']) expect(idsOf(await ask(`types=${types}`))).toHaveLength(4);
  });

  it('accepts the order in any case', async () => {
    const { ask } = await fixture([
      storedItem('long', NOW, [COMPANY]),
      storedItem('short', NOW + DAY, [COMPANY], { promotedUntil: NOW + DAY }),
    ]);
    expect(idsOf(await ask('orderBy=PublishTime'))).toEqual(['short', 'long']);
    expect(idsOf(await ask('orderby=PROMOTEDUNTIL'))).toEqual(['long', 'short']);
  });

  it.each([
    ['limit=0', 'querystring.limit'],
    ['limit=-1', 'querystring.limit'],
    ['limit=201', 'querystring.limit'],
    ['limit=1e9', 'querystring.limit'],
    ['limit=ten', 'querystring.limit'],
    ['limit=1&limit=2', 'querystring.limit'],
    ['page=0', 'querystring.page'],
    ['page=-3', 'querystring.page'],
    ['page=99999999999999999999', 'querystring.page'],
    ['limit=200&page=51', 'querystring.page'],
    ['from=yesterday', 'querystring.from'],
    ['to=2026-02-30', 'querystring.to'],
    ['types=28,Nonsense', 'querystring.types'],
    ['types=99', 'querystring.types'],
    ['orderBy=random', 'querystring.orderBy'],
  ])('refuses %s with 422 and names it', async (query, path) => {
    const { ask } = await fixture();
    const answer = await ask(query);
    expect(answer).toMatchObject({ status: 422, json: { httpStatusCode: 422, errorCode: 422 } });
    expect(wrongIn(answer)).toEqual([path]);
  });

  it('counts an empty parameter as absent, whichever it is', async () => {
    const { ask } = await fixture(week);
    const all = await ask('');
    for (const name of ['from', 'to', 'types', 'limit', 'page', 'orderBy'])
      expect([name, await ask(`${name}=`)]).toEqual([name, all]);
    expect(await ask('from=&to=&types=&limit=&page=&orderBy=')).toEqual(all);
  });

  it('lists the valid types if one is not known', async () => {
    const { ask } = await fixture();
    expect(JSON.stringify((await ask('types=Nonsense')).json)).toContain('400 Gazette');
  });

  it('pages up to 10,000 items', async () => {
    const { ask } = await fixture(week);
    expect(await ask('limit=200&page=50')).toEqual({ status: 200, json: [] });
    expect(await ask('limit=1&page=10000')).toEqual({ status: 200, json: [] });
  });

  it('names the first malformed ids and their number', async () => {
    const { ask } = await fixture();
    const answer = await ask('', [COMPANY, ...Array.from({ length: 25 }, () => 'nobody'), 'CVR-1-x', '']);
    expect(answer.status).toBe(422);
    expect(wrongIn(answer)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((at) => `body.${at}`));
    expect(JSON.stringify(answer.json)).toContain('27 ids');
  });

  it('refuses a body that is no list of texts', async () => {
    const { ask } = await fixture();
    for (const body of [{}, { ids: [COMPANY] }, COMPANY, null, 7, [7], [null], [[COMPANY]]])
      expect((await ask('', body)).status).toBe(422);
    expect(await ask('', [])).toEqual({ status: 200, json: [] });
  });

  it('answers 100,000 ids, and refuses more', async () => {
    const { ask } = await fixture(week);
    const ids = Array.from({ length: 99_999 }, (_, at) => `CVR-1-${20_000_000 + at}`);
    expect(idsOf(await ask('limit=200', [...ids, COMPANY]))).toHaveLength(4);
    const answer = await ask('', [...ids, COMPANY, 'CVR-1-10000002']);
    expect(answer.status).toBe(422);
    expect(wrongIn(answer)).toEqual(['body']);
  });

  it('refuses 100,000 wrong entries in a short answer', async () => {
    const { ask } = await fixture();
    for (const entry of [7, 'nobody']) {
      const { status, json } = await ask(
        '',
        Array.from({ length: 100_000 }, () => entry),
      );
      expect(status).toBe(422);
      expect(JSON.stringify(json).length).toBeLessThan(4_000);
    }
  });

  it('refuses a body over its limit, and other content', async () => {
    const { url, key } = await fixture();
    const post = (body: string, type: string) =>
      fetch(`${url}/modules/news?accesskey=${key}`, { method: 'POST', headers: { 'content-type': type }, body });
    expect((await post(`["${'x'.repeat(5_000_000)}"]`, 'application/json')).status).toBe(413);
    expect((await post('["CVR-1-10000001"', 'application/json')).status).toBe(400);
    expect((await post('CVR-1-10000001', 'text/plain')).status).toBe(415);
  });

  it('needs a key with the scope, before any other check', async () => {
    const { url } = await fixture();
    const answer = await fetch(`${url}/modules/news?limit=-1`, { method: 'POST', body: 'x' });
    expect(answer.status).toBe(401);
    const other = await fixture(week, ['monitoring']);
    expect((await other.ask('limit=-1')).status).toBe(403);
  });

  it('serves others while it answers 100,000 ids', async () => {
    const { url, ask } = await fixture(
      Array.from({ length: 3_000 }, (_, at) => storedItem(`${at}`, NOW, [`CVR-1-${20_000_000 + at * 30}`])),
    );
    const big = ask(
      'limit=200',
      Array.from({ length: 100_000 }, (_, at) => `CVR-1-${20_000_000 + at}`),
    );
    let served = 0;
    let done = false;
    void big.finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise<void>((resolve, reject) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end());
        socket
          .on('error', reject)
          .on('close', () => resolve())
          .resume();
      });
      served += 1;
    }
    expect((await big).status).toBe(200);
    // It pauses after each of 200 statements; without the pauses hardly anybody is served before it ends.
    expect(served).toBeGreaterThan(30);
  });
});
