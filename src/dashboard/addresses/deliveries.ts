/** Which deliveries a person asks for: by the fields of a form or of an address. */
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { canonicalEntityId, companyEntityId } from '../../protocol/entity-id.ts';
import { DELIVERY_STATES, type DeliveryFilter } from '../../service/delivery/deliveries.ts';
import { monitorIdsOf } from '../../service/monitors/monitor-row.ts';
import type { Db } from '../../store/store.ts';
import { readTime } from '../page/typed-time.ts';

/** The fields in the order in which they are asked for. */
const DELIVERY_FIELDS = ['monitor', 'entity', 'state', 'since', 'until'] as const;

export type DeliveryTexts = Readonly<Record<(typeof DELIVERY_FIELDS)[number], string>>;

/** A filter, the text that cannot be read, or the monitors that all have the name. */
type ReadDeliveries =
  | { readonly ok: true; readonly filter: DeliveryFilter }
  | { readonly ok: false; readonly value: string; readonly several?: readonly string[] };

/** The fields as they were given; what is not given is empty. */
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

/** Reads the fields. A monitor goes by its id or its name, as the list shows it; a time without a zone is Danish. */
export async function readDeliveryFilter(
  db: Db,
  { monitor, entity, state, since, until }: DeliveryTexts,
): Promise<ReadDeliveries> {
  const [from, to] = [readTime(since), readTime(until)];
  if (from === 'unreadable') return { ok: false, value: since };
  if (to === 'unreadable') return { ok: false, value: until };
  const named = DELIVERY_STATES.find((each) => each === state);
  if (named === undefined && state !== '') return { ok: false, value: state };
  // The deliveries of a monitor that was removed stay; nobody knows its name any more.
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

/** Whether a filter is narrow enough for a replay: by who got it, what it is about, or since when. */
export const isNarrowFilter = ({ monitor, entity, since }: DeliveryFilter): boolean =>
  monitor !== undefined || entity !== undefined || since !== undefined;

/** The address of the list of these deliveries. */
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
