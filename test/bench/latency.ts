/**
 * latency: from the moment a webhook is sent to the moment the CRM has the record updated, at 50 events a second and
 * far from any rate limit. The emulated CRM's own time for the two calls, reading and writing, is taken off. A process
 * that has just started runs code that is not compiled yet: its first events are told apart, and are not the figure.
 */
import { openChild } from './child.ts';
import type { verbs as Crm } from './crm.ts';
import { inFolder, startDaemon } from './daemon.ts';
import type { verbs as Load } from './load.ts';
import { quantile, report, round } from './measure.ts';
import { drained, withLinks } from './store.ts';

const PER_SECOND = 50;
const COLD = 500;
const EVENTS = 500;
const FIRST = 20_000_000;
const NAME = 'hubspot';
const RATE = { calls: 10_000, perMs: 10_000 };
const AIM_MS = 60;

await inFolder(async (folder) => {
  const load = openChild<typeof Load>('./load.ts');
  const crm = openChild<typeof Crm>('./crm.ts');
  const { settings, ids } = await crm.ask('start', { name: NAME, rate: RATE, records: COLD + EVENTS });
  await withLinks(folder, NAME, ids, FIRST);
  const daemon = await startDaemon(folder, { [NAME]: { use: NAME, ...settings } });
  const drip = async (from: number, count: number) => {
    // Each company has one event, so that its record's last write is that event's.
    await load.ask('prepare', { companies: { first: FIRST, step: 1, count: COLD + EVENTS }, from, count });
    return load.ask('drip', { target: { origin: daemon.origin, path: '/webhook' }, perSecond: PER_SECOND });
  };
  const first = await drip(0, COLD);
  const sent = await drip(COLD, EVENTS);
  await drained(folder);
  await drained(folder, `sync:${NAME}`);
  const writes = await crm.ask('writes', undefined);
  const { ownMs } = await crm.ask('calls', undefined);
  await Promise.all([load.close(), crm.close(), daemon.stop()]);
  const timesOf = (posted: typeof sent): readonly number[] => {
    const written = (entity: string) => writes.get(ids[Number(entity.slice(6)) - FIRST] ?? '') ?? Number.NaN;
    const times = [...posted].map(([entity, at]) => written(entity) - at - 2 * ownMs);
    if (times.some(Number.isNaN)) throw new Error(`${times.filter(Number.isNaN).length} records were not updated`);
    return times;
  };
  const [cold, times] = [timesOf(first), timesOf(sent)];
  const p99 = quantile(times, 0.99);
  const measured = {
    p50Ms: round(quantile(times, 0.5), 1),
    p99Ms: round(p99, 1),
    maxMs: round(Math.max(...times), 1),
    coldP50Ms: round(quantile(cold, 0.5), 1),
    coldP99Ms: round(quantile(cold, 0.99), 1),
    crmMs: round(ownMs, 2),
    events: times.length,
  };
  report('latency', measured, { p99Ms: AIM_MS }, p99 < AIM_MS);
});
