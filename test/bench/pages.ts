/**
 * pages: how long each page of the dashboard takes with 1,000,000 links and 10,000,000 decisions, and with 1,000 monitors,
 * 1,000,000 items and as many deliveries. The CRM is paused, so that none is part of what is measured.
 * `CVRSYNC_BENCH_LINKS=100000` stores fewer, with ten decisions each, for a quick look.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import { adminCookie, FIRST, fillDecisions, fillService, MONITORS, monitorId } from './fill.ts';
import { quantile, report, round } from './measure.ts';
import { withManyLinks } from './store.ts';

const LINKS = Number(process.env['CVRSYNC_BENCH_LINKS'] ?? 1_000_000);
const ROUNDS = 40;
const AIM_MS = 100;
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };
const COMPANY = `CVR-1-${FIRST + Math.floor(LINKS / 2)}`;
const RECORD = `hubspot:${9_000_000_000 + Math.floor(LINKS / 3)}`;

const MONITOR = monitorId(MONITORS / 2);

const PAGES = [
  '/',
  '/inbox',
  '/inbox?kind=difference',
  '/inbox?kind=difference&provider=hubspot&property=phone',
  '/companies',
  '/companies?q=firma+77',
  '/companies?q=77',
  `/companies?q=${FIRST + 5}`,
  `/companies?q=${RECORD}`,
  `/companies/${COMPANY}`,
  '/backfill',
  '/backfill/hubspot',
  '/inbox?kind=match',
  '/writes',
  '/writes?provider=hubspot&property=phone',
  '/writes?rule=register',
  '/writes?property=nowhere',
  `/writes?entity=${COMPANY}`,
  '/holds',
  '/runs',
  '/connections',
  '/connections/hubspot',
  '/audit',
  '/audit?action=nothing',
  '/installation',
  '/installation/configuration',
  '/sessions',
  '/deliveries',
  '/deliveries?state=failed',
  '/deliveries?state=failing',
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

await inFolder(async (folder) => {
  const file = join(folder, 'cvrsync.db');
  const path = join(folder, 'register.ndjson');
  const key = randomBytes(32);
  await writeFile(path, '');
  await settleMapping(folder, PROVIDERS);
  const began = performance.now();
  await withManyLinks(folder, 'hubspot', LINKS, FIRST);
  fillDecisions(file, LINKS);
  await fillService(file, key, LINKS);
  const cookie = await adminCookie(file);
  const filledIn = performance.now() - began;
  const service = { register: { source: 'file', path }, secretKey: key.toString('base64') };
  const daemon = await startDaemon(folder, PROVIDERS, { more: { service } });
  const times = new Map<string, number[]>();
  for (let at = 0; at <= ROUNDS; at++)
    for (const path of PAGES) {
      const asked = performance.now();
      const { statusCode, headers, body } = await request(daemon.admin + path, {
        headers: { accept: 'text/html', cookie },
      });
      await body.text();
      // A number or record that means one company is answered with its address.
      if ((statusCode !== 200 && statusCode !== 303) || String(headers['location']).startsWith('/login'))
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
