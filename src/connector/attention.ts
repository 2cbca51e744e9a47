/** What needs a person: accounts nobody may call, parked work, refused values, links in doubt, what nobody could read. */
import { sql } from 'kysely';
import { readOutages, shownOutage } from '../http/outage.ts';
import { needsPerson, readBlocks } from '../runtime/blocks.ts';
import { parked } from '../runtime/lane-state.ts';
import type { Db } from '../store/open.ts';
import { readEventsAside } from './aside.ts';
import { type Attention, DECISION, FAILED, idOf, laneVerbs } from './attention-kinds.ts';
import { type DifferenceFilter, readDifferences } from './differences.ts';
import { BRAKE_KEY } from './heal/brake.ts';
import type { Link } from './links.ts';
import { readReusedIds } from './reused-ids.ts';
import { UPSTREAM_ACCOUNT } from './upstream.ts';

/** Everything that needs a person but for differences, which are no fault; accounts first, each kind oldest or by name. Reads indexes of the exceptions only. */
export async function readAttention(db: Db, now: number): Promise<readonly Attention[]> {
  return [
    ...(await readAccounts(db, now)),
    ...(await readLanes(db)),
    ...(await readLinks(db)),
    ...(await readValues(db)),
    ...(await readUnreadable(db)),
    ...(await readEvents(db)),
    ...(await readSenders(db)),
  ];
}

/** How many things {@link readAttention} would list. */
export async function countAttention(db: Db, now: number): Promise<number> {
  const count = sql<number>`cast(count(*) as bigint)`.as('count');
  const queries = [
    db.selectFrom('lane').select(count).where('parked_at', 'is not', null),
    db.selectFrom('link').select(count).where('state', '=', 'conflict'),
    refusedLinks(db).select(count),
    refusedValues(db).select(count),
    db.selectFrom('quarantine').select(count),
  ];
  const counts = await Promise.all(queries.map((query) => query.executeTakeFirstOrThrow()));
  const others = [await readAccounts(db, now), await readEvents(db), await readSenders(db)];
  return [...counts.map(({ count: each }) => each), ...others.map(({ length }) => length)].reduce((a, b) => a + b, 0);
}

/** Names an account for people: one ability of a CRM has an account of its own. */
export function shownAccount(account: string): string {
  if (account === UPSTREAM_ACCOUNT) return 'the monitoring service';
  const [provider = '', ability] = account.split('/');
  return ability === undefined ? provider : `${ability} in ${provider}`;
}

/** So long an outage is no hiccup. */
const LONG_OUTAGE_MS = 10 * 60_000;

/** Short pauses, which a CRM asks for on any day, need nobody. */
async function readAccounts(db: Db, now: number): Promise<readonly Attention[]> {
  const blocks = (await readBlocks(db, now)).filter(needsPerson);
  const silent = (await readOutages(db, now)).filter(
    ({ account, since }) => now - since > LONG_OUTAGE_MS && !blocks.some((block) => block.account === account),
  );
  const waiting = silent.map(
    (outage): Attention => ({
      id: idOf('account', outage.account),
      kind: 'account',
      about: outage.account,
      reason: shownOutage(outage),
      since: outage.since,
      advice: 'see whether it has trouble, and whether this machine may reach it; cvrsync tries again by itself',
      decides: false,
      verbs: [],
    }),
  );
  const paused = blocks.map(
    ({ account, since, until, reason }): Attention => ({
      id: idOf('account', account),
      kind: 'account',
      about: shownAccount(account),
      reason: `cvrsync does not call it before ${new Date(until).toISOString().slice(0, 19)}Z: ${reason ?? 'no reason kept'}`,
      since,
      advice:
        'correct the cause (cvrsync check names it), and restart the daemon where you changed its configuration; retry calls the account at once',
      decides: false,
      verbs: ['retry'],
    }),
  );
  return [...paused, ...waiting];
}

/** Differences as things that a person may decide. */
export const readDifferent = async (db: Db, filter: DifferenceFilter, limit: number): Promise<readonly Attention[]> =>
  (await readDifferences(db, filter, limit)).map(({ provider, recordId, property, entity, crm, register, since }) => ({
    id: idOf('difference', provider, recordId, property),
    kind: 'difference',
    about: `${provider}:${recordId} ${property}`,
    reason: `the CRM holds ${crm}, the register says ${register} of ${entity}`,
    since,
    advice: "accept writes the register's value, once; keep leaves the CRM's value and puts the property on hold",
    decides: true,
    verbs: DECISION,
  }));

const limitAdvice = (queue: string): string =>
  queue.startsWith('heal:')
    ? 'accept lets the links end; repair the CRM first where it is wrong, then keep leaves the links as they are'
    : 'accept lets it be told that these facts are gone; keep leaves what was known';

async function readLanes(db: Db): Promise<readonly Attention[]> {
  return (await parked(db)).map(({ queue, key, error, parkedAt, attempts }) => ({
    id: idOf('lane', queue, key),
    kind: 'lane',
    about: `${queue} ${key}`,
    reason: error ?? `failed ${attempts} times`,
    since: parkedAt,
    advice: key === BRAKE_KEY ? limitAdvice(queue) : 'retry tries it again now; drop gives it up until the next change',
    decides: key === BRAKE_KEY,
    verbs: laneVerbs(key),
  }));
}

/** Two reads of an index each: one condition over both would read every link. */
async function readLinks(db: Db): Promise<readonly Attention[]> {
  const conflicts = await db
    .selectFrom('link')
    .select(['provider', 'record_id', 'entity', 'state', 'reason', 'monitored', 'monitored_error', 'updated_at'])
    .where('state', '=', 'conflict')
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  const refused = await refusedLinks(db)
    .select(['provider', 'record_id', 'entity', 'state', 'reason', 'monitored', 'monitored_error', 'updated_at'])
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  return [
    ...conflicts.map((link) => ({
      ...shownLink(link),
      reason: `in conflict: ${link.reason ?? 'two companies claim the record'}`,
      advice: `accept makes the link count, and writes what the register says of ${link.entity}; keep leaves the record as it is, and removes the link`,
      decides: true,
      verbs: DECISION,
    })),
    ...refused.map((link) => ({
      ...shownLink(link),
      reason: `the monitoring service refused it: ${link.monitored_error ?? 'without a reason'}`,
      advice: 'retry asks the service again; drop removes the link',
      decides: false,
      verbs: FAILED,
    })),
  ];
}

const shownLink = (link: Pick<Link, 'provider' | 'record_id' | 'entity' | 'updated_at'>) => ({
  id: idOf('link', link.provider, link.record_id),
  kind: 'link' as const,
  about: `${link.provider}:${link.record_id} ${link.entity}`,
  since: link.updated_at,
});

const refusedLinks = (db: Db) =>
  db
    .selectFrom('link')
    .where('state', '=', 'active')
    .where('wish', '=', 'on')
    // Not as a parameter: SQLite would not know that the index of refused ones will do.
    .where('monitored', '=', sql.lit<'refused'>('refused'));

const refusedValues = (db: Db) =>
  db
    .selectFrom('property_state as state')
    .where('refused', 'is not', null)
    // Not a join: SQLite might begin with the links, which are many.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('link')
          .select('link.record_id')
          .whereRef('link.provider', '=', 'state.provider')
          .whereRef('link.record_id', '=', 'state.record_id')
          .where('link.state', '=', 'active'),
      ),
    );

async function readValues(db: Db): Promise<readonly Attention[]> {
  const rows = await refusedValues(db)
    .select(['provider', 'record_id', 'property', 'refused', 'refused_reason', 'refused_over'])
    .orderBy('provider')
    .orderBy('property')
    .orderBy('record_id')
    .execute();
  return rows.map((row) => ({
    id: idOf('value', row.provider, row.record_id, row.property),
    kind: 'value',
    about: `${row.provider}:${row.record_id} ${row.property} = ${row.refused}`,
    reason: `${row.refused_reason ?? 'the CRM would not take it'}${shownStay(row.refused_over)}`,
    since: null,
    advice: 'correct the property or the mapping, then retry; drop forgets it until the next change',
    decides: false,
    verbs: FAILED,
  }));
}

/** What the property holds as long as a new value is refused; `over` is JSON. */
export function shownStay(over: string | null): string {
  if (over === null) return '';
  return over === 'null' ? '; the property stays blank in the CRM' : `; ${over} stays in the CRM`;
}

async function readUnreadable(db: Db): Promise<readonly Attention[]> {
  const rows = await db
    .selectFrom('quarantine')
    .select(['id', 'received_at', 'source', 'subject', 'reason'])
    .orderBy('id')
    .execute();
  return rows.map(({ id, received_at: since, source, subject, reason }) =>
    source === 'register'
      ? {
          id: idOf('document', id),
          kind: 'document',
          about: `register document${subject === null ? '' : ` ${subject}`}`,
          reason: `cvrsync could not read it, and keeps what it knew: ${reason}`,
          since,
          advice: 'report it with this reason; cvrsync reads the next version of it by itself; drop forgets this one',
          decides: false,
          verbs: ['drop'],
        }
      : {
          id: idOf('body', id),
          kind: 'body',
          about: `webhook body ${id}`,
          reason,
          since,
          advice: 'it cannot be retried: correct it and feed it with `cvrsync receive FILE`; drop deletes it',
          decides: false,
          verbs: ['drop'],
        },
  );
}

async function readEvents(db: Db): Promise<readonly Attention[]> {
  return (await readEventsAside(db)).map(({ seq, entity, reason, receivedAt }) => ({
    id: idOf('event', seq),
    kind: 'event',
    about: `event ${seq} of ${entity}`,
    reason,
    since: receivedAt,
    advice: 'retry takes it as of the time it came, but for periods that are still ahead; drop leaves it out',
    decides: false,
    verbs: FAILED,
  }));
}

async function readSenders(db: Db): Promise<readonly Attention[]> {
  const reused = await readReusedIds(db);
  if (reused === undefined) return [];
  const { count, since, id, entity, isTaken } = reused;
  const became = isTaken ? 'it was taken in' : 'it was not applied, and its body is set aside';
  return [
    {
      id: idOf('sender', 'webhook-id'),
      kind: 'sender',
      about: 'the sender of webhooks',
      reason: `it gave one webhook-id to events that differ, ${count} times; the last was ${id} about ${entity}: ${became}`,
      since,
      advice: 'have the sender give each event an id of its own; drop forgets what was counted',
      decides: false,
      verbs: ['drop'],
    },
  ];
}
