/** Unfinished work on a company and its records. */
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import type { TimelineLink } from './timeline-links.ts';

/** `state`: `waiting` until `dueAt`. */
export interface TimelineLane {
  readonly queue: string;
  readonly key: string;
  readonly state: 'parked' | 'running' | 'due' | 'waiting';
  readonly dueAt: number | null;
  readonly since: number;
  readonly attempts: number;
  readonly error: string | null;
}

/** Queues of records; each connection has one of each. */
export const RECORD_QUEUES = ['sync', 'heal', 'note', 'parent'] as const;

export async function readLanes(
  db: Db,
  entity: string,
  links: readonly TimelineLink[],
  now: number,
): Promise<readonly TimelineLane[]> {
  const wanted = new Set([
    `apply ${entity}`,
    ...links.flatMap(({ provider, record }) => [
      ...RECORD_QUEUES.map((queue) => `${queue}:${provider} ${record}`),
      `monitoring ${provider}:${record}`,
    ]),
  ]);
  const lanes = [...wanted].map((lane) => [lane.slice(0, lane.indexOf(' ')), lane.slice(lane.indexOf(' ') + 1)]);
  const rows = await db
    .selectFrom('lane')
    .selectAll()
    .where('queue', 'in', each(db, [...new Set(lanes.map(([queue = '']) => queue))]))
    .where('key', 'in', each(db, [...new Set(lanes.map(([, key = '']) => key))]))
    .orderBy('queue')
    .orderBy('key')
    .execute();
  return rows
    .filter(({ queue, key }) => wanted.has(`${queue} ${key}`))
    .map(({ queue, key, due_at, lease_until, fence, since, attempts, error, parked_at }) => {
      const state =
        parked_at !== null ? 'parked' : fence !== null ? 'running' : (due_at ?? 0) <= now ? 'due' : 'waiting';
      return { queue, key, state, dueAt: lease_until ?? due_at, since, attempts, error };
    });
}
