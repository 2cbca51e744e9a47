/** Calls that a CRM refuses as a whole: the runtime divides them, reads each part again, and parks the one that is left. */
import { expect, it, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../../providers/hubspot/emulator/emulator.ts';
import type { HubspotEmulatorOptions } from '../../../providers/hubspot/emulator/options.ts';
import { hubspot } from '../../../providers/hubspot/provider.ts';
import type { Provider } from '../../../providers/provider.ts';
import { type SalesforceEmulator, startSalesforceEmulator } from '../../../providers/salesforce/emulator/emulator.ts';
import type { SalesforceEmulatorOptions } from '../../../providers/salesforce/emulator/org/org.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { mappedFields, openCrm } from '../../../src/connector/crm/crm.ts';
import { applyReceipts } from '../../../src/connector/facts/apply.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { readBatchSize } from '../../../src/connector/sync/write/batch-size.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { settingsOf } from '../../providers/salesforce/setup.ts';
import { newStore } from '../../support/stores.ts';
import { toySettings } from '../../support/toy-crm.ts';

const live = () => new AbortController().signal;
/** A clock that stands still but for a ms at each look: how fast the machine is decides nothing. */
function slowClock() {
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
type Firewall = (request: {
  readonly method: string;
  readonly url: string;
  readonly body?: string | Uint8Array;
}) => number | undefined;

interface Emulated {
  readonly emulator: Awaited<ReturnType<typeof startHubspotEmulator>> | SalesforceEmulator;
  readonly provider: Provider;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly name: string;
}

async function emulatedHubspot(options: HubspotEmulatorOptions = {}): Promise<Emulated> {
  const emulator = await startHubspotEmulator({ rate: 'none', ...options });
  onTestFinished(emulator.close);
  const settings = {
    apiVersion: '2026-09',
    rate: { calls: 9_000, perSeconds: 1 },
    concurrency: 8,
    ...emulator.settings,
  };
  return { emulator, provider: hubspot, settings, name: 'name' };
}

async function emulatedSalesforce(options: SalesforceEmulatorOptions = {}): Promise<Emulated> {
  const emulator = await startSalesforceEmulator(options);
  onTestFinished(emulator.close);
  return { emulator, provider: salesforce, settings: settingsOf({ ...emulator.settings }), name: 'Name' };
}

/** Records of one company that all hold its former name, and whose writes are due. */
async function recordsOf({ emulator, provider, settings, name }: Emulated, count: number) {
  const clock = slowClock();
  const { now } = clock;
  const store = await newStore('sqlite');
  const metrics = createMetrics();
  const client = openClient();
  onTestFinished(client.close);
  const way: { firewall: Firewall | undefined } = { firewall: undefined };
  const http: typeof client.http = async (request) => {
    const status = way.firewall?.(request);
    return status === undefined ? client.http(request) : { status, headers: {}, body: '<html>Request blocked</html>' };
  };
  const mapping = [{ field: 'name', property: name, policy: 'tracked' }] as const;
  const connect = { connect: provider.connect, observe: undefined };
  const crm = await openCrm(
    { store, http, metrics, now },
    toySettings(connect, { provider, settings, mapping, name: 'crm' }),
  );
  const ids = Array.from({ length: count }, () => emulator.add({ [name]: 'A ApS' }));
  for (const recordId of ids)
    await store.write((tx) =>
      linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: now() }),
    );
  const rename = async (before: string, after: string, hour: number) => {
    const body = JSON.stringify(writePayload(renamed(before, after, hour)));
    const timestamp = new Date(Date.UTC(2026, 2, 2, hour)).toISOString();
    await store.write((tx) => insertReceipts(tx, [{ key: after, entity: ENTITY, timestamp, body }], now()));
    const receipts = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
    const deps = { store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped: mappedFields([crm]) };
    await applyReceipts(deps, receipts);
  };
  const sync = async () => {
    for (let runs = 0; runs < 9; runs += 1) {
      const limit = await readBatchSize(store.db, crm, now());
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
  return { store, crm, clock, ids, sync, rename, parked, held, holding, way };
}

const patchCalls = (emulator: Emulated['emulator']) =>
  emulator.calls.filter(({ method, path }) => method === 'PATCH' || path.includes('/batch/update')).length;

it('writes all of 99 records where a trigger takes no more than 50 in a call, and sends no larger call for a day', async () => {
  const emulated = await emulatedSalesforce({ triggers: [{ kind: 'queries', over: 50 }] });
  const { crm, store, clock, sync, rename, parked, holding } = await recordsOf(emulated, 99);
  await sync();
  expect([holding('B ApS'), await parked(), patchCalls(emulated.emulator)]).toEqual([99, [], 3]);
  expect(await readBatchSize(store.db, crm, clock.now())).toBe(50);
  await rename('B ApS', 'C ApS', 9);
  await sync();
  expect([holding('C ApS'), await parked(), patchCalls(emulated.emulator)]).toEqual([99, [], 5]);
  clock.forward(25 * 3_600_000);
  expect(await readBatchSize(store.db, crm, clock.now())).toBe(200);
});

it('parks the one record of twenty that makes a trigger throw, by name and reason, and writes the others', async () => {
  let poison = '';
  const emulated = await emulatedSalesforce({ triggers: [{ kind: 'throws', on: ({ id }) => id === poison }] });
  const { crm, store, clock, ids, sync, parked, holding } = await recordsOf(emulated, 20);
  poison = ids[13] ?? '';
  await sync();
  expect(await parked()).toEqual([[poison, expect.stringContaining('NullPointerException')]]);
  expect([holding('B ApS'), await readBatchSize(store.db, crm, clock.now())]).toEqual([19, 200]);
});

/** Whether a call writes to a record. */
const isWriteOf = ({ method, url, body }: Parameters<Firewall>[0], id: string): boolean =>
  (method === 'PATCH' || url.includes('/batch/update')) && String(body).includes(id);

it.each([
  ['Salesforce', emulatedSalesforce],
  ['HubSpot', emulatedHubspot],
] as const)('keeps what people wrote into records of %s while their batch is divided', async (_, open) => {
  const emulated = await open();
  const { emulator, name } = emulated;
  const { ids, sync, parked, held, way } = await recordsOf(emulated, 40);
  const poison = ids[21] ?? '';
  const edited = new Set<string>();
  // It takes offence at one record; while it answers, a person edits another one.
  way.firewall = (request) => {
    if (!isWriteOf(request, poison)) return undefined;
    const next = ids.find((id) => id !== poison && !edited.has(id) && emulator.get(id)?.[name] === 'A ApS');
    if (next !== undefined) {
      emulator.edit(next, { [name]: `Edit of ${next}` });
      edited.add(next);
    }
    return 403;
  };
  await sync();
  expect(edited.size).toBeGreaterThan(4);
  expect(await parked()).toEqual([[poison, expect.stringContaining('did not answer')]]);
  const wanted = ids.map((id) => (edited.has(id) ? `Edit of ${id}` : id === poison ? 'A ApS' : 'B ApS'));
  expect(held()).toEqual(wanted);
});

it('pauses the connection, and parks nothing, where a firewall lets no write through', async () => {
  const emulated = await emulatedHubspot();
  const { crm, ids, sync, parked, holding } = await recordsOf(emulated, 20);
  emulated.emulator.fault({
    match: 'batch/update',
    times: 99,
    action: { kind: 'status', status: 403, body: '<html>' },
  });
  await sync();
  expect([await parked(), holding('A ApS')]).toEqual([[], ids.length]);
  expect(await crm.rateLimiter.blockedUntil()).toMatchObject({ reason: expect.stringContaining('firewall') });
  expect(patchCalls(emulated.emulator)).toBeLessThan(10);
});

it('tries a record again that is refused alone with nothing to compare it with, and parks it once others go through', async () => {
  const emulated = await emulatedHubspot();
  const { store, clock, ids, sync, parked, holding, way } = await recordsOf(emulated, 2);
  const [poison = ''] = ids;
  way.firewall = (request) => (isWriteOf(request, poison) ? 413 : undefined);
  await store.write((tx) =>
    tx
      .updateTable('lane')
      .set({ due_at: clock.now() + 60_000 })
      .where('key', '<>', poison)
      .execute(),
  );
  await sync();
  expect([await parked(), holding('B ApS')]).toEqual([[], 0]);
  clock.forward(120_000);
  await sync();
  expect(await parked()).toEqual([[poison, expect.stringContaining('did not answer')]]);
  expect(holding('B ApS')).toBe(1);
});
