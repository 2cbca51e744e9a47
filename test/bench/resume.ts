/**
 * resume: the share of a backfill's work that a kill costs. It is killed ten times, spread over its steps; work is a record
 * scanned, a record looked at again before it is linked, and a call to the monitoring service.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { build, NUMBER, startBackfill } from './backfiller.ts';
import { openChild } from './child.ts';
import type { verbs as Crm } from './crm.ts';
import { inFolder } from './daemon.ts';
import type { verbs as Hooks } from './hooks.ts';
import { report, round } from './measure.ts';

const RECORDS = 10_000;
const PAGE = 100;
const KILLS = 10;
const AIM = 0.01;
const LOOK_MS = 5;

build();
await inFolder(async (folder) => {
  const crm = openChild<typeof Crm>('./crm.ts');
  const service = openChild<typeof Hooks>('./hooks.ts');
  const upstream = await service.ask('start', undefined);
  const rate = { calls: 100_000, perMs: 10_000 };
  const { settings } = await crm.ask('start', {
    name: 'hubspot',
    rate,
    records: RECORDS,
    numbered: { property: NUMBER },
  });
  const start = () => startBackfill(folder, settings, [], upstream);
  /** Records of work so far, over all starts. */
  const work = async (): Promise<number> => {
    const { pages, reads } = await crm.ask('scans', undefined);
    const { posts } = await service.ask('seen', undefined);
    return (pages + reads) * PAGE + posts;
  };
  const whole = 3 * RECORDS;
  let kills = 0;
  for (let at = 1; at <= KILLS; at++) {
    const run = start();
    const over = run.ended.then(() => true);
    let isOver = false;
    while (!isOver && (await work()) < (whole * at) / (KILLS + 1))
      isOver = await Promise.race([over, sleep(LOOK_MS, false)]);
    run.kill();
    if ((await run.ended).killed) kills += 1;
  }
  const { linked } = await start().ended;
  const repeated = (await work()) - whole;
  await Promise.all([crm.close(), service.close()]);
  const share = repeated / whole / Math.max(1, kills);
  const measured = { sharePerKill: round(share, 5), repeated, kills, linked };
  report('resume', measured, { sharePerKill: AIM }, share < AIM && kills === KILLS && linked === RECORDS);
});
