/** Gauges of what the store holds, measured when they are read. A gauge without a current value is not exported. */
import { Gauge, type Registry } from 'prom-client';

/** Measuring counts all waiting work, so it runs at most this often. */
const MEASURE_EVERY_MS = 10_000;
/** How long a read waits for a slow store; Prometheus gives a scrape 10 s. */
const PATIENCE_MS = 3_000;
const STALE_MS = 60_000;

export interface Gauges {
  gauge<L extends string>(name: string, help: string, labelNames?: readonly L[]): Gauge<L>;
  /**
   * Runs `work` before the gauges are read; `work` sets the values it knows. If it fails, all gauges keep their values
   * for a minute. `elapsed`: a monotonic clock.
   */
  measureBy(work: () => Promise<void>, elapsed?: () => number): void;
}

export function createGauges(registry: Registry): Gauges {
  const clears: (() => void)[] = [];
  let read = async (): Promise<void> => {};
  return {
    gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
      const made = new Gauge({ name, help, labelNames, registers: [registry], collect: () => read() });
      const clear = (): void => {
        made.reset();
        // A reset gauge without labels would export 0.
        if (labelNames.length === 0) made.remove();
      };
      clear();
      clears.push(clear);
      return made;
    },
    measureBy(work, elapsed = () => performance.now()) {
      let isRunning = false;
      let startedAt = Number.NEGATIVE_INFINITY;
      let knownAt = elapsed();
      let measured: Promise<void> = Promise.resolve();
      const measure = async (): Promise<void> => {
        isRunning = true;
        startedAt = elapsed();
        try {
          await work();
          knownAt = elapsed();
        } catch {
          // An outage of the store must not hide the other metrics; `cvrsync_store_up` reports it.
        } finally {
          isRunning = false;
        }
      };
      read = async () => {
        if (!isRunning && elapsed() - startedAt >= MEASURE_EVERY_MS) measured = measure();
        await within(PATIENCE_MS, measured);
        if (elapsed() - knownAt > STALE_MS) for (const clear of clears) clear();
      };
    },
  };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms).unref();
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
