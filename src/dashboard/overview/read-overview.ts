/** What the overview shows, read from the store. */
import { type Condition, conditionsOf } from '../../alerts/conditions.ts';
import { observe } from '../../alerts/observe.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import { countDifferences } from '../../connector/history/differences.ts';
import { countByKind, type ReviewCount } from '../../connector/review/review-list.ts';
import { type Count, counts } from '../../runtime/lanes/count-lanes.ts';
import type { Db, Store } from '../../store/store.ts';
import type { CallMeter } from '../connections/call-meter.ts';
import { type ConnectionRow, readConnections } from '../connections/read-connections.ts';
import type { Halves } from '../page/layout.ts';
import { type Day, readDay } from './day.ts';
import { recently } from './recent.ts';
import { readSources, type SourceRow } from './sources.ts';

export interface Overview {
  /** What needs a person, as an alert would say it. */
  readonly conditions: readonly Condition[];
  readonly review: readonly ReviewCount[];
  /** Counted up to {@link MOST_COUNTED}. */
  readonly differences: number;
  readonly connections: readonly ConnectionRow[];
  /** Calls of the last minute, by connection. */
  readonly calls: ReadonlyMap<string, number>;
  readonly queues: readonly Count[];
  readonly sources: readonly SourceRow[];
  readonly day: Day;
  /** What is to be done first, while there is nothing to watch over. */
  readonly first: 'link' | 'read' | undefined;
}

export interface OverviewDeps {
  readonly store: Store;
  readonly meter: Pick<CallMeter, 'read'>;
  readonly crms: readonly Crm[];
  readonly now: () => number;
  readonly halves: Halves;
}

/** Things that need a person are counted no further: the page says that there are more. */
export const MOST_COUNTED = 1_000;
const THRESHOLDS = { reviewOver: MOST_COUNTED, registerBehindMinutes: 60 };

const QUEUES_EVERY_MS = 10_000;
const DAY_EVERY_MS = 30_000;

/** An installation that keeps records begins with links, one that only serves with companies of the register. */
async function firstStep(db: Db, { connector }: Halves): Promise<Overview['first']> {
  const link = await db.selectFrom('link').select('record_id').limit(1).executeTakeFirst();
  if (connector) return link === undefined ? 'link' : undefined;
  return (await db.selectFrom('snapshot').select('entity').limit(1).executeTakeFirst()) === undefined
    ? 'read'
    : undefined;
}

/** Opens what the overview reads from. */
export function openOverview({ store, meter, crms, now, halves }: OverviewDeps): () => Promise<Overview> {
  const elapsed = () => performance.now();
  const queues = recently(QUEUES_EVERY_MS, elapsed, () => counts(store.db, now()));
  const day = recently(DAY_EVERY_MS, elapsed, () => readDay(store.db, now()));
  return async () => {
    const { db } = store;
    return {
      conditions: conditionsOf(await observe(store, now(), MOST_COUNTED), THRESHOLDS, now()),
      review: await countByKind(db, now(), MOST_COUNTED + 1),
      differences: await countDifferences(db, now(), {}, MOST_COUNTED + 1),
      connections: await readConnections(db, crms, now()),
      calls: await meter.read(),
      queues: await queues(),
      sources: await readSources(db),
      day: await day(),
      first: await firstStep(db, halves),
    };
  };
}
