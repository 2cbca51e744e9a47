import { ProviderError, type Search } from '../../provider.ts';
import { type HubspotRecord, readBatch } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal } from '../client/faults.ts';
import type { HubspotSchema } from './schema.ts';

const MOST = 10;
/** Shown with the property, so that a person recognises the company. */
const NAME = 'name';

/**
 * Finds at most ten companies that hold a value. HubSpot looks up a unique property in its records, which is sure, and
 * any other one in its search index, which lags behind writes.
 */
export async function findHolders(apis: Apis, schema: HubspotSchema, property: string, value: string): Promise<Search> {
  const definition = await schema.definition(apis, property);
  if (definition === undefined)
    throw new ProviderError(
      'refused',
      `HubSpot has no company property ${property}; name one that it has, or create it there`,
    );
  const toValues = await schema.valuesOf(apis, [...new Set([property, NAME])]);
  const show = (records: readonly HubspotRecord[], sure: boolean): Search => ({
    records: records.slice(0, MOST).map(({ id, properties }) => ({ id, properties: toValues(properties) })),
    sure,
  });
  if (definition.hasUniqueValue === true) {
    const records = await byUnique(apis, property, value);
    if (records !== undefined) return show(records, true);
  }
  const { results } = await apis.search.doSearch({
    filterGroups: [{ filters: [{ propertyName: property, operator: apis.Operator.Eq, value }] }],
    properties: [...new Set([property, NAME])],
    limit: MOST,
  });
  return show(results, false);
}

/** The record with that value of a unique property, read past the index; undefined if HubSpot does not say. */
export async function byUnique(
  apis: Apis,
  property: string,
  value: string,
): Promise<readonly HubspotRecord[] | undefined> {
  try {
    const { records, errors } = readBatch(
      await apis.batch.read({
        idProperty: property,
        inputs: [{ id: value }],
        properties: [...new Set([property, NAME])],
        propertiesWithHistory: [],
      }),
    );
    return errors.every(({ category }) => category === 'OBJECT_NOT_FOUND') ? records : undefined;
  } catch (error) {
    if (!(error instanceof HubspotRefusal)) throw error;
    if (error.body.category === 'OBJECT_NOT_FOUND') return [];
    return undefined;
  }
}
