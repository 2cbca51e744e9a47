/** A watcher in a process of its own, to be killed; its argument is a {@link Watched}. */
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { createDatafordelerSource } from '../../../src/service/register/source/datafordeler/feed/datafordeler.ts';
import { createFilesSource } from '../../../src/service/register/source/datafordeler/files/files-source.ts';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import type { RegisterSource } from '../../../src/service/register/source/source.ts';
import { markWatch, registerTasks, startWatch } from '../../../src/service/register/watch/watch.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import type { Watched } from './watch-child.ts';

const { url, start, source: watched }: Watched = JSON.parse(process.argv[2] ?? '');
const store = await openStore(url);
const began = Date.now();
const now = () => start + Date.now() - began;
const log = { info() {}, warn() {}, error: (_: object, message: string) => void process.stderr.write(`${message}\n`) };
const deps = {
  store,
  wakeUp: createWakeUp(),
  metrics: createMetrics(),
  log,
  now,
  placeType: 'Place',
  recodingGuard: true,
  beneficialOwners: true,
};

function opened(): RegisterSource {
  if ('file' in watched) return createFileSource(watched.file, { pageSize: 7 });
  const wanted = async (entities: readonly string[]) => new Set(entities);
  const settings = watched.datafordeler as { readonly graphqlUrl: string; readonly filesUrl: string };
  const options = { ...settings, requestsPerSecond: 20_000, http: openClient().http, store, now };
  const feed = createDatafordelerSource({ ...options, wanted, pageSize: 60 });
  return createFilesSource(feed, { ...options, files: watched.files, pageSize: 3 });
}

const tasks = registerTasks(deps, [{ source: opened(), pollMs: 3_600_000 }]);
await store.write((tx) => markWatch(tx, tasks, now()));
startWatch(deps, tasks);
process.stdout.write('watching\n');
