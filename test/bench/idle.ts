/**
 * idle: from the start of the process to ready, and resident memory at rest, after 100,000 and after 200,000 events. Of the
 * built program: Node's compiler for the sources would be part of both.
 */
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChild } from './child.ts';
import { BUILT, inFolder, startDaemon } from './daemon.ts';
import type { verbs as Load } from './load.ts';
import { median, report, round } from './measure.ts';
import { drained } from './store.ts';

const STARTS = 5;
const EVENTS = 200_000;
const PART = 25_000;
const COMPANIES = { first: 20_000_000, step: 1, count: 10_000 };
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };
const AIM = { readyMs: 1_000, rssMb: 150, growthMb: 10 };
/** Long enough for what an event left behind to be given back. */
const REST_MS = 3_000;

execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
await inFolder(async (folder) => {
  const starts: number[] = [];
  for (let at = 0; at < STARTS; at++) {
    const own = join(folder, String(at));
    await mkdir(own);
    const started = await startDaemon(own, PROVIDERS, BUILT);
    starts.push(started.readyMs);
    await started.stop();
  }
  const load = openChild<typeof Load>('./load.ts');
  const daemon = await startDaemon(folder, PROVIDERS, BUILT);
  const resting = async (): Promise<number> => {
    await drained(folder);
    await sleep(REST_MS);
    return daemon.rss();
  };
  const atRest = await resting();
  const after = new Map<number, number>();
  for (let from = 0; from < EVENTS; from += PART) {
    await load.ask('prepare', { companies: COMPANIES, from, count: PART });
    const target = { origin: daemon.origin, path: '/webhook' };
    const { failed } = await load.ask('flood', { target, connections: 64 });
    if (failed > 0) throw new Error(`${failed} events were not taken`);
    if ((from + PART) % (EVENTS / 2) === 0) after.set(from + PART, await resting());
  }
  await Promise.all([load.close(), daemon.stop()]);
  const readyMs = median(starts);
  const [half = Number.NaN, whole = Number.NaN] = after.values();
  const measured = {
    readyMs: round(readyMs),
    restMb: round(atRest, 1),
    after100kMb: round(half, 1),
    after200kMb: round(whole, 1),
  };
  report('idle', measured, AIM, readyMs < AIM.readyMs && whole < AIM.rssMb && whole - half < AIM.growthMb);
});
