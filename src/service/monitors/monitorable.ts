/** Which entities a monitor can list. */
import { parseEntityId } from '../../protocol/entity-id.ts';

export type Monitorable =
  | { readonly ok: true; readonly entity: string }
  /** The end of a sentence whose subject is the given text: `is …`. */
  | { readonly ok: false; readonly reason: string };

/**
 * The canonical id of a company or person. Refuses well-formed ids that the register cannot have: no event would ever
 * come for them.
 */
export function readMonitorable(text: string): Monitorable {
  const id = parseEntityId(text);
  if (id === undefined) return { ok: false, reason: 'is not an entity id such as CVR-1-12345678' };
  const { kind, number, canonical } = id;
  if (kind === 'company' && !/^\d{8}$/.test(number))
    return { ok: false, reason: 'is no company: a CVR number has eight digits' };
  if (kind === 'company' || (kind === 'person' && /^\d{1,10}$/.test(number))) return { ok: true, entity: canonical };
  return { ok: false, reason: 'cannot be monitored: only companies (CVR-1-…) and persons (CVR-3-…) can' };
}
