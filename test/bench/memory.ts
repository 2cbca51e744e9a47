/**
 * memory: resident memory of the connector at rest, when it rests after 100,000 and after 200,000 events, and the most
 * there was meanwhile. Of the built program: Node's compiler for the sources would be part of it. That of a first load is
 * in `first-load`.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChild } from './child.ts';
import { BUILT, inFolder, startDaemon } from './daemon.ts';
import { NO_CRM } from './flood.ts';
import type { verbs as Load } from './load.ts';
import { report, round } from './measure.ts';
import { drained } from './store.ts';

const EVENTS = 200_000;
const PART = 25_000;
const COMPANIES = { first: 20_000_000, step: 1, count: 10_000 };
const AIM = { rssMb: 150, growthMb: 10 };
/** Long enough for what an event left behind to be given back. */
const REST_MS = 3_000;

execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
await inFolder(async (folder) => {
  const load = openChild<typeof Load>('./load.ts');
  const daemon = await startDaemon(folder, NO_CRM, { entry: BUILT });
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
  const most = daemon.mostRss();
  await Promise.all([load.close(), daemon.stop()]);
  const [half = Number.NaN, whole = Number.NaN] = after.values();
  const measured = {
    restMb: round(atRest, 1),
    after100kMb: round(half, 1),
    after200kMb: round(whole, 1),
    mostMb: round(most, 1),
  };
  report('memory', measured, AIM, whole < AIM.rssMb && whole - half < AIM.growthMb);
});
