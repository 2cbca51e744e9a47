import { ProviderError } from '../../provider.ts';
import { type HubspotRecord, isRecordId } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal } from '../client/faults.ts';

/**
 * Reads one record alone, the only reliable way to tell a merge from a deletion: after a merge HubSpot returns the
 * survivor.
 */
export async function findOne(
  apis: Apis,
  id: string,
  properties: readonly string[],
): Promise<HubspotRecord | undefined> {
  try {
    const record = await apis.companies.getById(id, [...properties], undefined, undefined, false);
    if (!isRecordId(String(record.id))) throw new ProviderError('unavailable', 'HubSpot gave a company without its id');
    return record;
  } catch (error) {
    if (error instanceof HubspotRefusal && error.status === 404) return undefined;
    throw error;
  }
}
