/** Reads from the store what may need an operator. */
import { sql } from 'kysely';
import { SAFETY_LIMIT_KEY } from '../connector/follow/safety-limit.ts';
import { atStake, totalsOf } from '../connector/proposals/preview.ts';
import { readAllCounted } from '../connector/proposals/proposals.ts';
import { readMailOutage, readRefusedMail } from '../connector/review/mail-entries.ts';
import { countReview } from '../connector/review/review-list.ts';
import { BACKUP_QUEUE } from '../runtime/backups/backups.ts';
import { livingRoles, readDaemons } from '../runtime/daemons.ts';
import { readBlocks } from '../runtime/limits/blocks.ts';
import { readKeyEnd } from '../service/key-end.ts';
import { SENDER_REFUSED } from '../service/mail/send.ts';
import { readMissing } from '../service/register/watch/count-documents.ts';
import { WATCH_QUEUE } from '../service/register/watch/ingest-page.ts';
import { differsTooMuch, readDifferences } from '../service/register/watch/origins/second-readings.ts';
import { WITHHELD_QUEUE } from '../service/register/watch/withheld.ts';
import { readGapsToClose } from '../store/recovery/gap.ts';
import type { Db, Store } from '../store/store.ts';
import { MOST_FAILED, type Observed } from './conditions.ts';

/** `waiting`: the number of review entries, if known; it is counted up to one more than `reviewOver` otherwise. */
export async function observe(store: Store, now: number, reviewOver: number, waiting?: number): Promise<Observed> {
  const { db } = store;
  const parked = await readParked(db);
  return {
    blocks: await readBlocks(db, now),
    missingRoles: [...livingRoles(await readDaemons(db, now))].flatMap(([role, isLiving]) => (isLiving ? [] : [role])),
    failed: parked.flatMap(({ queue, count, since }) => (since === null ? [] : [{ queue, count, since }])),
    limits: parked.flatMap(({ queue, limitedSince: since }) =>
      since === null
        ? []
        : [{ provider: queue === WITHHELD_QUEUE ? undefined : queue.slice(queue.indexOf(':') + 1), since }],
    ),
    behind: await readBehind(db),
    missing: await readMissing(db),
    differing: (await readDifferences(db, now)).filter(differsTooMuch),
    proposals: await readProposals(db),
    keyEnds: await readKeyEnd(db, now),
    freeBytes: await store.freeBytes(),
    waiting: waiting ?? (await countReview(db, now, { limit: reviewOver + 1 })),
    mailOutage: await readOutage(db),
    refusedMail: await readRefusedMail(db),
    monitors: await readMonitors(db),
    backupFailsSince: await readBackupFailure(db),
    gaps: await readGapsToClose(db),
  };
}

interface ParkedQueue {
  readonly queue: string;
  /** Parked lanes except those of the safety limit, counted up to one more than {@link MOST_FAILED}. */
  readonly count: number;
  readonly since: number | null;
  /** Since when the safety limit has parked it. */
  readonly limitedSince: number | null;
}

/** Queries each queue: most lanes are not parked, and there may be many parked ones. */
async function readParked(db: Db): Promise<readonly ParkedQueue[]> {
  const ofQueue = sql`queue = parked.name and parked_at is not null`;
  const { rows } = await sql<ParkedQueue>`with recursive parked (name) as (
      select (select queue from lane where parked_at is not null order by queue limit 1)
      union all
      select (select queue from lane where parked_at is not null and queue > parked.name order by queue limit 1)
        from parked where parked.name is not null
    ) select name as queue,
      (select cast(count(*) as bigint) from (select 1 from lane
        where ${ofQueue} and key <> ${SAFETY_LIMIT_KEY} limit ${MOST_FAILED + 1}) as counted) as count,
      (select parked_at from lane where ${ofQueue} and key <> ${SAFETY_LIMIT_KEY} order by parked_at limit 1) as since,
      (select parked_at from lane where ${ofQueue} and key = ${SAFETY_LIMIT_KEY}) as "limitedSince"
    from parked where name is not null order by name`.execute(db);
  return rows;
}

async function readBackupFailure(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('lane')
    .select('since')
    .where('queue', '=', BACKUP_QUEUE)
    .where('error', 'is not', null)
    .where('parked_at', 'is', null)
    .executeTakeFirst();
  return row?.since;
}

/** A lane without an error belongs to a source whose last read succeeded. */
const readBehind = (db: Db): Promise<Observed['behind'][number][]> =>
  db
    .selectFrom('lane')
    .select(['key as source', 'since'])
    .where('queue', '=', WATCH_QUEUE)
    .where('error', 'is not', null)
    .where('parked_at', 'is', null)
    .orderBy('key')
    .execute();

/** Leaves out a proposal that changes nothing: it only waits for another daemon to end. */
const readProposals = async (db: Db): Promise<Observed['proposals']> =>
  (await readAllCounted(db)).flatMap(({ name: provider, since, preview }): Observed['proposals'] => {
    if (preview?.removes === true) return [{ provider, since, counted: undefined, removed: preview.linked }];
    if (preview === undefined) return [{ provider, since, counted: undefined }];
    return atStake(preview) === 0 ? [] : [{ provider, since, counted: totalsOf(preview) }];
  });

async function readOutage(db: Db): Promise<Observed['mailOutage']> {
  const outage = await readMailOutage(db);
  return outage && { ...outage, refusesSender: outage.error.startsWith(SENDER_REFUSED) };
}

async function readMonitors(db: Db): Promise<Observed['monitors']> {
  const rows = await db
    .selectFrom('monitor')
    .select(['id', 'name', 'enabled', 'failing_since', 'disabled_at', 'updated_at'])
    .where(({ eb, and, or }) =>
      or([
        and([eb('enabled', '=', 1), eb('failing_since', 'is not', null)]),
        eb('disabled_reason', 'in', ['failing', 'gone']),
      ]),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id, name, enabled, failing_since, disabled_at, updated_at }) => ({
    id,
    name,
    since: failing_since ?? disabled_at ?? updated_at,
    isOff: enabled !== 1,
  }));
}
