/**
 * Returns memory to the operating system after a burst of work. V8 keeps the pages that it collected, often for good,
 * and gives them up reliably only in a last-resort collection.
 */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 1_000;
/** The share of working time below which the 80 ms of the collection do not matter. */
const IDLE = 0.1;
const GROWN = 1.25;

/** Checks once a second until it is stopped. Does not keep the process alive. */
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
  // The flag takes effect in contexts created later: the program's own has no `gc`.
  setFlagsFromString('--expose-gc');
  const gc: NodeJS.GCFunction | undefined = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
