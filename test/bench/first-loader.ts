/** One side of the bench of the first load, in a process of its own: the watcher on a store, or a bare loop that fetches and parses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { withPageAhead } from '../../src/service/register/source/page-ahead.ts';
import { markWatch, registerTasks, startWatch } from '../../src/service/register/watch/watch.ts';
import { openSource } from '../../src/service/sources.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { answerWith } from './child.ts';

const USER = { username: 'bench', password: 'bench' };
/** Hardly any: a new round begins where the register had nothing more. */
const POLL_SECONDS = 0.01;

interface Slice {
  readonly baseUrl: string;
  readonly pageSize: number;
  /** Documents read before, and after. */
  readonly from: number;
  readonly to: number;
}

const complain = (_: object, message: string) => void process.stderr.write(`${message}\n`);
const log = { info: () => {}, warn: complain, error: complain };

/** Ms of the work, and what the process used of the processors. */
async function timed(work: () => Promise<void>) {
  const [began, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { ms: performance.now() - began, cpuMs: (user + system) / 1_000 };
}

/** Fetches and parses the pages, each after the one before, and keeps nothing. */
async function fetchAndParse({ baseUrl, pageSize, from, to }: Slice): Promise<void> {
  let after: unknown = [0, '0'];
  if (from > 0) after = [Date.UTC(2020, 0, 1) + (from - 1) * 1_000, String(10_000_000 + from - 1)];
  for (let read = from; read < to; ) {
    const response = await fetch(`${baseUrl}/cvr-permanent/virksomhed/_search`, {
      method: 'POST',
      headers: { 'accept-encoding': 'gzip', 'content-type': 'application/json' },
      body: JSON.stringify({ size: pageSize, search_after: after }),
    });
    const { hits } = JSON.parse(await response.text()).hits;
    read += hits.length;
    after = hits.at(-1).sort;
  }
}

/** Loads what the register has found since, as the service does. */
async function load(store: Awaited<ReturnType<typeof openStore>>, { baseUrl, pageSize, to, from }: Slice) {
  const now = Date.now;
  const client = openClient();
  const metrics = createMetrics();
  const deps = { store, wakeUp: createWakeUp(), now, metrics, log, placeType: 'Place', recodingGuard: true };
  const settings = {
    source: 'cvr',
    baseUrl,
    ...USER,
    pageSize,
    requestsPerSecond: 1_000,
    pollSeconds: POLL_SECONDS,
  } as const;
  const source = openSource(settings, { store, http: client.http, now });
  const tasks = registerTasks(deps, [{ source: withPageAhead(source), pollMs: POLL_SECONDS * 1_000 }]);
  const stored = async () => {
    const { values } = await metrics.documents.get();
    return values.reduce((sum, { labels, value }) => sum + (labels.result === 'new' ? value : 0), 0);
  };
  await store.write((tx) => markWatch(tx, tasks, now()));
  const worker = startWatch(deps, tasks);
  while ((await stored()) < to - from) await sleep(5);
  await worker.stop(10_000);
  await source.close?.();
  await client.close();
}

let store: Awaited<ReturnType<typeof openStore>> | undefined;

export const verbs = {
  open: async (url: string) => {
    store = await openStore(url);
  },
  bare: (slice: Slice) => timed(() => fetchAndParse(slice)),
  load: (slice: Slice) =>
    timed(async () => {
      if (store === undefined) throw new Error('the store is not open');
      await load(store, slice);
    }),
};

answerWith(verbs);
