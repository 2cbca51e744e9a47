/** After a change of the configuration: records whose CRM is told other fields than before are decided anew. */
import { createHash } from 'node:crypto';
import { each } from '../store/each.ts';
import type { Tx } from '../store/open.ts';
import type { Crm } from './crm.ts';
import { markAll } from './mark-all.ts';

/** What decides which of a company's facts a record shows, and how. */
export type Told = Pick<Crm, 'name' | 'mapping' | 'values' | 'hold' | 'persons' | 'currency'>;

const keyOf = (name: string): string => `mapping:${name}`;

const digestOf = ({ mapping, values, hold, persons, currency }: Told): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        mapping,
        values,
        hold ?? null,
        ...(persons ? ['persons'] : []),
        ...(currency === undefined ? [] : [{ currency }]),
      ]),
    )
    .digest('base64url');

/**
 * Marks every active record of a connection that is new, is back, or has another mapping than at the last start: events
 * leave a record alone where its CRM was not told their fields. Returns the queues that now have work. One read a
 * connection where nothing changed.
 */
export async function markRemapped(tx: Tx, crms: readonly Told[], now: number): Promise<readonly string[]> {
  const keys = crms.map(({ name }) => keyOf(name));
  // A connection that is left out misses events: should it come back, it is new.
  await tx.deleteFrom('keep').where('key', 'like', keyOf('%')).where('key', 'not in', each(tx, keys)).execute();
  const known = new Map(
    (await tx.selectFrom('keep').select(['key', 'value']).where('key', 'in', each(tx, keys)).execute()).map(
      ({ key, value }) => [key, value],
    ),
  );
  const queues: string[] = [];
  for (const crm of crms) {
    const row = { value: digestOf(crm), updated_at: now };
    const key = keyOf(crm.name);
    if (known.get(key) === row.value) continue;
    const queue = `sync:${crm.name}`;
    if (await markAll(tx, crm.name, queue, now)) queues.push(queue);
    await tx
      .insertInto('keep')
      .values({ key, ...row })
      .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
      .execute();
  }
  return queues;
}
