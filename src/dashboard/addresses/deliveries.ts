/** The filter of deliveries, in the fields of a form or of an address. */
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { canonicalEntityId, companyEntityId } from '../../protocol/entity-id.ts';
import { DELIVERY_STATES, type DeliveryFilter } from '../../service/delivery/deliveries.ts';
import { monitorIdsOf } from '../../service/monitors/monitor-row.ts';
import type { Db } from '../../store/store.ts';
import type { Reader } from '../page/reader.ts';
import { readTime } from '../page/typed-time.ts';

/** In the order of the form. */
const DELIVERY_FIELDS = ['monitor', 'entity', 'state', 'since', 'until'] as const;

export type DeliveryTexts = Readonly<Record<(typeof DELIVERY_FIELDS)[number], string>>;

/** A filter; or the text that is unreadable; or the several monitors that have the name. */
type ReadDeliveries =
  | { readonly ok: true; readonly filter: DeliveryFilter }
  | { readonly ok: false; readonly value: string; readonly several?: readonly string[] };

/** The fields as given; empty if missing. */
export function deliveryTexts(given: (name: string) => string): DeliveryTexts {
  const text = (name: string): string => given(name).trim().slice(0, 200);
  return {
    monitor: text('monitor'),
    entity: text('entity'),
    state: text('state'),
    since: text('since'),
    until: text('until'),
  };
}

/** Reads the fields. A monitor is named by its id or by its name; a time without a zone is in the reader's. */
export async function readDeliveryFilter(
  db: Db,
  { monitor, entity, state, since, until }: DeliveryTexts,
  { timeZone }: Pick<Reader, 'timeZone'>,
): Promise<ReadDeliveries> {
  const [from, to] = [readTime(since, timeZone), readTime(until, timeZone)];
  if (from === 'unreadable') return { ok: false, value: since };
  if (to === 'unreadable') return { ok: false, value: until };
  const named = DELIVERY_STATES.find((each) => each === state);
  if (named === undefined && state !== '') return { ok: false, value: state };
  // Deliveries of a removed monitor stay, but its name is unknown.
  const [id = monitor, ...others] = monitor === '' ? [] : await monitorIdsOf(db, monitor);
  if (others.length > 0) return { ok: false, value: monitor, several: [id, ...others] };
  return {
    ok: true,
    filter: {
      ...(monitor !== '' && { monitor: id }),
      ...(entity !== '' && { entity: entityIn(entity) ?? entity }),
      ...(named !== undefined && { state: named }),
      ...(from !== undefined && { since: from }),
      ...(to !== undefined && { until: to }),
    },
  };
}

/** Whether a filter is narrow enough for a replay: it needs a monitor, an entity or a begin. */
export const isNarrowFilter = ({ monitor, entity, since }: DeliveryFilter): boolean =>
  monitor !== undefined || entity !== undefined || since !== undefined;

export function deliveriesAddress(
  texts: Partial<DeliveryTexts>,
  more: Readonly<Record<string, string>> = {},
  path = '/deliveries',
): string {
  const pairs = Object.entries({ ...texts, ...more }).filter(([, value]) => value !== '');
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

function entityIn(text: string): string | undefined {
  const cvr = readCvrNumber(text);
  return canonicalEntityId(text) ?? (cvr.kind === 'number' ? companyEntityId(cvr.number) : undefined);
}
