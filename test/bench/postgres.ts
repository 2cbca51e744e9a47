/**
 * `postgres`: events taken in and applied per second by one daemon and by two on one PostgreSQL, against one on SQLite. The
 * server waits for the disk, as in production, and shares the cores with the daemons and the load.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { createDatabase, startPostgres } from '../support/postgres.ts';
import { openChild } from './child.ts';
import { type Daemon, inFolder, startDaemon } from './daemon.ts';
import { NO_CRM } from './flood.ts';
import type { verbs as Load } from './load.ts';
import { median, report, round } from './measure.ts';
import { drained } from './store.ts';

const ROUNDS = 5;
const EVENTS = 10_000;
const COMPANIES = { first: 20_000_000, step: 1, count: 10_000 };
const AIM = { twoOverOne: 1 };

interface Setup {
  readonly daemons: readonly Daemon[];
  drained(): Promise<void>;
}

/** Resolves when all that was accepted is applied, as another process sees it. */
async function drainedPostgres(url: string): Promise<void> {
  const store = await openStore(url, { migrate: false });
  const lane = store.db.selectFrom('lane').select('key').where('queue', '=', 'apply').limit(1);
  while ((await hasArrivals(store.db)) || (await lane.executeTakeFirst()) !== undefined) await sleep(10);
  await store.close();
}

const median2 = (values: readonly (readonly [number, number])[]): readonly [number, number] => [
  median(values.map(([taken]) => taken)),
  median(values.map(([, applied]) => applied)),
];

await inFolder(async (folder) => {
  const server = startPostgres({ durable: true });
  await server.ready;
  const urls = [await createDatabase(server.url), await createDatabase(server.url)];
  const [one = '', two = ''] = urls;
  const onPostgres = async (url: string, count: number): Promise<Setup> => {
    const daemons: Daemon[] = [];
    for (let at = 0; at < count; at++) daemons.push(await startDaemon(folder, NO_CRM, { store: url }));
    return { daemons, drained: () => drainedPostgres(url) };
  };
  const setups: Readonly<Record<string, Setup>> = {
    sqlite: { daemons: [await startDaemon(folder, NO_CRM)], drained: () => drained(folder) },
    one: await onPostgres(one, 1),
    two: await onPostgres(two, 2),
  };
  const loads = [openChild<typeof Load>('./load.ts'), openChild<typeof Load>('./load.ts')];
  const runs = new Map<string, (readonly [number, number])[]>(Object.keys(setups).map((name) => [name, []]));
  // The first round warms up and is not counted.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, { daemons, drained: settled }] of Object.entries(setups)) {
      const count = EVENTS / daemons.length;
      const began = performance.now();
      const posts = daemons.map(async ({ origin }, at) => {
        const load = loads[at];
        if (load === undefined) throw new Error('a load for each daemon');
        await load.ask('prepare', { companies: COMPANIES, from: round * EVENTS + at * count, count });
        const target = { origin, path: '/webhook' };
        return load.ask('flood', { target, connections: 64 / daemons.length });
      });
      const posted = await Promise.all(posts);
      const failed = posted.reduce((sum, each) => sum + each.failed, 0);
      if (failed > 0) throw new Error(`${name}: ${failed} events were not taken`);
      const takenMs = Math.max(...posted.map(({ ms }) => ms));
      await settled();
      if (round > 0) runs.get(name)?.push([(EVENTS * 1_000) / takenMs, (EVENTS * 1_000) / (performance.now() - began)]);
    }
  for (const { daemons } of Object.values(setups)) for (const daemon of daemons) await daemon.stop();
  await Promise.all(loads.map((load) => load.close()));
  await server.stop();
  const of = (name: string) => median2(runs.get(name) ?? []);
  const [sqlite, first, both] = [of('sqlite'), of('one'), of('two')];
  const twoOverOne = both[1] / first[1];
  const measured = {
    twoOverOne: round(twoOverOne, 2),
    oneOverSqlite: round(first[1] / sqlite[1], 2),
    takenPerSecond: { sqlite: round(sqlite[0]), one: round(first[0]), two: round(both[0]) },
    appliedPerSecond: { sqlite: round(sqlite[1]), one: round(first[1]), two: round(both[1]) },
  };
  report('postgres', measured, AIM, twoOverOne >= AIM.twoOverOne);
});
