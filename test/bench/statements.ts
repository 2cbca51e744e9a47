/**
 * statements: the longest statement of a daemon, and the longest wait for `/live`, with 2,200,000 companies in the register's
 * half and 1,000,000 links, while it releases what the safety limit withheld, does all periodic tasks, counts its work and
 * answers every page. `CVRSYNC_BENCH_COMPANIES=220000` stores a tenth of all.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { request } from 'undici';
import { entriesBefore } from '../../src/match/index/write.ts';
import { readDocument } from '../../src/service/register/document/document.ts';
import { documentsIn } from '../../src/service/register/source/source.ts';
import { WITHHELD_KEY, WITHHELD_QUEUE } from '../../src/service/register/watch/withheld.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { filledAddresses } from './addresses.ts';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import { adminCookie, fillStore, numbersTo } from './fill.ts';
import { report, round } from './measure.ts';

const COMPANIES = Number(process.env['CVRSYNC_BENCH_COMPANIES'] ?? 2_200_000);
const LINKS = Math.round(COMPANIES / 2.2);
const WITHHELD = 2_000;
const AIM_MS = 250;
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };
const SIZES = { links: LINKS, decisions: LINKS, waiting: LINKS / 10, overrides: LINKS / 10, monitors: 1_000 };
/** Every page of the route table, and what is read besides. */
const PAGES = [...filledAddresses(SIZES), '/installation/bundle.json', '/metrics'];

/** Work that is due, matches, what a service keeps of companies: what a daemon may read whole, besides the rest. */
function fillRest(file: string, body: string): void {
  const db = new Database(file);
  const now = Date.now();
  const [before = '', after = ''] = body.split('<entity>');
  const withheld = `case when n % ${Math.ceil(COMPANIES / WITHHELD)} = 0`;
  const record = 'cast(9000000000 + n as text)';
  db.exec(`begin;
    insert into snapshot (entity, body, digest, loaded_at, withheld, updated_at)
      ${numbersTo(COMPANIES)} select 'CVR-1-' || (10000000 + n), '${before}CVR-1-' || (10000000 + n) || '${after}'
        || ${withheld} then ',"withheld":{"bodies":{}}}' else '}' end,
        'd' || n, '2026-01-01T00:00:00.000Z', ${withheld} then 1 else 0 end, ${now} from number;
    insert into match_entry (number, body)
      ${numbersTo(COMPANIES)} select 10000000 + n, '{"number":"' || (10000000 + n) || '","name":"Firma ' || n || ' ApS","successor":null}' from number;
    insert or ignore into lane (queue, key, due_at, marks, attempts, since)
      ${numbersTo(LINKS)} select 'sync:hubspot', ${record}, ${now}, 1, 0, ${now} from number;
    insert into match_result (provider, record_id, position, confidence, entity, body)
      ${numbersTo(LINKS)} select 'hubspot', ${record}, n + 1, 'likely', null, '{}' from number;
    update delivery set state = 'due', ended_at = null, next_at = ${now} + 90000000 where seq % 10 = 0;
    insert into lane (queue, key, due_at, marks, attempts, since) values ('${WITHHELD_QUEUE}', '${WITHHELD_KEY}', ${now}, 1, 0, ${now});
    commit; analyze`);
  // A daemon would copy all of it into the file at its first commit.
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Asks `/live` again and again; the longest wait in ms. */
async function watchLive(origin: string, signal: AbortSignal): Promise<number> {
  let longest = 0;
  while (!signal.aborted) {
    const asked = performance.now();
    const { body } = await request(`${origin}/live`);
    await body.text();
    longest = Math.max(longest, performance.now() - asked);
    await sleep(5);
  }
  return longest;
}

const isReleased = (file: string): boolean => {
  const db = new Database(file, { readonly: true });
  const lane = db.prepare('select 1 from lane where queue = ?').get(WITHHELD_QUEUE);
  const housekeeping = db
    .prepare(`select 1 from lane where queue like '%housekeeping' and due_at <= ? limit 1`)
    .get(Date.now());
  db.close();
  return lane === undefined && housekeeping === undefined;
};

/** A company as the watcher keeps it, its number as `<entity>`, and without its last brace. */
function snapshotText(): string {
  const samples = new URL('../service/samples/cvr-es/', import.meta.url);
  for (const name of readdirSync(samples, { recursive: true, encoding: 'utf8' }).filter((each) =>
    each.endsWith('.json'),
  ))
    for (const document of documentsIn(JSON.parse(readFileSync(new URL(name, samples), 'utf8')))) {
      const read = readDocument(document, '2026-01-01');
      if (read.kind !== 'company') continue;
      return JSON.stringify({ ...read.company, entity: '<entity>', name: 'Firma ApS' })
        .replaceAll("'", '')
        .slice(0, -1);
    }
  throw new Error('there is no sample of a company');
}

await inFolder(async (folder) => {
  const file = join(folder, 'cvrsync.db');
  const slow = join(folder, 'statements.ndjson');
  const key = randomBytes(32);
  writeFileSync(join(folder, 'register.ndjson'), '');
  await settleMapping(folder, PROVIDERS);
  const began = performance.now();
  await fillStore(file, SIZES, key);
  fillRest(file, snapshotText());
  const cookie = await adminCookie(file);
  const filledInS = round((performance.now() - began) / 1_000);

  const preload = ['--import', fileURLToPath(new URL('./slow-statements.ts', import.meta.url))];
  process.env['CVRSYNC_BENCH_NODE_FLAGS'] = preload.join(' ');
  process.env['CVRSYNC_BENCH_STATEMENTS'] = slow;
  const service = {
    register: { source: 'file', path: join(folder, 'register.ndjson') },
    secretKey: key.toString('base64'),
  };
  const daemon = await startDaemon(folder, PROVIDERS, { more: { service } });
  const over = new AbortController();
  const live = watchLive(daemon.origin, over.signal);
  for (let round = 0; round < 2; round++)
    for (const path of PAGES) {
      const { statusCode, headers, body } = await request(daemon.admin + path, {
        headers: { accept: 'text/html', cookie },
      });
      await body.text();
      if (statusCode >= 400 || String(headers['location']).startsWith('/login'))
        process.stderr.write(`${path}: ${statusCode}\n`);
    }
  const deadline = performance.now() + 300_000;
  while (!isReleased(file)) {
    if (performance.now() > deadline) throw new Error('the daemon did not release what was withheld');
    await sleep(500);
  }
  over.abort();
  const liveMs = round(await live);
  await daemon.stop();

  // What commands read beside the daemon, on the same functions.
  const store = await openStore(file);
  const asked = performance.now();
  await entriesBefore(store.db, '99999999');
  const indexWalkMs = round(performance.now() - asked);
  await store.close();

  const lines = existsSync(slow) ? readFileSync(slow, 'utf8').trim().split('\n').filter(Boolean) : [];
  const found = lines.map((line): { ms: number; sql: string } => JSON.parse(line)).toSorted((a, b) => b.ms - a.ms);
  const worst = new Map(found.toReversed().map(({ ms, sql }) => [sql.replaceAll(/\s+/gu, ' ').slice(0, 300), ms]));
  for (const [sql, ms] of [...worst].toSorted(([, a], [, b]) => b - a).slice(0, 15))
    process.stdout.write(`${ms} ms: ${sql}\n`);
  const longestMs = found[0]?.ms ?? 0;
  report(
    'statements',
    { longestMs, liveMs, indexWalkMs, companies: COMPANIES, filledInS },
    { ms: AIM_MS },
    Math.max(longestMs, liveMs) < AIM_MS,
  );
});
