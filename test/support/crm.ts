/** An open CRM around a connection that a test scripts. */
import Type from 'typebox';
import {
  CONTRACT_VERSION,
  type Connection,
  defineProvider,
  type PresetRow,
  type Property,
} from '../../providers/provider.ts';
import type { Crm } from '../../src/connector/crm/crm.ts';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import type { Store } from '../../src/store/store.ts';

export interface ScriptedCrm {
  readonly store: Store;
  readonly connection: Connection;
  readonly mapping: readonly PresetRow[];
  readonly properties: readonly Property[];
  readonly now: () => number;
  readonly hold?: string;
  /** Where the CRM keeps the CVR number. */
  readonly match?: string;
  /** Records in a batch; ten where absent. */
  readonly batch?: number;
}

/** The CRM `crm`: no pace worth the name, nothing switched on. */
export function crmOf({ store, connection, mapping, properties, now, hold, match, batch = 10 }: ScriptedCrm): Crm {
  const budgets = { default: { calls: 9, perMs: 1 } };
  const limits = { batch: { read: batch, update: batch }, concurrency: 1, budgets };
  const provider = defineProvider({
    name: 'crm',
    contract: CONTRACT_VERSION,
    about: 'a CRM that a test scripts',
    settings: Type.Object({}),
    preset: mapping,
    limits: () => limits,
    connect: async () => connection,
  });
  const schema = new Map(properties.map((each) => [each.name, each]));
  return {
    name: 'crm',
    provider,
    settings: {},
    connection,
    limits,
    rateLimiter: createRateLimiter({ store, key: 'crm', budgets, now }),
    mapping,
    values: {},
    hold,
    match,
    notes: [],
    autoLink: false,
    persons: false,
    parent: false,
    pollMinutes: 5,
    reconcileHours: 24,
    schema: async () => schema,
    forgetSchema() {},
  };
}
