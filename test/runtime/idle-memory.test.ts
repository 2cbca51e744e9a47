/** Memory of a burst of work is released when the process rests: of a real process, as the system measures it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/**
 * Takes some 100 MB and lets go of them; works on for three seconds; rests until it is given back, and for three seconds
 * more. Prints whether it had all of it at the end of the work, and how often V8 collected in the end.
 */
const BURST = `
  import { PerformanceObserver, performance, constants } from 'node:perf_hooks';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { giveBackIdleMemory } from '${new URL('../../src/runtime/idle-memory.ts', import.meta.url)}';
  let kept = Array.from({ length: 1_000_000 }, (_, at) => ({ text: 'x' + at, list: [at] }));
  const most = process.memoryUsage.rss();
  kept = undefined;
  const memory = giveBackIdleMemory();
  for (const end = performance.now() + 3_000; performance.now() < end; ) {
    for (const pause = performance.now() + 50; performance.now() < pause; );
    await new Promise((resolve) => setImmediate(resolve));
  }
  const hadAll = process.memoryUsage.rss() > most * 0.9;
  while (process.memoryUsage.rss() > most / 3 + 30e6) await sleep(100);
  await sleep(200);
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    const { length } = list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    collections += length;
  });
  observer.observe({ entryTypes: ['gc'] });
  await sleep(3_000);
  memory.stop();
  console.log(JSON.stringify({ hadAll, collections }));
`;

test('memory of a burst is released when the process rests, not while it works, and again only after growth', async () => {
  // V8 reduces the memory of some idle processes by itself, late.
  const args = ['--no-memory-reducer', '--input-type=module', '--eval', BURST];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  expect(JSON.parse(stdout)).toEqual({ hadAll: true, collections: 0 });
}, 70_000);
