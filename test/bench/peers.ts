/**
 * peers: webhooks taken in per second by cvrsync and by an n8n that is installed in the folder named, under the same load in
 * the same run. cvrsync has an event on disk before it answers; n8n answers first, and is set to keep nothing.
 */
import { inFolder, startDaemon } from './daemon.ts';
import { floodInTurns, NO_CRM, perSecond } from './flood.ts';
import { median, report, round, spread } from './measure.ts';
import { startN8n } from './n8n.ts';
import { drained } from './store.ts';

const [, , installed = ''] = process.argv;
await inFolder(async (folder) => {
  const peer = await startN8n(installed, folder);
  const daemon = await startDaemon(folder, NO_CRM);
  const servers = [peer.target, { origin: daemon.origin, path: '/webhook' }];
  const [n8n = [], ours = []] = await floodInTurns(servers, () => drained(folder));
  await Promise.all([daemon.stop(), peer.stop()]);
  const measured = {
    ...spread(ours.map((one, at) => perSecond(one) / perSecond(n8n[at] ?? one))),
    eventsPerSecond: round(median(ours.map(perSecond))),
    n8nPerSecond: round(median(n8n.map(perSecond))),
    p99Ms: round(median(ours.map(({ p99 }) => p99)), 1),
    n8nP99Ms: round(median(n8n.map(({ p99 }) => p99)), 1),
    n8nVersion: peer.version,
  };
  report('peers', measured, {}, true);
});
