/** Records of an emulated CRM whose company changed its name, synced by hand: with the real provider, rate limiter and fence. */
import { onTestFinished } from 'vitest';
import { hubspot } from '../../../providers/hubspot/provider.ts';
import type { HubspotEmulatorOptions } from '../../../providers/kit/hubspot/account/options.ts';
import { type HubspotEmulator, startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { type SalesforceEmulator, startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import type { SalesforceEmulatorOptions } from '../../../providers/kit/salesforce/org/org.ts';
import type { PresetRow, Provider } from '../../../providers/provider.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { mappedFields, openCrm } from '../../../src/connector/crm/crm.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { readBatchSize } from '../../../src/connector/write/batch-size.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { type Updates, writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { settingsOf } from '../../providers/salesforce/setup.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';
import { toySettings } from '../../support/toy-crm.ts';

const live = () => new AbortController().signal;
interface Clock {
  now(): number;
  forward(ms: number): void;
}

/** A clock that stands still but for a ms at each look: how fast the machine is decides nothing. */
function slowClock(): Clock {
  let time = Date.UTC(2026, 2, 3);
  return {
    now: () => {
      time += 1;
      return time;
    },
    forward(ms: number) {
      time += ms;
    },
  };
}

/** Something on the way to the CRM: what it answers to a request in its place. */
export type Firewall = (request: {
  readonly method: string;
  readonly url: string;
  readonly body?: string | Uint8Array | undefined;
}) => number | undefined;

export interface Emulated<E = HubspotEmulator | SalesforceEmulator> {
  readonly emulator: E;
  readonly provider: Provider;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly name: string;
}

/** No pace that a test would wait for. */
const FAST = { calls: 9_000, perSeconds: 1 };

export async function emulatedHubspot(options: HubspotEmulatorOptions = {}): Promise<Emulated<HubspotEmulator>> {
  const emulator = await startHubspotEmulator({ rate: 'none', ...options });
  onTestFinished(emulator.close);
  const settings = {
    apiVersion: '2026-09',
    rate: FAST,
    concurrency: 8,
    ...emulator.settings,
  };
  return { emulator, provider: hubspot, settings, name: 'name' };
}

export async function emulatedSalesforce(
  options: SalesforceEmulatorOptions = {},
): Promise<Emulated<SalesforceEmulator>> {
  const emulator = await startSalesforceEmulator(options);
  onTestFinished(emulator.close);
  const settings = settingsOf({ rate: FAST, ...emulator.settings });
  return { emulator, provider: salesforce, settings, name: 'Name' };
}

interface RecordsOptions {
  readonly clock?: Clock;
  readonly batch?: number;
  readonly engine?: (typeof ENGINES)[number];
  /** What is mapped beside the name. */
  readonly rows?: readonly PresetRow[];
}

/** Records of one company that all hold its former name, and whose writes are due. */
export async function recordsOf(
  { emulator, provider, settings, name }: Emulated,
  count: number,
  { clock = slowClock(), batch, engine = 'sqlite', rows = [] }: RecordsOptions = {},
) {
  const { now } = clock;
  const store = await newStore(engine);
  const metrics = createMetrics();
  const client = openClient();
  onTestFinished(client.close);
  const way: { firewall: Firewall | undefined } = { firewall: undefined };
  const http: typeof client.http = async (request) => {
    const status = way.firewall?.(request);
    return status === undefined ? client.http(request) : { status, headers: {}, body: '<html>Request blocked</html>' };
  };
  const mapping: readonly PresetRow[] = [{ field: 'name', property: name, policy: 'tracked' }, ...rows];
  const connect = { connect: provider.connect, observe: undefined };
  const crm = await openCrm(
    { store, http, metrics, now },
    toySettings(connect, { provider, settings, mapping, name: 'crm', batch }),
  );
  const ids = Array.from({ length: count }, () => emulator.add({ [name]: 'A ApS' }));
  for (const recordId of ids)
    await store.write((tx) =>
      linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: now() }),
    );
  const report = async (updates: Updates, hour: number) => {
    const body = JSON.stringify(writePayload(reported(updates, hour)));
    const timestamp = new Date(Date.UTC(2026, 2, 2, hour)).toISOString();
    await store.write((tx) => insertReceipts(tx, [{ key: timestamp, entity: ENTITY, timestamp, body }], now()));
    const receipts = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
    const deps = { store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped: mappedFields([crm]) };
    await applyReceipts(deps, receipts);
  };
  const rename = (before: string, after: string, hour: number) => report({ name: { before, after } }, hour);
  /** Syncs all that is due, at most so many records at a time. */
  const sync = async (most = Number.POSITIVE_INFINITY) => {
    for (let runs = 0; runs < 9; runs += 1) {
      const limit = Math.min(most, await readBatchSize(store.db, crm, now()));
      const claims = await claim(store, 'sync:crm', { limit, now: now(), leaseMs: 60_000 });
      if (claims.length === 0) return;
      await syncRecords({ store, metrics, now }, crm, claims, live());
    }
  };
  const parked = async () =>
    (await store.db.selectFrom('lane').select(['key', 'error']).where('parked_at', 'is not', null).execute()).map(
      ({ key, error }) => [key, error],
    );
  const held = () => ids.map((id) => emulator.get(id)?.[name]);
  /** How many of the records hold it. */
  const holding = (value: string) => held().filter((each) => each === value).length;
  await rename('A ApS', 'B ApS', 8);
  return { store, crm, clock, ids, sync, report, rename, parked, held, holding, way };
}
