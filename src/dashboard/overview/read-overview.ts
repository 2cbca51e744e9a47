/** What the overview shows, read from the store. */
import {
  type InstallationState,
  readState,
  type StatusDeps,
  slowFigures,
} from '../../operations/status/read-status.ts';
import type { CallMeter } from '../connections/call-meter.ts';
import { recently } from './recent.ts';

export interface Overview extends InstallationState {
  /** Calls of the last minute, by connection. */
  readonly calls: ReadonlyMap<string, number>;
}

export interface OverviewDeps extends StatusDeps {
  readonly meter: Pick<CallMeter, 'read'>;
  readonly now: () => number;
}

const QUEUES_EVERY_MS = 10_000;
const DAY_EVERY_MS = 30_000;

/** Opens what the overview reads from. */
export function openOverview({ meter, now, ...deps }: OverviewDeps): () => Promise<Overview> {
  const elapsed = () => performance.now();
  const { queues, day } = slowFigures(deps.store, now);
  const slow = {
    queues: recently(QUEUES_EVERY_MS, elapsed, queues),
    day: recently(DAY_EVERY_MS, elapsed, day),
  };
  return async () => ({ ...(await readState(deps, now(), slow)), calls: await meter.read() });
}
