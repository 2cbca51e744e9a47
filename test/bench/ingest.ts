/**
 * ingest: webhooks that are on disk before they are answered, against a bare Fastify server that parses the same body.
 * Both in processes of their own, the load in a third; round about, so that a busy machine slows both.
 */
import type { verbs as Bare } from './bare.ts';
import { openChild } from './child.ts';
import { inFolder, startDaemon } from './daemon.ts';
import type { verbs as Load, Posted } from './load.ts';
import { median, report, round, spread } from './measure.ts';
import { drained } from './store.ts';

const ROUNDS = 5;
const SECONDS = 2.5;
const CONNECTIONS = 64;
/** More than a round can take: each event is sent once. */
const EVENTS = 40_000;
const COMPANIES = { first: 20_000_000, step: 1, count: 10_000 };
/** Nothing is linked, so nothing calls this. */
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };

const perSecond = ({ acked, ms }: Posted): number => (acked * 1_000) / ms;

await inFolder(async (folder) => {
  const load = openChild<typeof Load>('./load.ts');
  const bare = openChild<typeof Bare>('./bare.ts');
  const daemon = await startDaemon(folder, PROVIDERS);
  const origins = { bare: await bare.ask('start', undefined), ours: daemon.origin };
  const runs: { bare: Posted[]; ours: Posted[] } = { bare: [], ours: [] };
  // The first round warms both up and is not counted.
  for (let at = 0; at <= ROUNDS; at++) {
    await load.ask('prepare', { companies: COMPANIES, from: at * EVENTS, count: EVENTS });
    for (const name of ['bare', 'ours'] as const) {
      const target = { origin: origins[name], path: '/webhook' };
      const posted = await load.ask('flood', { target, connections: CONNECTIONS, seconds: SECONDS });
      if (posted.failed > 0) throw new Error(`${name}: ${posted.failed} events were not taken`);
      if (at > 0) runs[name].push(posted);
    }
    await drained(folder);
  }
  await Promise.all([load.close(), bare.close(), daemon.stop()]);
  const ratios = spread(runs.ours.map((ours, at) => perSecond(ours) / perSecond(runs.bare[at] ?? ours)));
  const measured = {
    ...ratios,
    eventsPerSecond: round(median(runs.ours.map(perSecond))),
    barePerSecond: round(median(runs.bare.map(perSecond))),
    p50Ms: round(median(runs.ours.map(({ p50 }) => p50)), 1),
    p99Ms: round(median(runs.ours.map(({ p99 }) => p99)), 1),
  };
  report('ingest', measured, { ratio: 0.5 }, ratios.ratio >= 0.5);
});
