/**
 * pages: how long each page of the dashboard takes with 1,000,000 links and 10,000,000 decisions, and with 1,000 monitors,
 * 1,000,000 items and as many deliveries. The CRM is paused, so that none is part of what is measured.
 * `CVRSYNC_BENCH_LINKS=100000` stores fewer, with ten decisions each, for a quick look.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { request } from 'undici';
import { createOperator } from '../../src/runtime/operators/operators.ts';
import { startSession } from '../../src/runtime/operators/sessions.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { openStore } from '../../src/store/open.ts';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import { quantile, report, round } from './measure.ts';
import { withManyLinks } from './store.ts';

const LINKS = Number(process.env['CVRSYNC_BENCH_LINKS'] ?? 1_000_000);
const DECISIONS = LINKS * 10;
const FIRST = 20_000_000;
const ROUNDS = 40;
const AIM_MS = 100;
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };
const COMPANY = `CVR-1-${FIRST + Math.floor(LINKS / 2)}`;
const RECORD = `hubspot:${9_000_000_000 + Math.floor(LINKS / 3)}`;

const MONITORS = 1_000;
/** Monitors have ids that are counted, so that SQL can name them. */
const monitorId = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
const MONITOR = monitorId(MONITORS / 2);

const PAGES = [
  '/',
  '/review',
  '/review?kind=difference',
  '/review?kind=difference&provider=hubspot&property=phone',
  '/companies',
  '/companies?q=firma+77',
  '/companies?q=77',
  `/companies?q=${FIRST + 5}`,
  `/companies?q=${RECORD}`,
  `/companies/${COMPANY}`,
  '/backfill',
  '/backfill/hubspot',
  '/match',
  '/writes',
  '/writes?provider=hubspot&property=phone',
  '/writes?rule=register',
  '/writes?property=nowhere',
  `/writes?entity=${COMPANY}`,
  '/connections',
  '/connections/hubspot',
  '/audit',
  '/audit?action=nothing',
  '/installation',
  '/sessions',
  '/deliveries',
  '/deliveries?state=failed',
  `/deliveries?monitor=${MONITOR}`,
  `/deliveries?monitor=${MONITOR}&state=failed`,
  `/deliveries?entity=${COMPANY}`,
  '/deliveries/5',
  '/monitors',
  '/monitors?name=77',
  `/monitors/${MONITOR}`,
  '/jobs',
  '/keys',
  '/register',
];

/** The decisions, a difference at each hundredth record, and what people did by hand. */
function fill(file: string): void {
  const db = new Database(file);
  const now = Date.now();
  const from = (count: number): string =>
    `with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${count})`;
  const record = `cast(9000000000 + ((n % ${LINKS}) * 7919) % ${LINKS} as text)`;
  db.exec(`begin;
    insert into fact (entity, field, value, clock, seq)
      ${from(LINKS)} select 'CVR-1-' || (${FIRST} + n), 'name', '{"scalar":"Firma ' || n || ' ApS"}', '2025-12-01T00:00:00.000Z', n from number;
    insert into history (provider, record_id, entity, at, seq, rule, outcome, lines)
      ${from(DECISIONS)} select 'hubspot', ${record}, 'CVR-1-' || (${FIRST} + n % ${LINKS}), ${now} - (${DECISIONS} - n) * 1000, n,
        case n % 4 when 0 then 'register' when 1 then 'always' when 2 then 'ours' else 'edited' end,
        case n % 4 when 3 then 'kept' else 'written' end,
        json_array(json_array(case n % 3 when 0 then 'phone' when 1 then 'name' else 'cvr_name' end, 'phone', '1' || n, '2' || n, null))
        from number;
    insert into property_state (provider, record_id, property, kept, offered, kept_at)
      ${from(LINKS / 100)} select 'hubspot', ${record}, 'phone', '"1"', '"2"', ${now} - n from number;
    insert into audit (at, actor_kind, actor, via, action, result)
      ${from(LINKS / 10)} select ${now} - (${LINKS / 10} - n) * 1000, 'user', 'ida', 'command', 'review.keep', 'done' from number;
    commit`);
  db.close();
}

/** Monitors with items, and what was told to them: nothing is due, so that nothing is posted. The session of an admin. */
async function fillService(file: string, key: Buffer): Promise<string> {
  const store = await openStore(file);
  const context = { secrets: openSecrets(key), now: Date.now() };
  const session = await store.write(async (tx) => {
    for (let at = 0; at < MONITORS; at++)
      await createMonitor(
        tx,
        { name: `Monitor ${at}`, url: 'http://127.0.0.1:9/', target: 'items' },
        { ...context, id: monitorId(at) },
      );
    await createOperator(tx, { name: 'bench', role: 'admin' }, context.now);
    return await startSession(tx, { operator: 'bench', agent: '' }, context.now);
  });
  await store.close();
  const db = new Database(file);
  const now = Date.now();
  const numbers = `with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${LINKS})`;
  const monitor = `'${monitorId(0).slice(0, -12)}' || substr('000000000000' || (n % ${MONITORS}), -12)`;
  const entity = `'CVR-1-' || (${FIRST} + n)`;
  db.exec(`begin;
    insert into item (monitor, entity, record_id, added_at)
      ${numbers} select ${monitor}, ${entity}, '', ${now} - n from number;
    insert into change (id, entity, name, kind, timestamp, updates, created_at)
      ${numbers} select 'change ' || n, ${entity}, 'Firma ' || n || ' ApS', 'register', '2026-01-01T00:00:00Z',
        '{"name":{"before":"Firma","after":"Firma ' || n || ' ApS"}}', ${now} - (${LINKS} - n) * 100 from number;
    insert into delivery (monitor, entity, change, events, state, attempts, next_at, status, error, created_at, ended_at)
      ${numbers} select ${monitor}, ${entity}, n + 1, '["name"]', case n % 100 when 0 then 'failed' else 'done' end, 1 + n % 3, 0,
        case n % 100 when 0 then 500 else 204 end, case n % 100 when 0 then 'answered 500' end,
        ${now} - (${LINKS} - n) * 100, ${now} - (${LINKS} - n) * 100 + n % 5000 from number;
    insert into attempt (delivery, at, took, number, status, fault, answer)
      select seq, created_at, 20, 1, 500, null, 'Internal Server Error' from delivery where attempts > 1;
    commit`);
  db.close();
  return session;
}

await inFolder(async (folder) => {
  const file = join(folder, 'cvrsync.db');
  const path = join(folder, 'register.ndjson');
  const key = randomBytes(32);
  await writeFile(path, '');
  await settleMapping(folder, PROVIDERS);
  const began = performance.now();
  await withManyLinks(folder, 'hubspot', LINKS, FIRST);
  fill(file);
  const headers = { accept: 'text/html', cookie: `cvrsync_session=${await fillService(file, key)}` };
  const filledIn = performance.now() - began;
  const service = { register: { source: 'file', path }, secretKey: key.toString('base64') };
  const daemon = await startDaemon(folder, PROVIDERS, { more: { service } });
  const times = new Map<string, number[]>();
  for (let at = 0; at <= ROUNDS; at++)
    for (const path of PAGES) {
      const asked = performance.now();
      const { statusCode, headers: answered, body } = await request(daemon.admin + path, { headers });
      await body.text();
      // A number or record that means one company is answered with its address.
      const isAnswered = statusCode === 200 || statusCode === 303;
      if (!isAnswered || String(answered.location).startsWith('/login'))
        throw new Error(`${path} was answered with ${statusCode}`);
      // The first round warms up.
      if (at > 0) times.set(path, [...(times.get(path) ?? []), performance.now() - asked]);
    }
  await daemon.stop();
  const timesOf = (share: number) =>
    Object.fromEntries([...times].map(([path, of]) => [path, round(quantile(of, share))]));
  const p95 = timesOf(0.95);
  const slowest = Math.max(...Object.values(p95));
  report(
    'pages',
    { p50Ms: timesOf(0.5), p95Ms: p95, slowestMs: slowest, filledInS: round(filledIn / 1_000) },
    { p95Ms: AIM_MS },
    slowest < AIM_MS,
  );
});
