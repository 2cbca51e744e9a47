/** Mail that does not arrive: addresses that the mail server refuses, and a mail server that refuses this service. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Replaced } from './given-answers.ts';
import { FAILED, idOf, type ReviewEntry, type ReviewSource } from './review-kinds.ts';

const MAIL_QUEUE = 'mail';

/** Addresses of one monitor that the mail server refuses, until somebody answers. */
export interface RefusedMail {
  readonly monitor: string;
  readonly name: string;
  readonly count: number;
  /** How many of them get no more mail. */
  readonly ended: number;
  /** When the first was refused; ms since 1970. */
  readonly since: number;
}

/** Reads the monitors with refused addresses, along the index of those. */
export function readRefusedMail(db: Db, limit = Number.MAX_SAFE_INTEGER): Promise<readonly RefusedMail[]> {
  return db
    .selectFrom('unsubscribed')
    .select(({ fn, selectFrom }) => [
      'unsubscribed.monitor',
      // The monitor is there: with it these rows go.
      selectFrom('monitor')
        .select('name')
        .whereRef('id', '=', 'unsubscribed.monitor')
        .$asScalar()
        .$notNull()
        .as('name'),
      sql<number>`cast(count(*) as bigint)`.as('count'),
      sql<number>`cast(sum(case when retry_at is null then 1 else 0 end) as bigint)`.as('ended'),
      fn.min('unsubscribed.at').as('since'),
    ])
    .where('unsubscribed.in_review', '=', sql.lit(1))
    .groupBy('unsubscribed.monitor')
    .orderBy('unsubscribed.monitor')
    .limit(limit)
    .execute();
}

/** Recipients whose mail the server does not take now. */
export interface MailOutage {
  readonly recipients: number;
  readonly since: number;
  /** What it answered last to one of them: its own words, which may name the recipient. */
  readonly error: string;
}

/** Reads whether mail waits because the server did not take it; undefined if all mail goes out. */
export async function readMailOutage(db: Db): Promise<MailOutage | undefined> {
  const row = await db
    .selectFrom('lane')
    .select(({ fn }) => [
      sql<number>`cast(count(*) as bigint)`.as('recipients'),
      fn.min('since').as('since'),
      // The sender's refusal sorts after what begins with a digit, and concerns everybody.
      fn.max('error').as('error'),
    ])
    .where('queue', '=', MAIL_QUEUE)
    .where('error', 'is not', null)
    .where('parked_at', 'is', null)
    .executeTakeFirst();
  if (row?.since == null || row.error == null) return undefined;
  return { recipients: row.recipients, since: row.since, error: row.error };
}

export const MAIL_SOURCE: ReviewSource = { kind: 'mail', read: readMail };

async function readMail(db: Db, _now: number, limit: number): Promise<readonly ReviewEntry[]> {
  const outage = await readMailOutage(db);
  const refused = await readRefusedMail(db, limit);
  return [...(outage === undefined ? [] : [outageEntry(outage)]), ...refused.map(refusedEntry)];
}

const outageEntry = ({ recipients, since, error }: MailOutage): ReviewEntry => ({
  id: idOf('mail', OUTAGE),
  kind: 'mail',
  about: 'the mail server',
  reason: `it does not take the mail of ${recipients === 1 ? '1 recipient' : `${recipients} recipients`}: ${withoutAddresses(error)}`,
  since,
  advice:
    'cvrsync tries again for 72 hours; correct service.smtp, or the DNS, SPF and DKIM of the sender where the server refuses that, and run cvrsync check',
  decides: false,
  verbs: [],
});

const refusedEntry = ({ monitor, name, count, ended, since }: RefusedMail): ReviewEntry => ({
  id: idOf('mail', monitor),
  kind: 'mail',
  about: `mail of the monitor ${name}`,
  reason: `the mail server refuses ${count === 1 ? '1 address' : `${count} addresses`}: ${
    ended === count
      ? 'mail to it has ended'
      : `cvrsync tries ${count - ended} again once a day, ${ended} get no more mail`
  }`,
  since,
  advice: `cvrsync monitors show ${monitor} names each with the answer: correct the recipients; retry sends to them again, drop ends their mail`,
  decides: false,
  verbs: FAILED,
});

const OUTAGE = 'server';

const withoutAddresses = (text: string): string => text.replaceAll(/<?[^\s<>@:]{1,128}@[^\s<>]{1,255}>?/gu, '…');

/** The addresses of a monitor that an answer was about, each with when cvrsync was to try it again. */
type AnsweredMail = Replaced['mail'];

/** Sends to the refused addresses of a monitor again, or ends their mail. Returns the addresses. */
export async function answerRefusedMail(
  tx: Tx,
  verb: 'retry' | 'drop',
  monitor: string,
  now: number,
): Promise<AnsweredMail> {
  const rows = await tx
    .selectFrom('unsubscribed')
    .select(['recipient', 'retry_at'])
    .where('monitor', '=', monitor)
    .where('in_review', '=', 1)
    .execute();
  if (rows.length === 0) return [];
  const isRefused = { monitor, in_review: 1 };
  if (verb === 'retry')
    await tx
      .deleteFrom('unsubscribed')
      .where(({ and }) => and(isRefused))
      .execute();
  else
    await tx
      .updateTable('unsubscribed')
      .set({ in_review: 0, retry_at: null })
      .where(({ and }) => and(isRefused))
      .execute();
  await markMail(tx, monitor, now);
  return rows.map(({ recipient, retry_at }) => [recipient, retry_at]);
}

/** Puts addresses whose mail an answer ended in review again. False if they all get mail, or unsubscribed, since. */
export async function restoreRefusedMail(tx: Tx, monitor: string, addresses: AnsweredMail): Promise<boolean> {
  let restored = 0n;
  for (const [recipient, retryAt] of addresses) {
    const { numUpdatedRows } = await tx
      .updateTable('unsubscribed')
      .set({ in_review: 1, retry_at: retryAt })
      .where('monitor', '=', monitor)
      .where('recipient', '=', recipient)
      .where('bounced', 'is not', null)
      .where('in_review', '=', 0)
      .executeTakeFirst();
    restored += numUpdatedRows;
  }
  return restored > 0n;
}

/** Has all mail of a monitor looked at now. */
async function markMail(tx: Tx, monitor: string, now: number): Promise<void> {
  const lanes = await tx
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', MAIL_QUEUE)
    .where('key', '>=', `${monitor} `)
    .where('key', '<', `${monitor}!`)
    .execute();
  await mark(
    tx,
    MAIL_QUEUE,
    lanes.map(({ key }) => key),
    now,
  );
}
