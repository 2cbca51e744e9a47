/** One record asked for by itself: the only sure way to tell a merge from a deletion. */
import type { HubspotRecord } from './batch.ts';
import type { Apis } from './client.ts';
import { RefusedAnswer } from './faults.ts';

/** The record that answers to an id, which after a merge is another one; undefined where there is none. */
export async function findOne(
  apis: Apis,
  id: string,
  properties: readonly string[],
): Promise<HubspotRecord | undefined> {
  try {
    return await apis.companies.getById(id, [...properties], undefined, undefined, false);
  } catch (error) {
    if (error instanceof RefusedAnswer && error.status === 404) return undefined;
    throw error;
  }
}
