/** Differences between the three lists: one query for each kind, and its repair. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../store/store.ts';
import { linkKey } from '../names/queues.ts';

/** The stored lists, and what to exclude. */
export interface ReconcileScope {
  readonly provider: string;
  /** Excludes links changed at this time or later: they are younger than the lists. */
  readonly before: number;
  readonly autoLink: boolean;
  /** A backfill is running: unlinked records are its work. */
  readonly backfilling: boolean;
}

/**
 * `heal`: the record is read and its link follows; `add` and `remove`: the link's desired state is sent to the service
 * again; `delete`: the service drops an item without a link; `person`: an operator decides.
 */
export type Repair = 'heal' | 'add' | 'remove' | 'delete' | 'person';

/** `entity`: of the link, otherwise of the item; `other`: the contradicting value. */
export interface ReconcileDifference {
  readonly record: string;
  readonly entity: string;
  readonly other: string | null;
}

/** Lists that no conclusion is drawn from if they are implausible. */
export type ReconcileBasis = 'records' | 'numbers' | 'items' | 'deletions';

interface DifferenceSpec {
  readonly about: string;
  readonly repair: Repair;
  readonly service?: true;
  /** The lists behind the conclusion, besides the links. */
  readonly grounds: readonly ReconcileBasis[];
  say(difference: ReconcileDifference, provider: string): string;
  /** Selects `record`, `entity` and `other`; undefined if the kind cannot occur. */
  query(scope: ReconcileScope): RawBuilder<unknown> | undefined;
}

const scan = (record: string, { provider }: ReconcileScope) => sql`from scan c where c.provider = ${provider}
  and c.purpose = 'reconcile' and c.record_id = ${sql.ref(record)}`;
const links = (scope: ReconcileScope) =>
  sql`from link l where l.provider = ${scope.provider} and l.updated_at < ${scope.before}`;
const linksSeen = ({ provider, before }: ReconcileScope) => sql`from link l join scan c on c.provider = l.provider
  and c.purpose = 'reconcile' and c.record_id = l.record_id where l.provider = ${provider} and l.updated_at < ${before}`;
const itemsLinked = ({
  provider,
  before,
}: ReconcileScope) => sql`from scan_item i join link l on l.provider = i.provider
  and l.record_id = i.record_id where i.provider = ${provider} and l.updated_at < ${before}`;
const itemsUnlinked = ({
  provider,
}: ReconcileScope) => sql`from scan_item i where i.provider = ${provider} and not exists
  (select 1 from link l where l.provider = i.provider and l.record_id = i.record_id)`;
const hasItem = sql`exists (select 1 from scan_item i where i.provider = l.provider and i.entity = l.entity
  and i.record_id = l.record_id)`;
/** A call to the service is pending, or the link waits for an operator. */
const isUnderWay = (provider: string) => sql`exists (select 1 from lane where lane.queue = 'monitoring'
  and lane.key = ${linkKey(provider, '')} || l.record_id)`;
const spelled = sql`coalesce(c.entity, substr(c.found, 1, 100), '')`;
/** The record's number is not the link's company, and nobody accepted it. */
const numberDiffers = sql`c.verdict <> 'unreadable' and c.action <> 'held' and (c.entity is null or c.entity <> l.entity)
  and (l.mismatch is null or l.mismatch <> ${spelled})`;
/** A link made by a person needs no number, but another company's number contradicts it. */
const numberCounts = sql`(l.origin = 'number' or (c.entity is not null and l.entity like 'CVR-1-%'))`;
/** The record no longer holds the number that a person was asked about or accepted. */
const isSettled = sql`(l.state = 'conflict' or (l.state = 'active' and l.origin = 'number' and c.entity = l.entity))
  and l.mismatch is not null and c.verdict <> 'unreadable' and c.action <> 'held'
  and (l.mismatch <> ${spelled} or (l.origin = 'person' and c.entity is null))`;
// Written so that only the index on the entity fits: with the key's index, SQLite reads all links for each record.
const isTaken = (entity: RawBuilder<unknown>) => sql`exists (select 1 from link other where other.entity = ${entity}
  and other.provider || '' = c.provider and other.record_id || '' <> c.record_id
  and other.state in ('active', 'conflict'))`;

const recordText = (provider: string, { record, entity }: ReconcileDifference): string =>
  `${provider}:${record} (${entity})`;

/** In the order of display. */
export const DIFFERENCES = {
  absent: {
    about: 'linked, and not in the list of the CRM',
    repair: 'heal',
    grounds: ['records'],
    say: (one, provider) => `${recordText(provider, one)} is linked, and the CRM does not list it: deleted, or merged`,
    query: (scope) => sql`select l.record_id as record, l.entity, null as other ${links(scope)}
      and l.state in ('active', 'conflict') and not exists (select 1 ${scan('l.record_id', scope)})`,
  },
  number: {
    about: 'linked to another company than the number in the record says',
    repair: 'heal',
    grounds: ['records', 'numbers'],
    say: (one, provider) =>
      `${recordText(provider, one)} holds ${one.other === null ? 'no number any more' : `the number ${one.other}`}`,
    query: (scope) => sql`select l.record_id as record, l.entity, c.found as other ${linksSeen(scope)}
      and l.state = 'active' and ${numberDiffers} and ${numberCounts}`,
  },
  settled: {
    about: 'disputed over a number that the record no longer holds',
    repair: 'heal',
    grounds: ['numbers'],
    say: (one, provider) =>
      `${recordText(provider, one)} has a disputed number, and the record now holds ${one.other ?? 'none'}`,
    query: (scope) => sql`select l.record_id as record, l.entity, c.found as other ${linksSeen(scope)}
      and ${isSettled}`,
  },
  back: {
    about: 'ended, and there again in the CRM',
    repair: 'heal',
    grounds: [],
    say: (one, provider) => `the link of ${recordText(provider, one)} has ended, and the record is there again`,
    query: (scope) => sql`select l.record_id as record, l.entity, c.found as other ${linksSeen(scope)}
      and l.state in ('gone', 'removed', 'merged') and c.action <> 'held' and (
        (l.origin = 'number' and c.entity is not null and not ${isTaken(sql`c.entity`)})
        or (l.state = 'gone' and (l.origin = 'person' or c.verdict = 'unreadable' or l.mismatch = ${spelled})
          and not ${isTaken(sql`l.entity`)}))`,
  },
  unlinked: {
    about: 'with a CVR number, and not linked',
    repair: 'heal',
    grounds: ['records'],
    say: (one, provider) => `${recordText(provider, one)} holds the number of a company, and is not linked`,
    query: (scope) =>
      scope.autoLink && !scope.backfilling
        ? sql`select c.record_id as record, c.entity, c.found as other ${linkable(scope)}`
        : undefined,
  },
  unmonitored: {
    about: 'linked, and not monitored by the service',
    service: true,
    repair: 'add',
    grounds: ['items'],
    say: (one, provider) => `${recordText(provider, one)} is linked, and the service does not monitor it`,
    query: (scope) => sql`select l.record_id as record, l.entity, null as other ${linksSeen(scope)}
      and l.state = 'active' and l.desired = 'on' and l.observed <> 'refused' and not ${hasItem}
      and not ${isUnderWay(scope.provider)}`,
  },
  undesired: {
    about: 'monitored by the service, and their link has ended',
    service: true,
    repair: 'remove',
    grounds: ['deletions'],
    say: (one, provider) => `${recordText(provider, one)} is still monitored, and its link has ended`,
    query: (scope) => sql`select i.record_id as record, i.entity, null as other ${itemsLinked(scope)}
      and l.entity = i.entity and l.desired = 'off' and not ${isUnderWay(scope.provider)}`,
  },
  leftover: {
    about: 'monitored for a record that is linked to another company',
    service: true,
    repair: 'delete',
    grounds: ['deletions'],
    say: (one, provider) => `${recordText(provider, one)} is monitored, and the record is linked to ${one.other}`,
    query: (scope) => sql`select i.record_id as record, i.entity, l.entity as other ${itemsLinked(scope)}
      and l.entity <> i.entity and not ${isUnderWay(scope.provider)}`,
  },
  stranger: {
    about: 'monitored for a record that was never linked here',
    service: true,
    repair: 'delete',
    grounds: ['records', 'numbers', 'deletions'],
    say: (one, provider) =>
      `${recordText(provider, one)} is monitored, and ${one.other === null ? 'the CRM does not list the record' : 'the record is not linked'}`,
    query: (scope) => sql`select i.record_id as record, i.entity, (select c.verdict ${scan('i.record_id', scope)})
      as other ${itemsUnlinked(scope)} and not exists (select 1 ${scan('i.record_id', scope)} and c.entity = i.entity)`,
  },
  loose: {
    about: 'monitored, with that number in the record, and not linked',
    service: true,
    repair: 'person',
    grounds: [],
    say: (one, provider) =>
      `${recordText(provider, one)} is monitored and holds that number, but is not linked: cvrsync monitoring add ${provider} ${one.entity} ${one.record}`,
    query: (scope) =>
      scope.autoLink
        ? undefined
        : sql`select i.record_id as record, i.entity, null as other ${itemsUnlinked(scope)}
            and exists (select 1 ${scan('i.record_id', scope)} and c.entity = i.entity)`,
  },
  refused: {
    about: 'linked, and refused by the service',
    service: true,
    repair: 'person',
    grounds: [],
    say: (one, provider) => `${recordText(provider, one)} is not monitored: ${one.other ?? 'the service refused it'}`,
    query: (scope) => sql`select l.record_id as record, l.entity, l.observed_error as other ${links(scope)}
      and l.state = 'active' and l.desired = 'on' and l.observed = 'refused' and not ${hasItem}`,
  },
  conflict: {
    about: 'in conflict',
    repair: 'person',
    grounds: [],
    say: (one, provider) =>
      `${recordText(provider, one)} is in conflict: ${one.other ?? 'two companies claim the record'}`,
    query: (scope) => sql`select l.record_id as record, l.entity, l.reason as other ${links(scope)}
      and l.state = 'conflict' and exists (select 1 ${scan('l.record_id', scope)} and not (${isSettled}))`,
  },
} as const satisfies Readonly<Record<string, DifferenceSpec>>;

export type DifferenceKind = keyof typeof DIFFERENCES;
export const KINDS = Object.keys(DIFFERENCES) as readonly DifferenceKind[];

/** Records with a unique number and no link. */
function linkable(scope: ReconcileScope): RawBuilder<unknown> {
  const { provider, before } = scope;
  return sql`from scan c where c.provider = ${provider} and c.purpose = 'reconcile' and c.verdict = 'matched'
    and not exists (select 1 from link l where l.provider = c.provider and l.record_id = c.record_id
      and (l.state in ('active', 'conflict', 'gone') or l.origin = 'number' or l.entity = c.entity
        or l.updated_at >= ${before}))
    and not ${isTaken(sql`c.entity`)}
    and not exists (select 1 from scan twin where twin.provider = c.provider and twin.purpose = c.purpose
      and twin.entity = c.entity and twin.record_id <> c.record_id)`;
}

export async function countOf(db: Db, kind: DifferenceKind, scope: ReconcileScope): Promise<number> {
  const query = DIFFERENCES[kind].query(scope);
  if (query === undefined) return 0;
  const { rows } = await sql<{ count: number }>`select cast(count(*) as bigint) as count from (${query}) as d`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

export async function pageOf(
  db: Db,
  kind: DifferenceKind,
  scope: ReconcileScope,
  { after, limit }: { readonly after?: ReconcileDifference | undefined; readonly limit: number },
): Promise<readonly ReconcileDifference[]> {
  const query = DIFFERENCES[kind].query(scope);
  if (query === undefined) return [];
  const next = after === undefined ? sql`` : sql`where (d.record, d.entity) > (${after.record}, ${after.entity})`;
  const { rows } = await sql<ReconcileDifference>`select * from (${query}) as d ${next}
    order by d.record, d.entity limit ${limit}`.execute(db);
  return rows;
}
