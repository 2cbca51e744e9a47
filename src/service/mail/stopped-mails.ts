/** Addresses that get no mail of a monitor, because their owners unsubscribed or the mail server refuses them. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import type { Db, Tx } from '../../store/store.ts';
import { sameAddress } from './address.ts';
import { MAIL_QUEUE, mailKey } from './queue.ts';

/** How many refusals, over what time, end the mail to an address: a server may be wrong for a day. */
const LEAST_REFUSALS = 4;
const REFUSED_FOR_MS = 3 * 86_400_000;
/**
 * The wait between attempts at a refused address: a sender that keeps asking for unknown mailboxes looks like a
 * spammer.
 */
const RETRY_MS = 86_400_000;

export interface StoppedMail {
  readonly recipient: string;
  /** When the owner unsubscribed, or the mail server first refused the address. */
  readonly at: number;
  readonly bounced: string | null;
  readonly refusals: number;
  /** The next attempt; null once the mail to the address has ended. */
  readonly retryAt: number | null;
}

export const readStoppedMails = (db: Db, monitor: string): Promise<readonly StoppedMail[]> =>
  db
    .selectFrom('unsubscribed')
    .select(['recipient', 'at', 'bounced', 'refusals', 'retry_at as retryAt'])
    .where('monitor', '=', monitor)
    .orderBy('recipient')
    .execute();

/** The number of such addresses for each monitor that has any. */
export async function countStoppedMails(db: Db, monitors: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('unsubscribed')
    .select(['monitor', ({ fn }) => fn.countAll<number>().as('count')])
    .where('monitor', 'in', each(db, monitors))
    .groupBy('monitor')
    .execute();
  return new Map(rows.map(({ monitor, count }) => [monitor, Number(count)]));
}

/**
 * Why an address gets no mail of a monitor. `retryAt`: the next attempt; absent once the mail to the address has ended.
 */
export interface MailStop {
  readonly reason: string;
  readonly retryAt?: number;
}

/** Undefined if the address gets mail, or a refused address is due again. */
export async function readMailStop(
  db: Db,
  monitor: string,
  recipient: string,
  now: number,
): Promise<MailStop | undefined> {
  const row = await rowOf(db, monitor, recipient);
  if (row === undefined) return undefined;
  const { bounced, retry_at } = row;
  const reason = bounced === null ? 'unsubscribed' : `the address bounced: ${bounced}`;
  if (retry_at === null) return { reason };
  return retry_at > now ? { reason, retryAt: retry_at } : undefined;
}

const rowOf = (db: Db, monitor: string, recipient: string) =>
  db
    .selectFrom('unsubscribed')
    .select(['at', 'bounced', 'refusals', 'retry_at'])
    .where('monitor', '=', monitor)
    .where('recipient', '=', sameAddress(recipient))
    .executeTakeFirst();

/**
 * Records a refusal and returns the next attempt. Undefined after enough refusals over days: the address then gets no
 * more mail of the monitor, and waiting mail fails.
 */
export async function refuseMail(
  tx: Tx,
  monitor: string,
  recipient: string,
  { now, error }: { readonly now: number; readonly error: string },
): Promise<number | undefined> {
  const before = await rowOf(tx, monitor, recipient);
  const refusals = (before?.refusals ?? 0) + 1;
  const at = before?.at ?? now;
  const isOver = refusals >= LEAST_REFUSALS && now - at >= REFUSED_FOR_MS;
  const retryAt = isOver ? null : now + RETRY_MS;
  const [bounced = null] = await redactTexts(tx, [error]);
  await stop(tx, monitor, recipient, { at, bounced, refusals, retryAt, inReview: 1 });
  if (retryAt === null) await failOpen(tx, monitor, recipient, { now, error: bounced });
  return retryAt ?? undefined;
}

export async function forgetRefusals(tx: Tx, monitor: string, recipient: string): Promise<void> {
  await tx
    .deleteFrom('unsubscribed')
    .where('monitor', '=', monitor)
    .where('recipient', '=', sameAddress(recipient))
    .where('retry_at', 'is not', null)
    .execute();
}

/** Ends a monitor's mail to a recipient; waiting mail fails. Idempotent: the first reason stays. */
export async function endMail(
  tx: Tx,
  monitor: string,
  recipient: string,
  { now, bounced }: { readonly now: number; readonly bounced?: string },
): Promise<void> {
  const { at = now, bounced: known = null, refusals = 0, retry_at } = (await rowOf(tx, monitor, recipient)) ?? {};
  const [reason = null] = await redactTexts(tx, [bounced ?? null]);
  const stands = retry_at === null;
  await stop(tx, monitor, recipient, {
    at: stands ? at : now,
    bounced: stands ? known : reason,
    refusals,
    retryAt: null,
    inReview: 0,
  });
  await failOpen(tx, monitor, recipient, { now, error: reason ?? 'unsubscribed' });
}

interface Stop {
  readonly at: number;
  readonly bounced: string | null;
  readonly refusals: number;
  readonly retryAt: number | null;
  readonly inReview: 0 | 1;
}

async function stop(tx: Tx, monitor: string, recipient: string, row: Stop): Promise<void> {
  const { at, bounced, refusals, retryAt, inReview } = row;
  await tx
    .insertInto('unsubscribed')
    .columns(['monitor', 'recipient', 'at', 'bounced', 'refusals', 'retry_at', 'in_review'])
    // A row for a removed monitor would never be deleted.
    .expression((eb) =>
      eb
        .selectFrom('monitor')
        .where('id', '=', monitor)
        .select([
          'id',
          sql<string>`cast(${sameAddress(recipient)} as text)`.as('recipient'),
          sql<number>`cast(${at} as bigint)`.as('at'),
          sql<string | null>`cast(${bounced} as text)`.as('bounced'),
          sql<number>`cast(${refusals} as bigint)`.as('refusals'),
          sql<number | null>`cast(${retryAt} as bigint)`.as('retry_at'),
          sql<number>`cast(${inReview} as bigint)`.as('in_review'),
        ]),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['monitor', 'recipient'])
        .doUpdateSet({ at, bounced, refusals, retry_at: retryAt, in_review: inReview }),
    )
    .execute();
}

async function failOpen(
  tx: Tx,
  monitor: string,
  recipient: string,
  { now, error }: { readonly now: number; readonly error: string | null },
): Promise<void> {
  await tx
    .updateTable('mail')
    .set({ failed_at: now, error })
    .where('monitor', '=', monitor)
    .where(({ eb, fn }) => eb(fn<string>('lower', ['recipient']), '=', sameAddress(recipient)))
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null)
    .execute();
}

/**
 * Resumes a monitor's mail to a recipient, from the next change on; mail that waits for a refused address is due at
 * once. False if nothing stops mail to the address.
 */
export async function resumeMail(tx: Tx, monitor: string, recipient: string, now: number): Promise<boolean> {
  const address = sameAddress(recipient);
  const { numDeletedRows } = await tx
    .deleteFrom('unsubscribed')
    .where('monitor', '=', monitor)
    .where('recipient', '=', address)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  const open = await tx
    .selectFrom('mail')
    .select('recipient')
    .distinct()
    .where('monitor', '=', monitor)
    .where(({ eb, fn }) => eb(fn<string>('lower', ['recipient']), '=', address))
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null)
    .execute();
  const keys = open.map((row) => mailKey(monitor, row.recipient));
  if (keys.length > 0) await mark(tx, MAIL_QUEUE, keys, now);
  return true;
}
