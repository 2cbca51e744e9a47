/**
 * Datafordeler: a million events of the feed, read page by page from the emulator, which runs in a process of its own.
 * One of a hundred companies is wanted and read whole. The memory is that of the reading process after a collection, after each tenth.
 */
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openClient } from '../../src/http/outbound/client.ts';
import { createDatafordelerSource } from '../../src/service/register/source/datafordeler/feed/datafordeler.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { openChild } from './child.ts';
import { inFolder } from './daemon.ts';
import type { Feed } from './datafordeler-feed.ts';
import { report, round } from './measure.ts';

const EVENTS = Number(process.env['CVRSYNC_BENCH_EVENTS'] ?? 1_000_000);
const EVERY = 100;
const PER_DAY = 160_000;
/** A day's events in five minutes, and no growth over the run. */
const AIM = { eventsPerSecond: PER_DAY / 300, heapGrowthMb: 5 };

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
const heapMb = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 1e6;
};

await inFolder(async (folder) => {
  const feed = openChild<Feed>('./datafordeler-feed.ts');
  const settings = await feed.ask('serve', { events: EVENTS, every: EVERY });
  const { http, close } = openClient();
  const store = await openStore(join(folder, 'cvrsync.db'));
  let requests = 0;
  const source = createDatafordelerSource({
    ...settings,
    requestsPerSecond: 100_000,
    firstEvent: 0,
    wanted: async (entities) => new Set(entities.filter((entity) => Number(entity.slice(6)) % EVERY === 0)),
    http: (request) => {
      requests++;
      return http(request);
    },
    store,
    now: Date.now,
  });
  const { signal } = new AbortController();
  const heaps: number[] = [];
  let [cursor, documents, pages, mostRss]: [string | undefined, number, number, number] = [undefined, 0, 0, 0];
  const began = performance.now();
  for (let isMore = true; isMore; pages++) {
    const page = await source.page(cursor, signal);
    documents += [...page.documents].length;
    ({ cursor, more: isMore } = page);
    mostRss = Math.max(mostRss, process.memoryUsage().rss);
    if (pages % Math.ceil(EVENTS / 10_000) === 0) heaps.push(heapMb());
  }
  const seconds = (performance.now() - began) / 1_000;
  await source.close?.();
  await store.close();
  await close();
  await feed.close();
  const [first = 0, second = first] = heaps;
  const heapGrowthMb = round((heaps.at(-1) ?? 0) - Math.max(first, second), 1);
  const measured = {
    eventsPerSecond: round(EVENTS / seconds),
    events: EVENTS,
    pages,
    requests,
    documents,
    heapGrowthMb,
    heapMb: round(heaps.at(-1) ?? 0, 1),
    rssMb: round(mostRss / 1e6),
  };
  report(
    'datafordeler',
    measured,
    AIM,
    measured.eventsPerSecond >= AIM.eventsPerSecond && heapGrowthMb <= AIM.heapGrowthMb,
  );
});
