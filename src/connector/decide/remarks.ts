/** Parts of a payload that will not be written, and why. */
import { FIELDS, type FieldName } from '../../../providers/fields.ts';
import { EVENT_NAMES, leavesUnknown } from '../../protocol/events.ts';
import type { Payload } from '../../protocol/payload.ts';
import { isMembers } from '../facts/assertion.ts';
import { extract, fieldUpdates } from '../facts/extract.ts';
import { type Fact, fold, isKnownInPart } from '../facts/fact.ts';
import { datedBy } from '../intake/ahead.ts';

export interface Remark {
  readonly entry: string;
  readonly kind: 'malformed' | 'unknown' | 'incomplete' | 'ahead';
  readonly detail: string;
}

/** Events that set no property of a company by themselves. */
const NO_FIELDS: ReadonlySet<string> = new Set(['addedToMonitor', 'removedFromMonitor', 'newCompany', 'merger']);

/** `known`: the facts before the payload. Pure. */
export function remarksOn(payload: Payload, known: ReadonlyMap<FieldName, Fact>, now: number): readonly Remark[] {
  const { quarantined } = datedBy(payload, now);
  const silent = EVENT_NAMES.flatMap((event): readonly Remark[] => {
    const data = payload.updates[event];
    if (data === undefined || NO_FIELDS.has(event) || fieldUpdates(event, payload).length > 0) return [];
    const why = leavesUnknown(event, data) ? 'the value after the change is not there' : 'its period is not usable';
    return [{ entry: event, kind: 'incomplete', detail: `nothing in it can be written: ${why}` }];
  });
  const partial = extract(payload).flatMap((assertion): readonly Remark[] => {
    if (!isMembers(assertion)) return [];
    const { fact } = fold(known.get(assertion.field), payload.entityId, assertion, Number.MAX_SAFE_INTEGER);
    const until = 'partial' in FIELDS[assertion.field] ? '' : ' until a full update states it';
    return isKnownInPart(fact)
      ? [{ entry: assertion.field, kind: 'incomplete', detail: `only partly known: not written${until}` }]
      : [];
  });
  return [
    ...payload.malformed.map(({ event, path, message }): Remark => {
      return { entry: event, kind: 'malformed', detail: `${path} ${message}` };
    }),
    ...Object.keys(payload.unknown).map((entry): Remark => {
      return { entry, kind: 'unknown', detail: 'there is no event of this name: it writes nothing to a CRM' };
    }),
    ...silent,
    ...partial,
    ...(quarantined === undefined
      ? []
      : [{ entry: 'timestamp or period', kind: 'ahead', detail: quarantined } as const]),
  ];
}
