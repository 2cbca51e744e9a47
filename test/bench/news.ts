/**
 * news: how long the news endpoint takes for 100 entities while 5,000,000 items are stored, over HTTP and with the
 * first page of the default order. `CVRSYNC_BENCH_NEWS=100000` stores fewer, for a quick look.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { request } from 'undici';
import { createServer } from '../../src/http/server/server.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { newsOf } from '../../src/service/news/wording/make.ts';
import { addNewsRoutes } from '../../src/service/routes/news.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { inFolder } from './daemon.ts';
import { quantile, report, round } from './measure.ts';

const ITEMS = Number(process.env['CVRSYNC_BENCH_NEWS'] ?? 5_000_000);
const COMPANIES = Math.max(1_000, ITEMS / 5);
/** Auditors that very many items name: whoever asks for one has a long index before them. */
const AUDITORS = 20;
const IDS = 100;
const WARMUP = 200;
const QUERIES = 2_000;
const AIM_MS = 20;

const NOW = Date.UTC(2026, 0, 1);
const FIRST = 10_000_000;
const FIRST_AUDITOR = 90_000_000;
const PROMOTED_MS = 7 * 24 * 60 * 60 * 1_000;

await inFolder(async (folder) => {
  const file = join(folder, 'cvrsync.db');
  await (await openStore(file)).close();
  const began = performance.now();
  fill(file);
  const filledIn = performance.now() - began;
  const store = await openStore(file);
  const server = createServer();
  addNewsRoutes(server, { store, access: { guard: () => async () => {} } });
  const origin = await server.listen({ host: '127.0.0.1', port: 0 });
  const random = randomFrom(1);
  const times: number[] = [];
  let items = 0;
  for (let at = 0; at < WARMUP + QUERIES; at++) {
    const ids = Array.from({ length: IDS }, () => `CVR-1-${FIRST + random.int(0, COMPANIES - 1)}`);
    if (random.chance(0.5)) ids[0] = `CVR-1-${FIRST_AUDITOR + random.int(0, AUDITORS - 1)}`;
    const asked = performance.now();
    const answer = await request(`${origin}/modules/news`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ids),
    });
    const body = await answer.body.text();
    if (at < WARMUP) continue;
    times.push(performance.now() - asked);
    const found: unknown = JSON.parse(body);
    if (answer.statusCode !== 200 || !Array.isArray(found)) throw new Error(`${answer.statusCode}: ${body}`);
    items += found.length;
  }
  await server.close();
  await store.close();
  const p99 = quantile(times, 0.99);
  const measured = {
    p50Ms: round(quantile(times, 0.5), 1),
    p99Ms: round(p99, 1),
    maxMs: round(Math.max(...times), 1),
    itemsAnAnswer: round(items / QUERIES, 1),
    stored: ITEMS,
    fillS: round(filledIn / 1_000),
  };
  report('news', measured, { p99Ms: AIM_MS }, p99 < AIM_MS && ITEMS >= 5_000_000);
});

/** Stores items without waiting for the disk: about a minute for five millions. */
function fill(file: string): void {
  const db = new Database(file);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -200000');
  const index = db.prepare(`select sql from sqlite_schema where name = 'news_entity_time'`).pluck().get();
  if (typeof index !== 'string') throw new Error('the index news_entity_time is not there');
  db.exec('drop index news_entity_time');
  const numbers = `with recursive number (n) as (select 1 union all select n + 1 from number where n < ${ITEMS})`;
  const time = `${NOW} - (${ITEMS} - n) * 19000`;
  const company = `'CVR-1-' || (${FIRST} + (n * 7919) % ${COMPANIES})`;
  db.prepare(
    `insert into news (seq, id, time, promoted_until, type, body)
     ${numbers} select n, printf('item-%020d', n), ${time}, ${time} + ${PROMOTED_MS}, 33, replace(?, 'CVR-1-10000001', ${company})
     from number`,
  ).run(sampleBody());
  // In the order of the key: at random places five millions would take an hour.
  db.exec(
    `insert into news_entity (entity, promoted_until, time, type, news)
     ${numbers} select entity, ${time} + ${PROMOTED_MS}, ${time}, 33, n from (
       select n, ${company} as entity from number
       union all
       select n, case when n % 20 = 0 then 'CVR-1-' || (${FIRST_AUDITOR} + n / 20 % ${AUDITORS})
         else 'CVR-3-' || (4000000000 + (n * 104729) % ${2 * COMPANIES}) end from number where n % 2 = 0)
     order by 1, 2, 3, 5`,
  );
  db.exec(index);
  db.close();
}

function sampleBody(): string {
  const [item] = newsOf(
    {
      id: 'sample',
      entity: 'CVR-1-10000001',
      name: 'Prøvelund Møbler A/S',
      kind: 'register',
      timestamp: new Date(NOW).toISOString(),
      updates: {
        accountant: {
          added: [{ entityId: 'CVR-1-90000001', name: 'Kladde Revision ApS', type: 'Company' }],
          removed: [{ entityId: 'CVR-1-90000002', name: 'Opdigtet Revision A/S', type: 'Company' }],
        },
      },
    },
    { baseUrl: 'https://register.example', registryProvider: 'VIRK', pressProvider: 'P', gazetteProvider: 'G' },
  );
  if (item === undefined) throw new Error('the sample change makes no news');
  const { id: _, time: __, promotedUntil: ___, type: ____, ...body } = item;
  return JSON.stringify(body);
}
