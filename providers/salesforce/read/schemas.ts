/** The account's fields as one connection knows them: read once, and again if Salesforce says that they changed. */
import type { Calls } from '../client/client.ts';
import { SalesforceRefusal } from '../client/errors.ts';
import type { AccountRow } from '../client/update-call.ts';
import { type SalesforceSchema, schemaOf } from './fields.ts';

export interface Schemas {
  describe(calls: Calls): Promise<readonly AccountRow[]>;
  known(calls: Calls): Promise<SalesforceSchema>;
  fresh(calls: Calls): Promise<SalesforceSchema>;
  /** Runs `work` with the visible fields; if one was removed or hidden since, runs it once more without it. */
  withFields<T>(
    calls: Calls,
    names: readonly string[],
    work: (visible: readonly string[], schema: SalesforceSchema) => Promise<T>,
  ): Promise<T>;
}

export function openSchemas(): Schemas {
  let schema: SalesforceSchema | undefined;
  const describe = async (calls: Calls) => {
    const fields = await calls.describe();
    schema = schemaOf(fields);
    return fields;
  };
  const fresh = async (calls: Calls): Promise<SalesforceSchema> => schemaOf(await describe(calls));
  const known = async (calls: Calls): Promise<SalesforceSchema> => schema ?? fresh(calls);
  return {
    describe,
    known,
    fresh,
    async withFields(calls, names, work) {
      const before = await known(calls);
      const visible = names.filter((name) => before.has(name));
      try {
        return await work(visible, before);
      } catch (error) {
        if (!(error instanceof SalesforceRefusal) || !error.errors.some(({ code }) => code === 'INVALID_FIELD'))
          throw error;
        const now = await fresh(calls);
        const left = visible.filter((name) => now.has(name));
        if (left.length === visible.length) throw error;
        return work(left, now);
      }
    },
  };
}
