/**
 * peers: webhooks taken in per second by cvrsync and by an n8n that is installed in the folder named, under the same load in
 * the same run. cvrsync has an event on disk before it answers; n8n answers first, and is set to keep nothing.
 */
import { openChild } from './child.ts';
import { inFolder, startDaemon } from './daemon.ts';
import type { verbs as Load, Posted } from './load.ts';
import { median, report, round, spread } from './measure.ts';
import { startN8n } from './n8n.ts';
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

const [, , installed = ''] = process.argv;
await inFolder(async (folder) => {
  const n8n = await startN8n(installed, folder);
  const load = openChild<typeof Load>('./load.ts');
  const daemon = await startDaemon(folder, PROVIDERS);
  const targets = { ours: { origin: daemon.origin, path: '/webhook' }, n8n: n8n.target };
  const runs: { ours: Posted[]; n8n: Posted[] } = { ours: [], n8n: [] };
  // The first round warms both up and is not counted.
  for (let at = 0; at <= ROUNDS; at++)
    for (const name of ['n8n', 'ours'] as const) {
      await load.ask('prepare', { companies: COMPANIES, from: at * EVENTS, count: EVENTS });
      const posted = await load.ask('flood', { target: targets[name], connections: CONNECTIONS, seconds: SECONDS });
      if (posted.failed > 0) throw new Error(`${name}: ${posted.failed} events were not taken`);
      if (at > 0) runs[name].push(posted);
      if (name === 'ours') await drained(folder);
    }
  await Promise.all([load.close(), daemon.stop(), n8n.stop()]);
  const measured = {
    ...spread(runs.ours.map((ours, at) => perSecond(ours) / perSecond(runs.n8n[at] ?? ours))),
    eventsPerSecond: round(median(runs.ours.map(perSecond))),
    n8nPerSecond: round(median(runs.n8n.map(perSecond))),
    p99Ms: round(median(runs.ours.map(({ p99 }) => p99)), 1),
    n8nP99Ms: round(median(runs.n8n.map(({ p99 }) => p99)), 1),
    n8nVersion: n8n.version,
  };
  report('peers', measured, {}, true);
});
