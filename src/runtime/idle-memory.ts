/**
 * Memory that a burst of work took goes back to the operating system once the process has little to do. V8 keeps the
 * pages of what it collected, often for good, and is sure to give them up in a collection of last resort only.
 */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 1_000;
/** The share of time that the thread worked, below which nobody misses it for the 80 ms that the collection takes. */
const IDLE = 0.1;
/** How much larger the process is than after the last collection, so that another is worth it. */
const GROWN = 1.25;

/** Looks once a second until it is stopped. Does not keep the process alive. */
export function giveBackIdleMemory(): { stop(): void } {
  let floor = 0;
  let seen = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, seen);
    seen = now;
    if (utilization > IDLE || process.memoryUsage.rss() < floor * GROWN) return;
    collect();
    floor = process.memoryUsage.rss();
  }, LOOK_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function collect(): void {
  // The flag is for contexts that begin later, and this is one: the program's own has no `gc`.
  setFlagsFromString('--expose-gc');
  const gc: NodeJS.GCFunction | undefined = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
