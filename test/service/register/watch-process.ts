/** A watcher in a process of its own, to be killed: store URL, file of documents, the clock's start in ms. */
import { createMetrics } from '../../../src/http/metrics.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import { markWatch, registerTasks, startWatch } from '../../../src/service/register/watch/watch.ts';
import { openStore } from '../../../src/store/engines/open.ts';

const [, , url = '', file = '', start = '0'] = process.argv;
const store = await openStore(url);
const began = Date.now();
const now = () => Number(start) + Date.now() - began;
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
const tasks = registerTasks(deps, [{ source: createFileSource(file, { pageSize: 7 }), pollMs: 3_600_000 }]);
await store.write((tx) => markWatch(tx, tasks, now()));
startWatch(deps, tasks);
process.stdout.write('watching\n');
