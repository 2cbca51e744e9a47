/** Requests a full update of companies with a mapped list that is known in part. */
import type { FieldName } from '../../../providers/fields.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import { isStatedWhole } from '../facts/extract.ts';
import { type Fact, isKnownInPart } from '../facts/fact.ts';
import { updateLink } from '../links/links.ts';
import { linkKey, MONITORING_QUEUE } from '../names/queues.ts';

export type Needed = ReadonlyMap<string, ReadonlySet<FieldName>>;

/**
 * Requests a full update of each such company through one of its links; returns the queues with work. A link asks once
 * for what one receipt left incomplete: an update without the list is not requested again before something new is
 * known.
 */
export async function askFullUpdates(
  tx: Tx,
  facts: Iterable<Fact>,
  needed: Needed,
  now: number,
): Promise<ReadonlySet<string>> {
  const partial = Map.groupBy([...facts].filter(isIncomplete), ({ entity }) => entity);
  if (partial.size === 0) return new Set();
  const links = await tx
    .selectFrom('link')
    .select(['provider', 'record_id', 'entity', 'asked_seq'])
    .where('entity', 'in', each(tx, [...partial.keys()]))
    .where('state', '=', 'active')
    .where('desired', '=', 'on')
    .where('observed', '!=', 'refused')
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  const asking = new Map<string, { readonly provider: string; readonly recordId: string; readonly seq: number }>();
  for (const { provider, record_id: recordId, entity, asked_seq } of links) {
    const open = (partial.get(entity) ?? []).filter(({ field }) => needed.get(provider)?.has(field) === true);
    const seq = Math.max(0, ...open.map((fact) => fact.seq));
    if (seq > (asked_seq ?? 0) && !asking.has(entity)) asking.set(entity, { provider, recordId, seq });
  }
  if (asking.size === 0) return new Set();
  const keys = [...asking.values()].map(({ provider, recordId }) => linkKey(provider, recordId));
  await mark(tx, MONITORING_QUEUE, keys, now);
  for (const { seq, ...link } of asking.values()) await updateLink(tx, link, { send_update: 1, asked_seq: seq });
  return new Set([MONITORING_QUEUE]);
}

const isIncomplete = (fact: Fact): boolean => isKnownInPart(fact) && isStatedWhole(fact.field);
