import {
  type InstallationState,
  readState,
  type StatusDeps,
} from '../../operations/installation/status/read-status.ts';
import { readTrends, type Trends } from '../../operations/installation/status/trends.ts';
import type { ChartSpan } from '../../runtime/activity/activity.ts';
import { counts } from '../../runtime/lanes/count-lanes.ts';
import type { CallMeter } from '../connections/call-meter.ts';
import { recently } from './recent.ts';

export interface Overview extends InstallationState {
  /** Calls of the last minute, by connection. */
  readonly calls: ReadonlyMap<string, number>;
  readonly trends: Trends;
}

export interface OverviewDeps extends StatusDeps {
  readonly meter: Pick<CallMeter, 'read'>;
  readonly now: () => number;
}

const QUEUES_EVERY_MS = 10_000;

export function openOverview({ meter, now, ...deps }: OverviewDeps): (span: ChartSpan) => Promise<Overview> {
  const { db } = deps.store;
  const queues = recently(
    QUEUES_EVERY_MS,
    () => performance.now(),
    () => counts(db, now()),
  );
  return async (span) => {
    const state = await readState(deps, now(), queues);
    return {
      ...state,
      calls: await meter.read(),
      trends: await readTrends(db, span, now()),
    };
  };
}
