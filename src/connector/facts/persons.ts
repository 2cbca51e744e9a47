/** Natural persons, who are written to a CRM only if its connection sets `persons: true`. */
import { parseEntityId } from '../../protocol/entity-id.ts';

/**
 * A foreign company without a CVR number has an id like a person's: only its type shows it, and in doubt it counts as a
 * person.
 */
export const isPerson = (id: string, type: string | null | undefined): boolean => {
  const kind = type?.trim().toLowerCase() ?? '';
  return kind === 'person' || (parseEntityId(id)?.kind === 'person' && kind !== 'company');
};
