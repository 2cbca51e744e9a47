import type { Db } from '../../../store/store.ts';
import { DELIVERY_STATES, type Delivery, type DeliveryFilter, listDeliveries } from '../deliveries.ts';

/** `older`: the next page is before this number; undefined at the end. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly older: number | undefined;
}

/** Deliveries to scan for one page without an index, so that a rare state does not read the whole table. */
const LOOKED_THROUGH = 20_000;
/** By how much numbers may be out of order: clocks differ, and a number is assigned before its commit. */
const DISORDER = 1_000;

export async function pageDeliveries(
  db: Db,
  filter: Omit<DeliveryFilter, 'limit' | 'from'>,
  limit: number,
): Promise<DeliveryPage> {
  const before = Math.min(filter.before ?? Number.POSITIVE_INFINITY, await endAt(db, filter.until));
  const bounded = { ...filter, before, limit: limit + 1 };
  if (filter.monitor !== undefined) return pageOf(await listOfMonitor(db, bounded), limit, undefined);
  const hasIndex = filter.entity !== undefined || filter.state === 'failing' || filter.state === 'failed';
  const from = hasIndex ? 0 : Math.max(0, before - LOOKED_THROUGH);
  return pageOf(await listDeliveries(db, { ...bounded, from }), limit, from > 1 ? from : undefined);
}

/** Queries each state: the index of a monitor's deliveries begins with the state. */
async function listOfMonitor(
  db: Db,
  filter: DeliveryFilter & { readonly limit: number },
): Promise<readonly Delivery[]> {
  const states = filter.state === undefined ? DELIVERY_STATES : [filter.state];
  const lists = await Promise.all(states.map((state) => listDeliveries(db, { ...filter, state })));
  return lists.flat().toSorted((a, b) => b.seq - a.seq);
}

function pageOf(found: readonly Delivery[], limit: number, from: number | undefined): DeliveryPage {
  const deliveries = found.slice(0, limit);
  return { deliveries, older: found.length > limit ? deliveries.at(-1)?.seq : from };
}

async function endAt(db: Db, until: number | undefined): Promise<number> {
  const { newest } = await db
    .selectFrom('delivery')
    .select(({ fn }) => fn.max('seq').as('newest'))
    .executeTakeFirstOrThrow();
  const end = (newest ?? 0) + 1;
  if (until === undefined) return end;
  const last = await db
    .selectFrom('delivery')
    .select('seq')
    .where('created_at', '<', until)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last === undefined ? 0 : Math.min(end, last.seq + DISORDER);
}
