/**
 * first-load: register documents per second from an endpoint to snapshots on disk, against a bare loop that fetches and
 * parses the same pages. Both ask for compressed answers. The rounds alternate; each loads documents that are new. The
 * memory is that of the built daemon while it loads the same register.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChild } from './child.ts';
import { BUILT, FLAGS, inFolder, startDaemon } from './daemon.ts';
import type { verbs as Loader } from './first-loader.ts';
import { NO_CRM } from './flood.ts';
import { median, report, round, spread } from './measure.ts';
import type { verbs as Register } from './register-pages.ts';

const PAGE_SIZE = 500;
const ROUND = Number(process.env['CVRSYNC_BENCH_DOCUMENTS'] ?? 200_000) / 10;
const ROUNDS = 9;
const AIM = { ratio: 0.7, rssMb: 300 };

await inFolder(async (folder) => {
  const register = openChild<typeof Register>('./register-pages.ts');
  const bare = openChild<typeof Loader>('./first-loader.ts');
  const loader = openChild<typeof Loader>('./first-loader.ts', FLAGS);
  // The first round warms both up and is not counted.
  const { baseUrl, documentBytes } = await register.ask('serve', {
    documents: ROUND * (ROUNDS + 1),
    pageSize: PAGE_SIZE,
  });
  await loader.ask('open', join(folder, 'cvrsync.db'));
  const rounds: { ratio: number; cpuRatio: number; perSecond: number; barePerSecond: number }[] = [];
  for (let at = 0; at <= ROUNDS; at++) {
    const slice = { baseUrl, pageSize: PAGE_SIZE, from: at * ROUND, to: (at + 1) * ROUND };
    await register.ask('find', slice.to);
    const parsed = await bare.ask('bare', slice);
    const loaded = await loader.ask('load', slice);
    rounds.push({
      ratio: parsed.ms / loaded.ms,
      cpuRatio: parsed.cpuMs / loaded.cpuMs,
      perSecond: (ROUND * 1_000) / loaded.ms,
      barePerSecond: (ROUND * 1_000) / parsed.ms,
    });
  }
  await Promise.all([bare, loader].map((child) => child.close()));
  const rssMb = await memoryOfDaemon(folder, baseUrl, ROUND * (ROUNDS + 1));
  await register.close();
  const counted = rounds.slice(1);
  const ratios = spread(counted.map(({ ratio }) => ratio));
  const measured = {
    ...ratios,
    cpuRatio: round(median(counted.map(({ cpuRatio }) => cpuRatio)), 2),
    documentsPerSecond: round(median(counted.map(({ perSecond }) => perSecond))),
    parsedPerSecond: round(median(counted.map(({ barePerSecond }) => barePerSecond))),
    documents: ROUND * (ROUNDS + 1),
    documentKb: round(documentBytes / 1_000, 1),
    rssMb: round(rssMb, 1),
  };
  report('first-load', measured, AIM, ratios.ratio >= AIM.ratio && rssMb < AIM.rssMb);
});

/** The most resident memory of a daemon until it has loaded so many documents, in MB. */
async function memoryOfDaemon(folder: string, baseUrl: string, documents: number): Promise<number> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const register = { source: 'cvr', baseUrl, username: 'bench', password: 'bench', requestsPerSecond: 20 };
  const daemon = await startDaemon(folder, NO_CRM, {
    entry: BUILT,
    store: join(folder, 'daemon.db'),
    more: { service: { register } },
  });
  while ((await daemon.metric('cvrsync_register_documents_total\\{result="new"\\}')) < documents) await sleep(1_000);
  const most = daemon.mostRss();
  await daemon.stop();
  return most;
}
