import { type MissingRight, ProviderError, type Right } from '../provider.ts';
import type { Apis } from './client/client.ts';
import { HubspotRefusal, lackOf } from './client/faults.ts';

interface Probe {
  /** https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/scopes */
  readonly scope: string;
  readonly call: (apis: Apis) => Promise<unknown>;
}

const NOTHING = { inputs: [] };
const ONLY_IDS = { ...NOTHING, properties: [], propertiesWithHistory: [] };
const WRITES: Probe = {
  scope: 'crm.objects.companies.write',
  call: ({ batch }) => batch.update(NOTHING),
};

/** Parents are associations between companies: the right to write companies covers them. */
const PROBES: Readonly<Record<Right, readonly Probe[]>> = {
  read: [{ scope: 'crm.objects.companies.read', call: ({ batch }) => batch.read(ONLY_IDS) }],
  update: [WRITES],
  create: [WRITES],
  parents: [WRITES],
  notes: [
    { scope: 'crm.objects.contacts.write', call: async (apis) => (await apis.notes()).batch.create(NOTHING) },
    { scope: 'crm.objects.contacts.read', call: async (apis) => (await apis.notes()).batch.read(ONLY_IDS) },
  ],
  define: [
    { scope: 'crm.schemas.companies.write', call: ({ propertyBatch }) => propertyBatch.create('companies', NOTHING) },
  ],
};

/** Tries each scope with an empty batch, which writes nothing: HubSpot checks the scope before the body. */
export async function missingScopes(apis: Apis, rights: readonly Right[]): Promise<readonly MissingRight[]> {
  const answers = new Map<string, string | undefined>();
  const missing: MissingRight[] = [];
  for (const right of rights)
    for (const { scope, call } of PROBES[right]) {
      if (!answers.has(scope)) answers.set(scope, await refusalOf(call(apis), scope));
      const reason = answers.get(scope);
      if (reason !== undefined) missing.push({ right, reason });
    }
  return missing;
}

async function refusalOf(call: Promise<unknown>, scope: string): Promise<string | undefined> {
  try {
    await call;
  } catch (error) {
    // HubSpot may refuse a batch for being empty: then the scope was there.
    if (error instanceof HubspotRefusal) return undefined;
    if (!(error instanceof ProviderError) || error.fault !== 'refused') throw error;
    return lackOf(scope, error.message);
  }
  return undefined;
}
