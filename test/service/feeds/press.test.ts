import { describe, expect, onTestFinished, test } from 'vitest';
import { type EmulatorAnswer, type EmulatorRequest, serveEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { writeState } from '../../../src/service/feeds/poll.ts';
import { type PressDeps, pollPress } from '../../../src/service/feeds/press.ts';
import { digest, keyOf } from '../../../src/service/feeds/press-state.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { articles, know, noticeDeps } from '../news/notices.ts';

const stays = new AbortController().signal;
const HOUR = 3_600_000;

interface Item {
  readonly title?: string;
  readonly link?: string;
  readonly guid?: string;
  readonly text?: string;
  readonly at?: number | null;
}

const esc = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const item = ({ title = 'Nyt', link = '', guid = link, text = '', at = Date.now() }: Item): string =>
  `<item><title>${esc(title)}</title><link>${esc(link)}</link><guid>${esc(guid)}</guid><description>${esc(text)}</description>${
    at === null ? '' : `<pubDate>${new Date(at).toUTCString()}</pubDate>`
  }</item>`;
const feedOf = (items: readonly Item[]) => `<rss version="2.0"><channel>${items.map(item).join('')}</channel></rss>`;

/** A press agency with a feed at every path, as a test fills it. */
async function agency(
  feeds: Record<string, Item[]>,
  answer?: (request: EmulatorRequest) => EmulatorAnswer | undefined,
) {
  const emulator = await serveEmulator((request) => {
    const given = answer?.(request);
    if (given !== undefined) return given;
    const items = feeds[request.url.pathname];
    return items === undefined ? { status: 404 } : { status: 200, body: feedOf(items) };
  });
  onTestFinished(() => emulator.close());
  return emulator;
}

function flowing() {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    forward(ms: number) {
      ahead += ms;
    },
  };
}

const settingsOf = (...feeds: PressDeps['settings']['feeds']): PressDeps['settings'] => ({
  feeds,
  pollSeconds: 900,
  pressProvider: 'PressAgency',
  callsPerSecond: 1_000,
});

describe.each(SUITE_ENGINES)('press releases on %s', (engine) => {
  test('contain no personal number, even if its digits are HTML entities', async () => {
    const store = await newStore(engine);
    const text = '<p>&#48;10190-1234, 0&#x31;0190&#45;1234, 01&#48;190&shy;&#49;&#50;&#x33;4</p>';
    const site = await agency({
      '/own': [{ title: 'Ring til &#48;10190-1234', link: 'https://press.example/m/1', text }],
    });
    const own = { url: `${site.url}/own`, entityId: 'CVR-1-99000022', publishers: {} };
    await pollPress(noticeDeps(store, flowing().now, settingsOf(own)), stays);
    const [found] = await articles(store);
    expect(found?.article).toMatchObject({
      headline: 'Ring til […]',
      tagline: '[…], […], […]',
      content: '<p>[…], […], […]</p>',
    });
  });

  test('become articles about the company of their feed or publisher, once, with news', async () => {
    const store = await newStore(engine);
    await know(store, 'CVR-1-99000011', 'Papirtiger Software A/S');
    const old = Date.now() - 30 * HOUR;
    const feeds: Record<string, Item[]> = {
      '/latest': [
        {
          title: 'Papirtiger <b>vokser</b>',
          link: 'https://press.example/m/1?publisherId=777&lang=da',
          text: '<p onclick="x()">Fra 5 til 9 &amp; mere. <img src=x onerror=y()><script>z()</script>Ring til 010190-1234.</p>',
        },
        { title: 'Andre', link: 'https://press.example/m/2?publisherId=888' },
        { title: 'Gammelt', link: 'https://press.example/m/3?publisherId=777', at: old },
        { title: 'Uden tid', link: 'https://press.example/m/4?publisherId=777', at: null },
        { title: ' ', link: 'https://press.example/m/5?publisherId=777' },
      ],
      '/own': [{ title: 'Fra egen side', link: 'javascript:alert(1)', guid: 'own-1' }],
    };
    const site = await agency(feeds);
    const deps = noticeDeps(
      store,
      flowing().now,
      settingsOf(
        { url: `${site.url}/latest`, publishers: { '777': 'cvr-1-99000011' } },
        { url: `${site.url}/own`, entityId: 'CVR-1-99000022', publishers: {} },
      ),
    );
    await pollPress(deps, stays);
    await pollPress(deps, stays);
    const found = await articles(store);
    expect(found.map(({ entity, name, kind, article }) => [entity, name, kind, article.headline])).toEqual([
      ['CVR-1-99000011', 'Papirtiger Software A/S', 'article', 'Papirtiger vokser'],
      ['CVR-1-99000022', 'CVR-1-99000022', 'article', 'Fra egen side'],
    ]);
    expect(found[0]?.article).toMatchObject({
      source: 'PressAgency',
      tagline: 'Fra 5 til 9 & mere. Ring til […].',
      link: 'https://press.example/m/1?publisherId=777&lang=da',
    });
    expect(found[1]?.article).toMatchObject({ link: null, tagline: null });
    // What foreign HTML may do is over before any webhook is told of it.
    expect(found[0]?.article.content).toBe('<p>Fra 5 til 9 &amp; mere. Ring til […].</p>');
    expect(await store.db.selectFrom('news').select('type').execute()).toEqual([{ type: 34 }, { type: 34 }]);
    const metrics = await deps.metrics.registry.metrics();
    for (const [result, count] of [
      ['told', 2],
      ['unmatched', 1],
      ['old', 2],
      ['unreadable', 1],
    ])
      expect(metrics).toContain(`cvrsync_articles_total{source="press",result="${result}"} ${count}`);

    // Later what bears no time is new, and what is older than the first poll's day still is not.
    feeds['/latest']?.push({ title: 'Senere', link: 'https://press.example/m/6?publisherId=777', at: null });
    feeds['/latest']?.push({ title: 'Genfundet', link: 'https://press.example/m/7?publisherId=777', at: old });
    await pollPress(deps, stays);
    expect((await articles(store)).map(({ article }) => article.headline)).toEqual([
      'Papirtiger vokser',
      'Fra egen side',
      'Senere',
    ]);
  });
});

test('an unchanged feed is not sent again', async () => {
  const store = await newStore('sqlite');
  let etag = '"1"';
  let items: Item[] = [{ title: 'Et', guid: '1' }];
  const asked: (string | undefined)[] = [];
  const modified = 'Sat, 21 Nov 2026 07:00:00 GMT';
  const site = await agency({}, ({ headers }) => {
    asked.push(`${headers['if-none-match']} ${headers['if-modified-since']}`);
    if (headers['if-none-match'] === etag) return { status: 304 };
    return { status: 200, headers: { etag, 'last-modified': modified }, body: feedOf(items) };
  });
  const deps = noticeDeps(
    store,
    flowing().now,
    settingsOf({ url: `${site.url}/f`, entityId: 'CVR-1-99000011', publishers: {} }),
  );
  await pollPress(deps, stays);
  await pollPress(deps, stays);
  await pollPress(deps, stays);
  items = [{ title: 'To', guid: '2' }, ...items];
  etag = '"2"';
  await pollPress(deps, stays);
  expect(asked).toEqual(['undefined undefined', ...Array(3).fill(`"1" ${modified}`)]);
  expect((await articles(store)).map(({ article }) => article.headline)).toEqual(['Et', 'To']);
});

test('a failing feed is retried at growing intervals, and the others are read', async () => {
  const store = await newStore('sqlite');
  const site = await agency({ '/good': [{ title: 'Godt', guid: 'g' }], '/bad': [{ title: 'Skidt', guid: 's' }] });
  const clock = flowing();
  const entityId = 'CVR-1-99000011';
  const deps = noticeDeps(
    store,
    clock.now,
    settingsOf(
      { url: `${site.url}/bad?key=hemmelig`, entityId, publishers: {} },
      { url: `${site.url}/good`, entityId, publishers: {} },
    ),
  );
  const asked = () => site.calls.filter(({ path }) => path.startsWith('/bad')).length;
  site.fault({ match: 'GET /bad', action: { kind: 'status', status: 503, headers: { 'retry-after': '600' } } });
  await pollPress(deps, stays);
  expect((await articles(store)).map(({ article }) => article.headline)).toEqual(['Godt']);
  expect(deps.warnings).toHaveLength(1);
  clock.forward(9 * 60_000);
  await pollPress(deps, stays);
  expect(asked()).toBe(0);
  clock.forward(2 * 60_000);
  site.fault({ match: 'GET /bad', action: { kind: 'status', status: 301, headers: { location: 'http://10.0.0.1/' } } });
  await pollPress(deps, stays);
  site.fault({ match: 'GET /bad', action: { kind: 'status', status: 200, body: '<rss><channel><item>' } });
  clock.forward(HOUR);
  await pollPress(deps, stays);
  expect(deps.warnings).toHaveLength(3);
  const kept = await store.db.selectFrom('kv').select('value').execute();
  expect(kept.map(({ value }) => JSON.parse(value).failures).sort()).toEqual([0, 3]);
  expect(JSON.stringify(kept)).not.toContain('hemmelig');
  clock.forward(7 * HOUR);
  await pollPress(deps, stays);
  expect((await articles(store)).map(({ article }) => article.headline)).toEqual(['Godt', 'Skidt']);
});

test('a feed larger than 4 MiB is not read', async () => {
  const store = await newStore('sqlite');
  const site = await agency({}, () => ({ status: 200, body: `<rss>${' '.repeat(5 * 1024 * 1024)}</rss>` }));
  const deps = noticeDeps(
    store,
    flowing().now,
    settingsOf({ url: `${site.url}/f`, entityId: 'CVR-1-99000011', publishers: {} }),
  );
  await pollPress(deps, stays);
  expect(deps.warnings).toHaveLength(1);
});

test('the publisher is found in query, path, guid or the address of the feed, and nowhere else', async () => {
  const store = await newStore('sqlite');
  const publishers = {
    '777': 'CVR-1-99000011',
    '888': 'CVR-1-99000022',
    '999': 'no entity',
    constructor: 'CVR-1-99000033',
  };
  const site = await agency({
    '/all': [
      { title: 'query', link: 'https://press.example/?publisherId=777', guid: '1' },
      { title: 'path', link: 'https://press.example/p/888/m', guid: '2' },
      { title: 'guid', link: 'https://press.example/m', guid: 'https://press.example/777' },
      { title: 'text 777', link: 'https://press.example/m7770', guid: '3' },
      { title: 'none', link: 'https://press.example/__proto__/toString?x=999', guid: '4' },
    ],
    '/one': [{ title: 'feed', link: 'https://press.example/m', guid: '5' }],
  });
  const deps = noticeDeps(
    store,
    flowing().now,
    settingsOf({ url: `${site.url}/all`, publishers }, { url: `${site.url}/one?publisherId=888`, publishers }),
  );
  await pollPress(deps, stays);
  const found = (await articles(store)).map(({ entity, article }) => `${article.headline} ${entity}`);
  expect(found.sort()).toEqual([
    'feed CVR-1-99000022',
    'guid CVR-1-99000011',
    'path CVR-1-99000022',
    'query CVR-1-99000011',
  ]);
});

describe('two items', () => {
  const entityId = 'CVR-1-99000011';
  /** Polls feeds again and again, as `polls` fills them; the headlines that were published, in their order. */
  async function told(...polls: readonly Record<string, Item[]>[]) {
    const store = await newStore('sqlite');
    const feeds: Record<string, Item[]> = {};
    const site = await agency(feeds);
    const paths = [...new Set(polls.flatMap((poll) => Object.keys(poll)))];
    const settings = settingsOf(...paths.map((path) => ({ url: `${site.url}${path}`, entityId, publishers: {} })));
    const deps = noticeDeps(store, flowing().now, settings);
    for (const poll of polls) {
      Object.assign(feeds, poll);
      await pollPress(deps, stays);
    }
    return (await articles(store)).map(({ article }) => article.headline).sort();
  }
  const at = Date.now() - 60_000;
  const home = 'https://press.example/';
  const a: Item = { title: 'A', link: `${home}a`, guid: '1', at };
  const b: Item = { title: 'B', link: `${home}b`, guid: '1', at: at + 1_000 };
  const c: Item = { title: 'C', link: `${home}c`, guid: '1', at: at + 2_000 };

  test('are different articles if two feeds give one guid to different items', async () => {
    expect(await told({ '/x': [a], '/y': [b] })).toEqual(['A', 'B']);
    const [x, y] = [a, b].map((item) => ({ ...item, link: '' }));
    expect(await told({ '/x': [x ?? a], '/y': [y ?? b] }, { '/x': [x ?? a], '/y': [y ?? b] })).toEqual(['A', 'B']);
  });

  test('are one article if two feeds have the same item', async () => {
    expect(await told({ '/x': [a], '/y': [a] }, { '/x': [a], '/y': [a] })).toEqual(['A']);
  });

  test.each([
    ['their links differ', [a, b, c]],
    ['their links are the same', [a, b, c].map((item) => ({ ...item, link: home }))],
    ['they have no links', [a, b, c].map((item) => ({ ...item, link: '' }))],
    ['their links are the same and they have no guids', [a, b, c].map((item) => ({ ...item, link: home, guid: '' }))],
  ])('are different articles if one feed gives one guid to different items and %s', async (_, items) => {
    const [one, two, three] = items.map((item) => [item]);
    const polls = [one, [...(two ?? []), ...(one ?? [])], items, items.slice(1), three].map((each) => ({
      '/x': each ?? [],
    }));
    expect(await told(...polls)).toEqual(['A', 'B', 'C']);
  });

  test.each([
    ['its guid', (poll: number) => ({ guid: `g${poll}` })],
    ['its guid and its time', (poll: number) => ({ guid: `g${poll}`, at: at + poll })],
    ['its guid and its link', (poll: number) => ({ guid: `g${poll}`, link: `${home}a?poll=${poll}` })],
    ['its link', (poll: number) => ({ link: `${home}a?poll=${poll}` })],
    ['its text', (poll: number) => ({ text: `Læst ${poll} gange` })],
    ['its title and its link', (poll: number) => ({ title: `A${poll || ''}`, link: `${home}a?poll=${poll}` })],
  ])('are one article if an item changes %s at each poll', async (_, change) => {
    const polls = [0, 1, 2, 3].map((poll) => ({
      '/x': [
        { ...b, guid: '2' },
        { ...a, ...change(poll) },
      ],
    }));
    expect(await told(...polls)).toEqual(['A', 'B']);
  });

  test('are one article if a feed states an item twice', async () => {
    expect(await told({ '/x': [a, a, { ...a, guid: '3' }] })).toEqual(['A']);
  });

  test('are one article if the item was known by its guid alone', async () => {
    const store = await newStore('sqlite');
    const site = await agency({ '/x': [a, b] });
    const deps = noticeDeps(store, flowing().now, settingsOf({ url: `${site.url}/x`, entityId, publishers: {} }));
    const state = { since: 0, wasRead: true, seen: [digest(`${home}a`)], failures: 0, notBefore: 0 };
    const key = keyOf(digest(`${site.url}/x`));
    await store.write((tx) => writeState(tx, key, state, Date.now()));
    const without = [a, b].map((item) => ({ ...item, guid: '' }));
    site.fault({ match: 'GET /x', action: { kind: 'status', status: 200, body: feedOf(without) } });
    await pollPress(deps, stays);
    expect((await articles(store)).map(({ article }) => article.headline)).toEqual(['B']);
  });
});
