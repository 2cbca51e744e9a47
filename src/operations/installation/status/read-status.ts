/**
 * Reads the state of the installation: what needs a person, its connections, the register, its queues, the last day.
 */
import { type Condition, conditionsOf } from '../../../alerts/conditions.ts';
import { observe } from '../../../alerts/observe.ts';
import type { Crm } from '../../../connector/crm/crm.ts';
import {
  countByKind,
  DIFFERENCE_SOURCE,
  type ReviewCount,
  SOURCES,
  totalOf,
} from '../../../connector/review/review-list.ts';
import { type Count, counts } from '../../../runtime/lanes/count-lanes.ts';
import { countUpTo } from '../../../service/delivery/deliveries.ts';
import { AHEAD, COUNT, WATCH_QUEUE } from '../../../service/register/watch/ingest-page.ts';
import type { Db, Store } from '../../../store/store.ts';
import { type ConnectionRow, readConnections } from './connections.ts';
import { readShares, type Share } from './trends.ts';

/** The halves in the configuration. */
export interface ConfiguredHalves {
  readonly connector: boolean;
  readonly service: boolean;
}

export interface SourceRow {
  readonly name: string;
  readonly dueAt: number | null;
  readonly since: number;
  readonly error: string | null;
}

export interface InstallationState {
  /** What needs a person, as an alert would say it. */
  readonly conditions: readonly Condition[];
  /** Waiting entries by kind, differences last. */
  readonly counts: readonly ReviewCount[];
  /** Waiting entries by kind, without differences. */
  readonly review: readonly ReviewCount[];
  /** Counted up to {@link MOST_COUNTED}. */
  readonly differences: number;
  readonly connections: readonly ConnectionRow[];
  readonly queues: readonly Count[];
  readonly sources: readonly SourceRow[];
  readonly shares: readonly Share[];
  /** Deliveries that wait for another attempt, counted up to {@link MOST_COUNTED}. */
  readonly failing: number;
  /** The first thing to do, while nothing is linked or read. */
  readonly first: 'link' | 'read' | undefined;
}

export interface StatusDeps {
  readonly store: Store;
  readonly crms: readonly Pick<Crm, 'name' | 'limits'>[];
  readonly halves: ConfiguredHalves;
}

/** The most to count of what needs a person. */
export const MOST_COUNTED = 1_000;
/** The entries of each kind that are read to find the oldest. */
export const MOST_LOOKED_AT = 200;
const THRESHOLDS = { reviewOver: MOST_COUNTED, registerBehindMinutes: 60 };

/** `readQueues` replaces the count of the queues, which takes long. */
export async function readState(
  { store, crms, halves }: StatusDeps,
  now: number,
  readQueues: () => Promise<readonly Count[]> = () => counts(store.db, now),
): Promise<InstallationState> {
  const { db } = store;
  const counts = await countByKind(db, now, {
    most: MOST_COUNTED + 1,
    lookedAt: MOST_LOOKED_AT,
    sources: [...SOURCES, DIFFERENCE_SOURCE],
  });
  const review = counts.filter(({ kind }) => kind !== 'difference');
  return {
    conditions: conditionsOf(
      await observe(store, now, MOST_COUNTED, totalOf(review, MOST_COUNTED + 1)),
      THRESHOLDS,
      now,
    ),
    counts,
    review,
    differences: counts.find(({ kind }) => kind === 'difference')?.count ?? 0,
    connections: await readConnections(db, crms, now),
    queues: await readQueues(),
    sources: await readSources(db),
    shares: await readShares(db, now),
    failing: await countUpTo(db, MOST_COUNTED + 1, { state: 'failing' }),
    first: await firstStep(db, halves),
  };
}

/** A connector begins with links, a service alone with companies of the register. */
async function firstStep(db: Db, { connector }: ConfiguredHalves): Promise<InstallationState['first']> {
  const link = await db.selectFrom('link').select('record_id').limit(1).executeTakeFirst();
  if (connector) return link === undefined ? 'link' : undefined;
  return (await db.selectFrom('snapshot').select('entity').limit(1).executeTakeFirst()) === undefined
    ? 'read'
    : undefined;
}

/** The sources of the service. For people, the register's own source and its later steps are one. */
export const readSources = (db: Db): Promise<readonly SourceRow[]> =>
  db
    .selectFrom('lane')
    .select(['key as name', 'due_at as dueAt', 'since', 'error'])
    .where('queue', '=', WATCH_QUEUE)
    .where('key', 'not in', [AHEAD, COUNT])
    .orderBy('key')
    .execute();

/** Conditions say the same about these, in more words. */
const IN_CONDITIONS: ReadonlySet<string> = new Set(['account', 'lane', 'mail']);

/** Review entries that are not among the conditions. */
export const waitingOf = ({ review }: Pick<InstallationState, 'review'>): readonly ReviewCount[] =>
  review.filter(({ kind }) => !IN_CONDITIONS.has(kind));

/** Conditions about single entries, which review also counts. */
const COUNTED_THERE = /^(?:failed|limit|losses|mail|review)\b/u;

/** How many things need a person. An account that is paused or does not answer counts once, whoever reports it. */
export function countThings({
  conditions,
  review,
  connections,
}: Pick<InstallationState, 'conditions' | 'review' | 'connections'>): number {
  const accounts =
    conditions.filter(({ key }) => key.startsWith('account:')).length +
    connections.filter(({ state: { kind } }) => kind === 'silent').length;
  const others = conditions.filter(({ key }) => !key.startsWith('account:') && !COUNTED_THERE.test(key));
  const countOf = (isAccount: boolean): number =>
    review.filter(({ kind }) => (kind === 'account') === isAccount).reduce((sum, { count }) => sum + count, 0);
  return others.length + Math.max(accounts, countOf(true)) + countOf(false);
}

/** Periodic tasks: they count as work only if they are due or failed. */
const RECURRING: ReadonlySet<string> = new Set([
  'alerts',
  'backup',
  'housekeeping',
  'service-housekeeping',
  'poll',
  'watch',
]);

/** The queues that have work. */
export const workOf = ({ queues }: Pick<InstallationState, 'queues'>): readonly Count[] =>
  queues.filter(({ queue, ready, leased, parked }) => !RECURRING.has(queue) || ready + leased + parked > 0);
