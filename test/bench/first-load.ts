/**
 * first-load: register documents per second from an endpoint to snapshots on disk, against a bare loop that fetches and
 * parses the same pages. Both ask for compressed answers. The rounds alternate; each loads documents that are new.
 */
import { join } from 'node:path';
import { openChild } from './child.ts';
import { FLAGS, inFolder } from './daemon.ts';
import type { verbs as Loader } from './first-loader.ts';
import { median, report, round } from './measure.ts';
import type { verbs as Register } from './register-pages.ts';

const PAGE_SIZE = 500;
const ROUND = Number(process.env['CVRSYNC_BENCH_DOCUMENTS'] ?? 200_000) / 10;
const ROUNDS = 9;
/** As the program sets for itself: see src/cvrsync.js. */
const DAEMON_FLAGS = [...FLAGS, '--heap-growing-percent=30'];
const AIM = { ratio: 0.7, rssMb: 150 };

await inFolder(async (folder) => {
  const register = openChild<typeof Register>('./register-pages.ts');
  const bare = openChild<typeof Loader>('./first-loader.ts');
  const loader = openChild<typeof Loader>('./first-loader.ts', DAEMON_FLAGS);
  // The first round warms both up and is not counted.
  const { baseUrl, documentBytes } = await register.ask('serve', {
    documents: ROUND * (ROUNDS + 1),
    pageSize: PAGE_SIZE,
  });
  await loader.ask('open', join(folder, 'cvrsync.db'));
  const rounds: { ratio: number; cpuRatio: number; perSecond: number; barePerSecond: number; rssMb: number }[] = [];
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
      rssMb: loaded.rssMb,
    });
  }
  await Promise.all([register, bare, loader].map((child) => child.close()));
  const counted = rounds.slice(1);
  const ratios = counted.map(({ ratio }) => ratio);
  const ratio = median(ratios);
  const rssMb = Math.max(...rounds.map((each) => each.rssMb));
  const measured = {
    ratio: round(ratio, 2),
    lowest: round(Math.min(...ratios), 2),
    highest: round(Math.max(...ratios), 2),
    cpuRatio: round(median(counted.map(({ cpuRatio }) => cpuRatio)), 2),
    documentsPerSecond: round(median(counted.map(({ perSecond }) => perSecond))),
    parsedPerSecond: round(median(counted.map(({ barePerSecond }) => barePerSecond))),
    documents: ROUND * (ROUNDS + 1),
    documentKb: round(documentBytes / 1_000, 1),
    rssMb: round(rssMb, 1),
    firstRoundRssMb: round(rounds[0]?.rssMb ?? Number.NaN, 1),
  };
  report('first-load', measured, AIM, ratio >= AIM.ratio && rssMb < AIM.rssMb);
});
