/** Addresses that get no more mail of a monitor: they unsubscribed, or their mail came back for good. */
import { sql } from 'kysely';
import { each, storable } from '../../store/each.ts';
import type { Db, Tx } from '../../store/store.ts';
import { sameAddress } from './queue.ts';

/** An address whose mail ended. */
export interface StoppedMail {
  readonly recipient: string;
  /** Ms since 1970. */
  readonly at: number;
  /** What its mail server said; null where the person unsubscribed. */
  readonly bounced: string | null;
}

/** The addresses of a monitor whose mail ended, by address. */
export const readStoppedMails = (db: Db, monitor: string): Promise<readonly StoppedMail[]> =>
  db
    .selectFrom('unsubscribed')
    .select(['recipient', 'at', 'bounced'])
    .where('monitor', '=', monitor)
    .orderBy('recipient')
    .execute();

/** How many addresses of each of these monitors get no more mail; none where a monitor is not in the map. */
export async function countStoppedMails(db: Db, monitors: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('unsubscribed')
    .select(['monitor', ({ fn }) => fn.countAll<number>().as('count')])
    .where('monitor', 'in', each(db, monitors))
    .groupBy('monitor')
    .execute();
  return new Map(rows.map(({ monitor, count }) => [monitor, Number(count)]));
}

/** Why an address gets no mail of a monitor; undefined where it does. */
export async function endedReason(db: Db, monitor: string, recipient: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('unsubscribed')
    .select('bounced')
    .where('monitor', '=', monitor)
    .where('recipient', '=', sameAddress(recipient))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return row.bounced === null ? 'unsubscribed' : `the address bounced: ${row.bounced}`;
}

/** Ends a monitor's mail to a recipient; what waits is not sent. Idempotent: the first reason stays. */
export async function endMail(
  tx: Tx,
  monitor: string,
  recipient: string,
  { now, bounced }: { readonly now: number; readonly bounced?: string },
): Promise<void> {
  const address = sameAddress(recipient);
  await tx
    .insertInto('unsubscribed')
    .columns(['monitor', 'recipient', 'at', 'bounced'])
    // Of a monitor that was removed nothing is kept: nobody would ever delete the address.
    .expression((eb) =>
      eb
        .selectFrom('monitor')
        .where('id', '=', monitor)
        .select([
          'id',
          sql<string>`cast(${address} as text)`.as('recipient'),
          sql<number>`cast(${now} as bigint)`.as('at'),
          sql<string | null>`cast(${bounced === undefined ? null : storable(bounced)} as text)`.as('bounced'),
        ]),
    )
    .onConflict((conflict) => conflict.columns(['monitor', 'recipient']).doNothing())
    .execute();
  await tx
    .updateTable('mail')
    .set({ failed_at: now, error: bounced === undefined ? 'unsubscribed' : storable(bounced) })
    .where('monitor', '=', monitor)
    .where(({ eb, fn }) => eb(fn<string>('lower', ['recipient']), '=', address))
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null)
    .execute();
}

/** Lets a recipient have a monitor's mail again, from the next change on. False where it had not ended. */
export async function resumeMail(tx: Tx, monitor: string, recipient: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('unsubscribed')
    .where('monitor', '=', monitor)
    .where('recipient', '=', sameAddress(recipient))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
