/** Loads weekly files into a store, as the service does, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { DATAFORDELER_FAMILIES } from '../../src/service/register/source/datafordeler/families.ts';
import { openFileAccess } from '../../src/service/register/source/datafordeler/files/download.ts';
import { withFirstLoad } from '../../src/service/register/source/datafordeler/files/first-load.ts';
import type { RegisterSource } from '../../src/service/register/source/source.ts';
import { markWatch, registerTasks } from '../../src/service/register/watch/watch.ts';
import { cursorKey } from '../../src/service/register/watch/watch-page.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { readValue } from '../../src/store/kv.ts';
import { answerWith } from './child.ts';

const say = (details: object, message: string) => void process.stderr.write(`${message}: ${inspect(details)}\n`);
const log = { info: () => {}, warn: say, error: say };

/** The feed has nothing: the bench ends where the files do. */
const FEED: RegisterSource = {
  ...{ name: 'datafordeler', origin: 'datafordeler', families: DATAFORDELER_FAMILIES },
  page: async (cursor = '') => ({ documents: [], cursor, more: false }),
  parts: (cursor): ReturnType<NonNullable<RegisterSource['parts']>> =>
    cursor === 'the feed' ? { changes: { readAt: 0, loadedUntil: 0, more: false } } : {},
};

export const verbs = {
  async load({ url, folder, store: path }: { readonly url: string; readonly folder: string; readonly store: string }) {
    const now = Date.now;
    const { http, close } = openClient();
    const store = await openStore(path);
    const access = openFileAccess(url, { http, sign: async (address) => ({ url: address, headers: {} }) });
    const source = withFirstLoad(FEED, { access, folder, feedFrom: async () => 'the feed', now });
    const metrics = createMetrics();
    const deps = { store, wakeUp: createWakeUp(), now, metrics, log, placeType: 'Place', recodingGuard: true };
    const tasks = registerTasks(deps, [{ source, pollMs: 3_600_000 }]);
    const began = performance.now();
    let sortedMs = 0;
    await store.write((tx) => markWatch(tx, tasks, now()));
    for (;;) {
      const [held] = await claim(store, 'watch', { limit: 1, now: now(), leaseMs: 600_000, keys: [source.name] });
      if (held === undefined) {
        if ((await readValue(store.db, cursorKey(source))) === 'the feed') break;
        // A transfer broke: the lane waits.
        await sleep(200);
        continue;
      }
      const page = metrics.documents.get();
      await tasks[source.name]?.(held, new AbortController().signal);
      if (sortedMs === 0 && (await page).values.length === 0 && (await metrics.documents.get()).values.length > 0)
        sortedMs = performance.now() - began;
    }
    const ms = performance.now() - began;
    const { values } = await metrics.documents.get();
    const { user, system } = process.cpuUsage();
    await store.close();
    await close();
    return {
      ...{ ms, sortedMs, cpuMs: (user + system) / 1_000, rssMb: process.resourceUsage().maxRSS / 1_024 },
      documents: values.reduce((sum, { value }) => sum + value, 0),
    };
  },
};

answerWith(verbs);
