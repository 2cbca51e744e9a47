/**
 * telemetry: what a daemon with traces and metrics does of what one without does, from the webhook to the CRM. Daemons with a
 * store and an emulated CRM each take the same events in turns, without, with a trace of ten and with all; the receiver keeps nothing. Told by the processor's
 * time for an event, which other work on the machine changes least, and by the clock.
 */
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openChild } from './child.ts';
import type { verbs as Crm } from './crm.ts';
import { type Daemon, inFolder, startDaemon } from './daemon.ts';
import type { verbs as Load } from './load.ts';
import { median, report, round, spread } from './measure.ts';
import { drained, withLinks } from './store.ts';

const ROUNDS = 7;
const NAMES = ['off', 'tenth', 'all'] as const;
const LINKS = 4_000;
const FIRST = 20_000_000;
const NAME = 'hubspot';
const RATE = { calls: 100_000, perMs: 10_000 };
const AIM = { ratio: 0.95 };

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});

await inFolder(async (folder) => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const load = openChild<typeof Load>('./load.ts');
  const started = async (name: string, more: object) => startSide(join(folder, name), more);
  const sides = {
    off: await started('off', {}),
    tenth: await started('tenth', { telemetry: { endpoint } }),
    all: await started('all', { telemetry: { endpoint, sampleRatio: 1 } }),
  };
  const cpu: Record<'tenth' | 'all', number[]> = { tenth: [], all: [] };
  const clock: Record<'tenth' | 'all', number[]> = { tenth: [], all: [] };
  // The first round warms all up and is not counted.
  for (let at = 0; at <= ROUNDS; at++) {
    const used: Partial<Record<keyof typeof sides, Awaited<ReturnType<typeof timed>>>> = {};
    // In another order each time: what drifts falls on all of them.
    for (const name of NAMES.map((_, place) => NAMES[(place + at) % NAMES.length] ?? 'off'))
      used[name] = await timed(sides[name], load, at);
    const { off: without, tenth, all } = used;
    if (at === 0 || without === undefined || tenth === undefined || all === undefined) continue;
    for (const [name, one] of [['tenth', tenth] as const, ['all', all] as const]) {
      cpu[name].push(without.cpuSeconds / one.cpuSeconds);
      clock[name].push(without.ms / one.ms);
    }
  }
  for (const { daemon, crm } of Object.values(sides)) {
    await daemon.stop();
    await crm.close();
  }
  await load.close();
  receiver.close();
  receiver.closeAllConnections();
  const ratios = spread(cpu.tenth);
  const measured = {
    ...ratios,
    clockRatio: round(median(clock.tenth), 3),
    allTraces: { ratio: round(median(cpu.all), 3), clockRatio: round(median(clock.all), 3) },
    eventsPerRound: LINKS,
  };
  report('telemetry', measured, AIM, ratios.ratio >= AIM.ratio);
});

interface Side {
  readonly folder: string;
  readonly daemon: Daemon;
  readonly crm: ReturnType<typeof openChild<typeof Crm>>;
}

async function startSide(folder: string, more: object): Promise<Side> {
  await mkdir(folder);
  const crm = openChild<typeof Crm>('./crm.ts');
  const { settings, ids } = await crm.ask('start', { name: NAME, rate: RATE, records: LINKS });
  await withLinks(folder, NAME, ids, FIRST);
  const daemon = await startDaemon(folder, { [NAME]: { use: NAME, ...settings } }, { more });
  return { folder, daemon, crm };
}

/** Sends an event for each link, and waits until all records have it. */
async function timed({ folder, daemon }: Side, load: ReturnType<typeof openChild<typeof Load>>, at: number) {
  await load.ask('prepare', { companies: { first: FIRST, step: 1, count: LINKS }, from: at * LINKS, count: LINKS });
  const before = await daemon.metric('process_cpu_seconds_total');
  const began = performance.now();
  const { failed } = await load.ask('flood', { target: { origin: daemon.origin, path: '/webhook' }, connections: 16 });
  if (failed > 0) throw new Error(`${failed} events were not taken`);
  for (const queue of ['apply', `sync:${NAME}`]) await drained(folder, queue);
  const ms = performance.now() - began;
  return { ms, cpuSeconds: (await daemon.metric('process_cpu_seconds_total')) - before };
}
