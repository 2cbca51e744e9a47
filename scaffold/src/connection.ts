/** A connection to one account: the verbs of the contract, each a call or two. */
import { type Connection, type ProviderContext, ProviderError } from 'cvrsync/provider';
import { call } from './call.ts';
import { decideRead, decideUpdate } from './decide.ts';
import { PROPERTIES, toValues } from './properties.ts';
import type { Settings } from './settings.ts';

export async function connect(settings: Settings, context: ProviderContext): Promise<Connection> {
  const ask = (signal: AbortSignal) => call(context, settings, signal);
  return {
    check: async (signal) => {
      const { id, name } = await ask(signal)('GET', '/account');
      return { id: String(id), name: String(name), notes: [] };
    },
    // If the CRM has a schema, read it: people add properties and set lengths.
    properties: async () => PROPERTIES,
    read: async (ids, properties, signal) => {
      if (ids.length === 0) return [];
      const answer = await ask(signal)('POST', '/companies/read', { ids });
      return ids.map((id) => decideRead(id, properties, answer));
    },
    update: async (patches, signal) => {
      if (patches.length === 0) return [];
      const answer = await ask(signal)('POST', '/companies/update', { companies: patches });
      return patches.map(({ id }) => decideUpdate(id, answer));
    },
    scan: async (properties, cursor, signal) => {
      const { companies, next } = await ask(signal)('GET', `/companies?after=${encodeURIComponent(cursor ?? '')}`);
      if (!Array.isArray(companies)) throw new ProviderError('unavailable', 'My CRM answered without companies');
      const records = companies.map((company) => ({
        id: String(company.id),
        properties: toValues(company.values, properties),
      }));
      return typeof next === 'string' ? { records, cursor: next } : { records };
    },
  };
}
