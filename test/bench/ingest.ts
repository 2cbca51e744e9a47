/**
 * ingest: webhooks that are on disk before they are answered, against a bare Fastify server that parses the same body.
 * Both in processes of their own, the load in a third.
 */
import type { verbs as Bare } from './bare.ts';
import { openChild } from './child.ts';
import { inFolder, startDaemon } from './daemon.ts';
import { floodInTurns, NO_CRM, perSecond } from './flood.ts';
import { median, report, round, spread } from './measure.ts';
import { drained } from './store.ts';

const AIM = { ratio: 0.5 };

await inFolder(async (folder) => {
  const bareServer = openChild<typeof Bare>('./bare.ts');
  const daemon = await startDaemon(folder, NO_CRM);
  const origins = [await bareServer.ask('start', undefined), daemon.origin];
  const servers = origins.map((origin) => ({ origin, path: '/webhook' }));
  const [bare = [], ours = []] = await floodInTurns(servers, () => drained(folder));
  await Promise.all([bareServer.close(), daemon.stop()]);
  const ratios = spread(ours.map((one, at) => perSecond(one) / perSecond(bare[at] ?? one)));
  const measured = {
    ...ratios,
    eventsPerSecond: round(median(ours.map(perSecond))),
    barePerSecond: round(median(bare.map(perSecond))),
    p50Ms: round(median(ours.map(({ p50 }) => p50)), 1),
    p99Ms: round(median(ours.map(({ p99 }) => p99)), 1),
  };
  report('ingest', measured, AIM, ratios.ratio >= AIM.ratio);
});
