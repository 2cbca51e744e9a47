import { ProviderError, type Read } from '../../provider.ts';
import { type HubspotRecord, hasMerged, isRecordId, MERGED_IDS, readBatch } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal } from '../client/faults.ts';
import type { ToValues } from './schema.ts';

/**
 * Reads up to 100 companies in one call, and one more call for each that did not come back under its own id: HubSpot
 * documents only for a single GET that it follows merges.
 */
export async function readCompanies(
  apis: Apis,
  ids: readonly string[],
  names: readonly string[],
  toValues: ToValues,
): Promise<readonly Read[]> {
  const asked = ids.filter(isRecordId);
  if (asked.length === 0) return ids.map((id) => ({ kind: 'gone', id }));
  const properties = [...new Set([...names, MERGED_IDS])];
  const { records } = readBatch(
    await apis.batch.read({ inputs: asked.map((id) => ({ id })), properties, propertiesWithHistory: [] }),
  );
  const byId = new Map(records.map((record) => [record.id, record]));
  const reads = new Map<string, Read>();
  let fault: ProviderError | undefined;
  for (const id of asked) {
    const record = byId.get(id) ?? records.find((other) => hasMerged(other, id));
    if (record !== undefined) reads.set(id, readOf(id, record, toValues));
  }
  for (const id of asked) {
    if (reads.has(id) || fault !== undefined) continue;
    try {
      reads.set(id, readOf(id, await findOne(apis, id, properties), toValues));
    } catch (error) {
      // Keep the results of the batch; the next call meets the fault again.
      if (!(error instanceof ProviderError) || reads.size === 0) throw error;
      fault = error;
    }
  }
  const missing = (id: string): Read =>
    fault === undefined ? { kind: 'gone', id } : { kind: 'retry', id, reason: fault.message };
  return ids.map((id) => reads.get(id) ?? (isRecordId(id) ? missing(id) : { kind: 'gone', id }));
}

function readOf(id: string, record: HubspotRecord | undefined, toValues: ToValues): Read {
  if (record === undefined) return { kind: 'gone', id };
  return record.id === id
    ? { kind: 'found', id, properties: toValues(record.properties) }
    : { kind: 'moved', id, to: record.id };
}

/** Reads one record alone, the only reliable way to tell a merge, which returns the survivor, from a deletion. */
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
