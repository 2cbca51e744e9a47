/** A provider that does nothing at once, and writes down when: what is left is the runtime's own time. */
import { writeFileSync } from 'node:fs';
import Type from 'typebox';
import { FIELD_NAMES, FIELDS } from '../../providers/fields.ts';
import { CONTRACT_VERSION, type Connection, defineProvider } from '../../providers/provider.ts';

/** Fifteen properties a record, about as many as a CRM's own preset has. */
const PROPERTIES = FIELD_NAMES.filter((name) => ['text', 'phone', 'code', 'date'].includes(FIELDS[name].kind)).slice(
  0,
  15,
);

/** What the provider did: between which times, in ms, and how often. */
export interface NoopCalls {
  readonly first: number;
  readonly last: number;
  readonly reads: number;
  readonly updates: number;
  readonly written: number;
}

/** Blank companies, which take everything. */
export function connectNoop(told: (calls: NoopCalls) => void): Connection {
  let calls: NoopCalls = { first: Date.now(), last: 0, reads: 0, updates: 0, written: 0 };
  return {
    check: async () => ({ id: 'noop', name: 'nothing', notes: [] }),
    properties: async () => PROPERTIES.map((name) => ({ name, label: name, type: 'string', writable: true })),
    read: async (ids, names) => {
      calls = { ...calls, reads: calls.reads + 1, first: calls.reads === 0 ? Date.now() : calls.first };
      return ids.map((id) => ({
        kind: 'found',
        id,
        properties: Object.fromEntries(names.map((name) => [name, null])),
      }));
    },
    update: async (patches) => {
      calls = { ...calls, updates: calls.updates + 1, written: calls.written + patches.length, last: Date.now() };
      told(calls);
      return patches.map(({ id }) => ({ kind: 'written', id }));
    },
    scan: async () => ({ records: [] }),
  };
}

export const noop = defineProvider({
  name: 'noop',
  contract: CONTRACT_VERSION,
  about: 'nothing, at once',
  settings: Type.Object({ file: Type.String() }, { additionalProperties: false }),
  preset: PROPERTIES.map((name) => ({ field: name, property: name, policy: 'tracked' })),
  limits: () => ({
    batch: { read: 200, update: 200 },
    concurrency: 4,
    budgets: { default: { calls: 1_000_000, perMs: 1_000 } },
  }),
  connect: async ({ file }) => connectNoop((calls) => writeFileSync(file, JSON.stringify(calls))),
});
