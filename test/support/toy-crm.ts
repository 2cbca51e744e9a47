/** A CRM of a few lines behind all that stands between a provider and its server: rate limiter, guards, fence. */
import Type from 'typebox';
import { onTestFinished } from 'vitest';
import { serveEmulator } from '../../providers/kit/emulator/emulator.ts';
import {
  CONTRACT_VERSION,
  type Connection,
  defineProvider,
  type Provider,
  type ProviderContext,
} from '../../providers/provider.ts';
import { type Crm, type CrmConfig, type CrmSettings, openCrm } from '../../src/connector/crm/crm.ts';
import { createMetrics, type Metrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import type { Store } from '../../src/store/store.ts';

export interface ToyCrm extends Partial<Pick<CrmConfig, 'mapping' | 'notes' | 'parent'>> {
  readonly store: Store;
  readonly now: () => number;
  readonly metrics?: Metrics;
  readonly observe?: Provider['observe'] | undefined;
  readonly connect: (lent: ProviderContext) => Connection;
}

/** The settings of a connection `crm` to a provider that connects so; `more` stands in place of the usual. */
export const toySettings = (
  { connect, observe }: Pick<Provider, 'connect'> & Pick<ToyCrm, 'observe'>,
  more: Partial<CrmSettings> = {},
): CrmSettings => ({
  name: 'crm',
  provider: defineProvider({
    name: 'crm',
    contract: CONTRACT_VERSION,
    about: 'a CRM of a few lines',
    settings: Type.Object({}),
    preset: [],
    limits: () => ({
      batch: { read: 9, update: 9 },
      concurrency: 1,
      budgets: { default: { calls: 900, perMs: 1_000 } },
    }),
    connect,
    ...(observe !== undefined && { observe }),
  }),
  settings: {},
  match: undefined,
  mapping: [],
  values: {},
  hold: undefined,
  notes: [],
  autoLink: false,
  persons: false,
  parent: false,
  pollMinutes: 0,
  reconcileHours: 0,
  ...more,
});

/** Opens it under the name `crm`; its client is closed with the test. */
export async function openToyCrm({
  store,
  now,
  metrics = createMetrics(),
  observe,
  connect,
  ...more
}: ToyCrm): Promise<Crm> {
  const client = openClient();
  onTestFinished(client.close);
  const provider = { connect: async (_: unknown, lent: ProviderContext) => connect(lent), observe };
  return openCrm({ store, http: client.http, metrics, now }, toySettings(provider, more));
}

export interface GuardedCalls {
  /** A call of a provider, through the rate limiter and whatever guards the work that it is a part of. */
  call(signal: AbortSignal): Promise<void>;
  /** The calls whose bytes left. */
  readonly left: readonly unknown[];
}

/** Calls to a server that takes them all. */
export async function guardedCalls(
  store: Store,
  { now = Date.now, observe }: Partial<Pick<ToyCrm, 'now' | 'observe'>> = {},
): Promise<GuardedCalls> {
  const { url, calls, close } = await serveEmulator(() => ({ status: 204 }));
  onTestFinished(close);
  const lent = Promise.withResolvers<ProviderContext>();
  await openToyCrm({
    store,
    now,
    observe,
    connect(all) {
      lent.resolve(all);
      return {
        check: async () => ({ id: '1', name: 'x', notes: [] }),
        properties: async () => [],
        read: async () => [],
        update: async () => [],
        scan: async () => ({ records: [] }),
      };
    },
  });
  const { http } = await lent.promise;
  return { left: calls, call: async (signal) => void (await http({ method: 'PATCH', url, signal })) };
}
