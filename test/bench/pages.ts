/**
 * pages: how long each page of the route table takes with 1,000,000 links and all that comes with them (fill.ts), on SQLite and on
 * PostgreSQL. The CRM is paused, so that none is part of what is measured. The time of the daemon's thread for a page (`cpuMs`)
 * is the same on a busy machine.
 * `CVRSYNC_BENCH_LINKS=100000` stores fewer, with ten decisions each, for a quick look; `CVRSYNC_BENCH_ENGINE=sqlite` is for one engine.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Engine } from '../../src/store/store.ts';
import { createDatabase, startPostgres } from '../support/postgres.ts';
import { filledAddresses } from './addresses.ts';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import { adminCookie, fillStore } from './fill.ts';
import { quantile, report, round } from './measure.ts';

const LINKS = Number(process.env['CVRSYNC_BENCH_LINKS'] ?? 1_000_000);
const SIZES = { links: LINKS, decisions: LINKS * 10, waiting: LINKS / 10, overrides: LINKS, monitors: 1_000 };
const ROUNDS = Number(process.env['CVRSYNC_BENCH_ROUNDS'] ?? 20);
const AIM_MS = 100;
/** Counting takes minutes on PostgreSQL. */
const QUIET_WITHIN_MS = 30 * 60_000;
/** The share of the machine's cores that is busy when nothing of the bench is at work. */
const RESTING = 0.15;
const PROVIDERS = {
  hubspot: {
    use: 'hubspot',
    accessToken: 'none',
    baseUrl: 'http://127.0.0.1:9',
    match: { property: 'cvr_number' },
  },
};

interface PageTimes {
  readonly page: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of the daemon's thread, for one request. */
  readonly cpuMs: number;
}

/**
 * Resolves when the daemon and its database rest: at its start it counts for the charts, and takes up all lanes that wait. The
 * whole machine is looked at, because PostgreSQL works in processes of its own.
 */
async function untilQuiet(): Promise<void> {
  const deadline = performance.now() + QUIET_WITHIN_MS;
  for (let before = coreTimes(), isQuiet = false; !isQuiet && performance.now() < deadline; ) {
    await sleep(5_000);
    const after = coreTimes();
    isQuiet = (after.busy - before.busy) / (after.all - before.all) < RESTING;
    before = after;
  }
}

function coreTimes(): { readonly busy: number; readonly all: number } {
  const sum = (some: readonly number[]) => some.reduce((one, other) => one + other, 0);
  const cores = cpus().map(({ times }) => times);
  const all = sum(cores.flatMap((times) => Object.values(times)));
  return { busy: all - sum(cores.map(({ idle }) => idle)), all };
}

/** Times every page on a store of its own. */
async function timePages(
  folder: string,
  url: string,
): Promise<{ pages: readonly PageTimes[]; broken: readonly string[]; filledInS: number }> {
  const register = join(folder, 'register.ndjson');
  const key = randomBytes(32);
  await writeFile(register, '');
  await settleMapping(folder, PROVIDERS, url);
  const service = { register: { source: 'file', path: register }, secretKey: key.toString('base64') };
  const start = () => startDaemon(folder, PROVIDERS, { store: url, more: { service } });
  // With its first start the connection gets its job, which has all refused links asked for again.
  await (await start()).stop();
  const began = performance.now();
  await fillStore(url, SIZES, key);
  const filledInS = round((performance.now() - began) / 1_000);
  const headers = { accept: 'text/html', cookie: await adminCookie(url) };
  const daemon = await start();
  const broken = new Set<string>();
  const ask = async (page: string): Promise<number> => {
    const asked = performance.now();
    const { statusCode, headers: answered, body } = await request(daemon.admin + page, { headers });
    await body.text();
    // What moved, or means one company, is answered with its address.
    if ((statusCode !== 200 && statusCode !== 303) || String(answered['location']).startsWith('/login'))
      broken.add(`${page} was answered with ${statusCode}`);
    return performance.now() - asked;
  };
  await untilQuiet();
  const pages: PageTimes[] = [];
  for (const page of filledAddresses(SIZES)) {
    // The first ones warm up.
    for (let at = 0; at < 3; at++) await ask(page);
    const before = daemon.threadSeconds();
    const times: number[] = [];
    for (let at = 0; at < ROUNDS; at++) times.push(await ask(page));
    const cpuMs = ((daemon.threadSeconds() - before) * 1_000) / ROUNDS;
    const timed = {
      page,
      p50Ms: round(quantile(times, 0.5)),
      p95Ms: round(quantile(times, 0.95)),
      cpuMs: round(cpuMs, 1),
    };
    process.stdout.write(`${timed.p95Ms} ms p95, ${timed.p50Ms} ms p50, ${timed.cpuMs} ms CPU: ${page}\n`);
    pages.push(timed);
  }
  await daemon.stop();
  return { pages, broken: [...broken], filledInS };
}

const on: Readonly<Record<Engine, (folder: string) => ReturnType<typeof timePages>>> = {
  sqlite: (folder) => timePages(folder, join(folder, 'cvrsync.db')),
  async postgres(folder) {
    const server = startPostgres({ durable: true });
    await server.ready;
    const timed = await timePages(folder, await createDatabase(server.url));
    await server.stop();
    return timed;
  },
};

const engines = (['sqlite', 'postgres'] as const).filter(
  (engine) => (process.env['CVRSYNC_BENCH_ENGINE'] ?? engine) === engine,
);
await inFolder(async (folder) => {
  const measured: Partial<Record<Engine, object>> = {};
  const slow: string[] = [];
  const wrong: string[] = [];
  for (const engine of engines) {
    process.stdout.write(`${engine}\n`);
    await mkdir(join(folder, engine));
    const { pages, broken, filledInS } = await on[engine](join(folder, engine));
    wrong.push(...broken.map((each) => `${engine} ${each}`));
    const slowest = pages.toSorted((a, b) => b.p95Ms - a.p95Ms);
    slow.push(...pages.filter(({ p95Ms }) => p95Ms >= AIM_MS).map(({ page, p95Ms }) => `${engine} ${page}: ${p95Ms}`));
    const cpu = pages.map(({ cpuMs }) => cpuMs);
    measured[engine] = {
      pages: pages.length,
      slowestMs: slowest[0]?.p95Ms,
      slowest: slowest[0]?.page,
      medianCpuMs: quantile(cpu, 0.5),
      mostCpuMs: Math.max(...cpu),
      filledInS,
    };
  }
  report('pages', { ...measured, over: slow, broken: wrong }, { p95Ms: AIM_MS }, slow.length + wrong.length === 0);
});
