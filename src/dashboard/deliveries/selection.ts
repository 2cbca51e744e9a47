/** Which deliveries a person asks for: by the fields of a form or of an address. */
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { canonicalEntityId, companyEntityId } from '../../protocol/entity-id.ts';
import type { DeliveryFilter, DeliveryState } from '../../service/delivery/deliveries.ts';
import { readTime } from '../page/typed-time.ts';

/** The fields in the order in which they are asked for. */
export const DELIVERY_FIELDS = ['monitor', 'entity', 'state', 'since', 'until'] as const;
export const DELIVERY_STATES: readonly DeliveryState[] = ['due', 'held', 'done', 'failed', 'dropped'];

export type DeliveryTexts = Readonly<Record<(typeof DELIVERY_FIELDS)[number], string>>;

/** A filter, or the text that cannot be read. */
type ReadDeliveries =
  | { readonly ok: true; readonly filter: DeliveryFilter }
  | { readonly ok: false; readonly value: string };

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

/** Reads the fields. A time without a zone is Danish. */
export function readDeliveryFilter({ monitor, entity, state, since, until }: DeliveryTexts): ReadDeliveries {
  const [from, to] = [readTime(since), readTime(until)];
  if (from === 'unreadable') return { ok: false, value: since };
  if (to === 'unreadable') return { ok: false, value: until };
  const named = DELIVERY_STATES.find((each) => each === state);
  if (named === undefined && state !== '') return { ok: false, value: state };
  return {
    ok: true,
    filter: {
      ...(monitor !== '' && { monitor }),
      ...(entity !== '' && { entity: entityIn(entity) ?? entity }),
      ...(named !== undefined && { state: named }),
      ...(from !== undefined && { since: from }),
      ...(to !== undefined && { until: to }),
    },
  };
}

/** Whether a filter is narrow enough for a replay: by whom it went to, what it is about, or since when. */
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
