/** Natural persons: they are written to a CRM only if its connection sets `persons: true`. */
import { parseEntityId } from '../../protocol/entity-id.ts';

/**
 * Whether an entity is a natural person. A company without a CVR number, a foreign one, has an id as persons have: only
 * its type tells, and a doubt means a person.
 */
export const isPerson = (id: string, type: string | null | undefined): boolean => {
  const kind = type?.trim().toLowerCase() ?? '';
  return kind === 'person' || (parseEntityId(id)?.kind === 'person' && kind !== 'company');
};
