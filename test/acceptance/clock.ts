/** The time of the daemons, which may run faster than that of this machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

export interface Clock {
  readonly scale: number;
  /** Ms since 1970, in the time of the daemons. */
  now(): number;
  /** Waits for so many ms of that time. */
  pass(ms: number): Promise<void>;
  /** What gives a process this time; nothing if it is that of the machine. */
  readonly environment: Readonly<Record<string, string>>;
}

const PRELOAD = pathToFileURL(`${import.meta.dirname}/fast-clock.mjs`).href;

export function startClock(scale: number): Clock {
  const start = Date.now();
  return {
    scale,
    now: () => start + Math.round((Date.now() - start) * scale),
    pass: (ms) => sleep(ms / scale),
    environment:
      scale === 1
        ? {}
        : {
            NODE_OPTIONS: `--import=${PRELOAD}`,
            CVRSYNC_CLOCK_SCALE: String(scale),
            CVRSYNC_CLOCK_START: String(start),
          },
  };
}
