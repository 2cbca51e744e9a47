import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each, eachRow } from '../../store/each.ts';
import type { MailTable } from '../../store/service-schema.ts';
import type { Tx } from '../../store/store.ts';
import { sameAddress } from './address.ts';
import { type DigestTime, nextDigest, USUAL_DIGEST } from './digest-hour.ts';

export const MAIL_QUEUE = 'mail';

export interface MailRow {
  readonly monitor: string;
  readonly recipients: readonly string[];
  readonly frequency: 'immediate' | 'daily';
  readonly change: number;
  readonly events: readonly string[];
  /** Shares before the change, which the stored change does not hold. */
  readonly formerShares?: Readonly<Record<string, string>> | undefined;
}

/** A message about a monitor to its recipients, for example about its failing webhook. */
export interface Notice {
  readonly monitor: string;
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
}

export const mailKey = (monitor: string, recipient: string): string => `${monitor} ${recipient}`;

export const readMailKey = (key: string): { readonly monitor: string; readonly recipient: string } => {
  const gap = key.indexOf(' ');
  return { monitor: key.slice(0, gap), recipient: key.slice(gap + 1) };
};

/**
 * Queues changes for the recipients who have not stopped their mail, in a few statements for any number of rows. Skips
 * a change that the recipient's queue holds already. Ring `mail` after the commit.
 */
export async function queueMail(tx: Tx, rows: readonly MailRow[], now: number, daily = USUAL_DIGEST): Promise<void> {
  const wanted = rows.flatMap(({ monitor, recipients, frequency, change, events, formerShares }) => {
    const body = JSON.stringify({ events, ...(formerShares !== undefined && { formerShares }) });
    return recipients.map((recipient) => ({ monitor, recipient, kind: frequency, change, body }));
  });
  await queue(tx, wanted, now, daily);
}

/** Queues a notice for the recipients who have not stopped their mail. It goes out at once, as a mail of its own. */
export async function queueNotice(tx: Tx, notice: Notice, now: number): Promise<void> {
  const { monitor, recipients, subject, text } = notice;
  const body = JSON.stringify({ subject, text });
  const rows = [...new Set(recipients)].map((recipient) => ({
    monitor,
    recipient,
    kind: 'notice' as const,
    change: null,
    body,
  }));
  await queue(tx, rows, now, USUAL_DIGEST);
}

type Row = Readonly<Pick<MailTable, 'monitor' | 'recipient' | 'kind' | 'change' | 'body'>>;

async function queue(tx: Tx, wanted: readonly Row[], now: number, digest: DigestTime): Promise<void> {
  const monitors = [...new Set(wanted.map(({ monitor }) => monitor))];
  if (monitors.length === 0) return;
  const left = await tx
    .selectFrom('unsubscribed')
    .select(['monitor', 'recipient'])
    .where('monitor', 'in', each(tx, monitors))
    // A refused address keeps its mail for the next attempt.
    .where('retry_at', 'is', null)
    .execute();
  const gone = new Set(left.map(({ monitor, recipient }) => mailKey(monitor, recipient)));
  const rows = wanted.filter(({ monitor, recipient }) => !gone.has(mailKey(monitor, sameAddress(recipient))));
  if (rows.length === 0) return;
  // Lanes first, in one order for all writers: see mark.
  const keys = (kept: readonly Row[]) => kept.map(({ monitor, recipient }) => mailKey(monitor, recipient));
  const daily = rows.filter(({ kind }) => kind === 'daily');
  const atOnce = rows.filter(({ kind }) => kind !== 'daily');
  if (daily.length > 0) await mark(tx, MAIL_QUEUE, keys(daily), nextDigest(now, digest));
  if (atOnce.length > 0) await mark(tx, MAIL_QUEUE, keys(atOnce), now);
  await tx
    .insertInto('mail')
    .columns(['monitor', 'recipient', 'kind', 'change', 'body', 'created_at'])
    .expression(
      sql`select each.monitor, each.recipient, each.kind, cast(each.change as bigint), each.body,
        cast(${now} as bigint)
        from ${eachRow(tx, ['monitor', 'recipient', 'kind', 'change', 'body'], rows)} where true`,
    )
    .onConflict((conflict) => conflict.columns(['change', 'monitor', 'recipient']).doNothing())
    .execute();
}
