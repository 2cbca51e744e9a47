/**
 * weekly-files: the first load of all companies from the weekly files of Datafordeler by the built daemon, from its start
 * to snapshots on disk: minutes, and its most memory. The files are invented, and written before.
 */
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChild } from './child.ts';
import { BUILT, inFolder, startDaemon } from './daemon.ts';
import { NO_CRM } from './flood.ts';
import { report, round } from './measure.ts';
import type { verbs as Register } from './weekly-register.ts';

const COMPANIES = Number(process.env['CVRSYNC_BENCH_COMPANIES'] ?? 900_000);
const AIM = { minutes: 15, rssMb: 300 };
/** A production unit of its own for every third company: the others share its address. */
const UNIT_EVERY = 3;
const DOCUMENTS = COMPANIES + Math.ceil(COMPANIES / UNIT_EVERY);

execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
await inFolder(async (folder) => {
  const register = openChild<typeof Register>('./weekly-register.ts');
  const served = join(folder, 'served');
  await mkdir(served);
  const { url, mb } = await register.ask('serve', { folder: served, companies: COMPANIES, unitEvery: UNIT_EVERY });
  const source = { source: 'datafordeler', apiKey: 'bench-of-weekly-files', graphqlUrl: url, filesUrl: url };
  const began = performance.now();
  const daemon = await startDaemon(folder, NO_CRM, {
    entry: BUILT,
    more: { service: { register: { ...source, files: join(folder, 'files') } } },
  });
  let [sortedMs, sortedRss] = [0, 0];
  for (let loaded = 0; loaded < DOCUMENTS; await sleep(1_000)) {
    loaded = await daemon.metric('cvrsync_register_documents_total\\{result="new"\\}');
    if (sortedMs === 0 && loaded > 0) [sortedMs, sortedRss] = [performance.now() - began, daemon.mostRss()];
  }
  const ms = performance.now() - began;
  const [rssMb, cpuSeconds] = [daemon.mostRss(), await daemon.metric('process_cpu_seconds_total')];
  await daemon.stop();
  await register.close();
  const measured = {
    ...{ companies: COMPANIES, documents: DOCUMENTS, filesMb: round(mb) },
    ...{ minutes: round(ms / 60_000, 1), minutesToSort: round(sortedMs / 60_000, 1) },
    ...{ cpuMinutes: round(cpuSeconds / 60, 1), documentsPerSecond: round((DOCUMENTS * 1_000) / ms) },
    ...{ sortRssMb: round(sortedRss), rssMb: round(rssMb) },
  };
  report('weekly-files', measured, AIM, ms < AIM.minutes * 60_000 && rssMb < AIM.rssMb);
});
