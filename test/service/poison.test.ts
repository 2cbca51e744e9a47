/** Poison that the sources offer: real processes that die of a document, a filing, a notice and a press item. */
import { expect, onTestFinished, test } from 'vitest';
import { type EmulatorAnswer, serveEmulator } from '../../providers/kit/emulator/emulator.ts';
import { resolveReview } from '../../src/connector/review/resolve.ts';
import { readReview } from '../../src/connector/review/review-list.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { INPUT_QUEUE } from '../../src/runtime/lanes/poison.ts';
import { todayAt } from '../../src/service/register/document/today.ts';
import { live } from '../support/dying.ts';
import { newStoreUrl, opened } from '../support/stores.ts';
import { life, loaded, oldCompany } from './register/watch-fixture.ts';
import { annual, instance } from './reports/instance.ts';
import { openRegister } from './reports/register.ts';

const GAZETTE_KIND = '14a1d71df21558e5ade0214f90482cdc';
const TASKS = ['cvr', 'reports', 'gazette', 'press'];

async function site(answer: (url: URL) => EmulatorAnswer): Promise<string> {
  const emulator = await serveEmulator(({ url }) => answer(url));
  onTestFinished(() => emulator.close());
  return emulator.url;
}

const pressItem = (guid: string, title: string): string =>
  `<item><title>${title}</title><guid>${guid}</guid><pubDate>${new Date().toUTCString()}</pubDate></item>`;

const feed = (): Promise<string> =>
  site(() => ({
    status: 200,
    body: `<rss version="2.0"><channel>${pressItem('1', 'Gift i pressen')}${pressItem('2', 'Godt nyt')}</channel></rss>`,
  }));

function gazette(): Promise<string> {
  const notices = [
    { messageNumber: 'S1', title: 'Gift i bladet', published: `${todayAt(Date.now())}T00:00:00`, cvr: '95023452' },
    { messageNumber: 'S2', title: 'Lind ApS', published: `${todayAt(Date.now())}T00:00:00`, cvr: '95012353' },
  ];
  return site(({ pathname, searchParams }) => {
    if (pathname === '/api/messagesearch') {
      const results = searchParams.get('m') === GAZETTE_KIND ? notices : [];
      return {
        status: 200,
        body: {
          pageCount: 1,
          results: results.map(({ cvr, ...one }) => ({
            ...one,
            sectionName: 'Konkursboer',
            summary: [{ name: 'CVR-nr.', value: cvr }],
          })),
        },
      };
    }
    const { title, cvr } = notices.find(({ messageNumber }) => pathname.endsWith(messageNumber)) ?? {};
    const fields = [
      { name: 'Navn', value: title },
      { name: 'CVR-nr.', value: cvr },
    ];
    return {
      status: 200,
      body: { title, document: JSON.stringify({ fieldgroups: [{ name: 'Skyldner(e)', fields }] }) },
    };
  });
}

async function filings(): Promise<string> {
  const register = await openRegister();
  // After watching began.
  const published = new Date(Date.now() + 60_000).toISOString();
  for (const [id, name] of [
    [1, 'Gift i regnskabet'],
    [2, 'Lind ApS'],
  ] as const) {
    register.files.set(
      `${id}.xml`,
      instance(annual({ name, cvr: String(90000007 + id), figures: { 'fsa:Assets': 5 } })),
    );
    register.publish({ id, cvr: 90000007 + id, published });
  }
  return `${register.index.url}/offentliggoerelser/`;
}

test('each source quarantines its poison after its budget, publishes the rest, and reads it again on a retry', async () => {
  const url = await newStoreUrl('sqlite');
  const store = await opened(url);
  const poison = oldCompany(1, { name: 'Gift ApS' });
  const sound = oldCompany(2);
  const offer = {
    documents: [loaded(life(poison), 0), loaded(life(sound), 0)],
    indexUrl: await filings(),
    gazetteUrl: await gazette(),
    feedUrl: await feed(),
    company: sound.entityId,
  };
  const look = () => store.write((tx) => mark(tx, 'watch', TASKS, Date.now()));
  // The first poll of the index only notes where to begin.
  await store.write((tx) => mark(tx, 'watch', ['reports'], Date.now()));
  expect((await live(url, offer)).deaths).toBe(0);

  await look();
  const { deaths, log } = await live(url, offer);
  // The first death is of all, the others of one each.
  expect(deaths, log).toBeLessThanOrEqual(1 + 3 * TASKS.length);
  const asides = async () =>
    (await readReview(store.db, Date.now())).filter(({ id }) => id.startsWith(`lane/${INPUT_QUEUE}/`));
  const aside = await asides();
  expect(aside.map(({ about }) => about.split(' ')[1]).toSorted()).toEqual(['gazette', 'press', 'register', 'report']);
  for (const { reason, verbs } of aside) {
    expect(reason).toContain('began to read it 3 times');
    expect(verbs).toEqual(['retry', 'drop']);
  }
  expect(log).toContain('an input was quarantined: see cvrsync review list');
  const known = async () =>
    (await store.db.selectFrom('snapshot').select('entity').orderBy('entity').execute()).map(({ entity }) => entity);
  expect(await known()).toEqual([sound.entityId]);
  const told = async () =>
    (await store.db.selectFrom('change').select(['id', 'kind']).execute())
      .map(({ id, kind }) => (kind === 'report' ? kind : `${kind} ${id.split(' ')[0]}`))
      .toSorted();
  expect(await told()).toEqual(['article gazette', 'article press', 'report']);

  // They are passed over without any death, until a person has them tried again.
  await look();
  expect((await live(url, offer)).deaths).toBe(0);
  for (const { id } of aside)
    expect(await store.write((tx) => resolveReview(tx, 'retry', id, Date.now()))).toMatchObject({ kind: 'done' });
  await look();
  expect((await live(url, offer, { isMended: true })).deaths).toBe(0);
  expect(await asides()).toEqual([]);
  expect(await told()).toEqual([
    'article gazette',
    'article gazette',
    'article press',
    'article press',
    'report',
    'report',
  ]);
  expect(await known()).toEqual([poison.entityId, sound.entityId].toSorted());
});
