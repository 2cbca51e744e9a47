/** Deliveries a page at a time, each page found along an index or among a bounded number of rows. */
import type { Db } from '../../../store/store.ts';
import { DELIVERY_STATES, type Delivery, type DeliveryFilter, listDeliveries } from '../deliveries.ts';

/** A page of deliveries. `older`: only deliveries before this number may be left; undefined at the end. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly older: number | undefined;
}

/** Deliveries that one page looks through where no index leads to them: a rare state is no reason to read all. */
const LOOKED_THROUGH = 20_000;
/** Daemons of one store count the same time differently, and numbers are given before the commit. */
const DISORDER = 1_000;

/** Lists the deliveries of a filter, the newest before its `before`. */
export async function pageDeliveries(
  db: Db,
  filter: Omit<DeliveryFilter, 'limit' | 'from'>,
  limit: number,
): Promise<DeliveryPage> {
  const before = Math.min(filter.before ?? Number.POSITIVE_INFINITY, await endAt(db, filter.until));
  const bounded = { ...filter, before, limit: limit + 1 };
  if (filter.monitor !== undefined) return pageOf(await listOfMonitor(db, bounded), limit, undefined);
  const hasIndex = filter.entity !== undefined || filter.state === 'failing';
  const from = hasIndex ? 0 : Math.max(0, before - LOOKED_THROUGH);
  return pageOf(await listDeliveries(db, { ...bounded, from }), limit, from > 1 ? from : undefined);
}

/** The index of a monitor's deliveries goes by state: each is asked for on its own. */
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

/** The number that every delivery made before `until` is below. */
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
