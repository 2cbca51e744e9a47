/**
 * end-to-end: events a second from the webhook to both CRMs. 10,000 companies, each with a record in either CRM; every event
 * changes one company. The CRMs' limits are far off: what is measured is the daemon, which shares the cores with the load
 * and both emulators.
 */
import { openChild } from './child.ts';
import type { verbs as Crm, CrmName } from './crm.ts';
import { inFolder, startDaemon } from './daemon.ts';
import type { verbs as Load } from './load.ts';
import { median, report, round } from './measure.ts';
import { drained, withLinks } from './store.ts';

const ROUNDS = 5;
const LINKS = 10_000;
const FIRST = 20_000_000;
const CRMS: readonly CrmName[] = ['hubspot', 'salesforce'];
const RATE = { calls: 100_000, perMs: 10_000 };

await inFolder(async (folder) => {
  const load = openChild<typeof Load>('./load.ts');
  const crms = CRMS.map((name) => ({ name, child: openChild<typeof Crm>('./crm.ts') }));
  const providers: Record<string, object> = {};
  for (const { name, child } of crms) {
    const { settings, ids } = await child.ask('start', { name, rate: RATE, records: LINKS });
    await withLinks(folder, name, ids, FIRST);
    providers[name] = { use: name, ...settings };
  }
  const daemon = await startDaemon(folder, providers);
  const perSecond: number[] = [];
  // The first round warms up and is not counted.
  for (let at = 0; at <= ROUNDS; at++) {
    await load.ask('prepare', { companies: { first: FIRST, step: 1, count: LINKS }, from: at * LINKS, count: LINKS });
    const began = performance.timeOrigin + performance.now();
    const target = { origin: daemon.origin, path: '/webhook' };
    const { failed } = await load.ask('flood', { target, connections: 64 });
    if (failed > 0) throw new Error(`${failed} events were not taken`);
    for (const queue of ['apply', ...CRMS.map((name) => `sync:${name}`)]) await drained(folder, queue);
    const ends = await Promise.all(crms.map(({ child }) => child.ask('writes', undefined)));
    for (const writes of ends) if (writes.size !== LINKS) throw new Error(`${writes.size} of ${LINKS} were written`);
    const last = Math.max(...ends.flatMap((writes) => [...writes.values()]));
    if (at > 0) perSecond.push((LINKS * 1_000) / (last - began));
  }
  await Promise.all([load.close(), ...crms.map(({ child }) => child.close()), daemon.stop()]);
  const measured = {
    eventsPerSecond: round(median(perSecond)),
    recordsPerSecond: round(median(perSecond) * CRMS.length),
    spread: [round(Math.min(...perSecond)), round(Math.max(...perSecond))],
  };
  report('end-to-end', measured, {}, true);
});
