/** A fixture for end-to-end tests: both CRMs emulated in this process, a store, and the whole app over HTTP. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import type { CrmEmulator } from '../../providers/kit/emulator/emulator.ts';
import type { HubspotEmulatorOptions } from '../../providers/kit/hubspot/account/options.ts';
import { type HubspotEmulator, startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { type SalesforceEmulator, startSalesforceEmulator } from '../../providers/kit/salesforce/emulator.ts';
import type { SalesforceEmulatorOptions } from '../../providers/kit/salesforce/org/org.ts';
import type { PropertyValue } from '../../providers/provider.ts';
import { type App, startApp } from '../../src/app.ts';
import { checkConfig } from '../../src/config/load.ts';
import type { HistoryLine } from '../../src/connector/history/history-lines.ts';
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { type Writable, writePayload } from '../../src/protocol/payload.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type Ran, runCli } from './cli.ts';
import type { HandClock } from './clock.ts';
import { historyLines } from './history.ts';
import { type ENGINES, newFolder, newStoreUrl, SALTED } from './stores.ts';
import { untilNone } from './until-none.ts';

export type CrmName = 'hubspot' | 'salesforce';

export interface Crms {
  readonly hubspot: HubspotEmulator;
  readonly salesforce: SalesforceEmulator;
}

/** Both emulators, closed with the test. Without limits of calls unless given: a pace costs a test half of its time. */
export async function startCrms(
  options: { readonly hubspot?: HubspotEmulatorOptions; readonly salesforce?: SalesforceEmulatorOptions } = {},
): Promise<Crms> {
  const hubspot = await startHubspotEmulator({ rate: 'none', ...options.hubspot });
  onTestFinished(() => hubspot.close());
  const salesforce = await startSalesforceEmulator({ rate: 'none', ...options.salesforce });
  onTestFinished(() => salesforce.close());
  return { hubspot, salesforce };
}

/** The connections' common keys that a test sets beside the settings of its emulator; false leaves a connection out. */
export type Connections = Readonly<Partial<Record<CrmName, object | false>>>;

export interface ConfigOptions {
  readonly connections?: Connections;
  readonly upstream?: {
    readonly baseUrl: string;
    readonly accessKey: string;
    readonly requestsPerMinute?: number;
  };
  readonly leaseSeconds?: number;
  /** The service's half; absent if there is none. */
  readonly service?: object;
  /** The admin listener's keys, beside its free port. */
  readonly admin?: object;
}

/** A configuration file's content: a connector without authentication on a free port, connected to the emulators. */
export function configFor(crms: Crms, store: string, options: ConfigOptions = {}): object {
  const { connections = {}, upstream, leaseSeconds, service, admin } = options;
  // Nobody asks a CRM what happened if the test does not want it: the test may count its calls.
  const quiet = { pollMinutes: 0, reconcileHours: 0 };
  const connection = (name: CrmName): object => ({ use: name, ...crms[name].settings, ...quiet, ...connections[name] });
  return {
    server: { port: 0 },
    store,
    connector: {
      webhook: { auth: { method: 'None' } },
      providers: Object.fromEntries(
        (['hubspot', 'salesforce'] as const)
          .filter((name) => connections[name] !== false)
          .map((name) => [name, connection(name)]),
      ),
      limits: { ...(leaseSeconds !== undefined && { leaseSeconds }) },
      ...(upstream !== undefined && { upstream }),
    },
    ...(service !== undefined && { service }),
    // Tests read the metrics without a token.
    admin: { openMetrics: true, ...admin },
  };
}

/** What a clock that is set by hand gains at each look, 20 ms apart. */
const FAST_MS = 200;

export interface FixtureOptions extends ConfigOptions {
  readonly engine?: (typeof ENGINES)[number];
  /** The URL of a store that was filled; a new one where absent. */
  readonly store?: string;
  readonly hubspot?: HubspotEmulatorOptions;
  readonly salesforce?: SalesforceEmulatorOptions;
  /** The daemon's clock; the machine's where absent. */
  readonly clock?: HandClock;
  /** Leaves workers to their own poll if a clock is set on: what falls due meanwhile is found together, as in a daemon. */
  readonly unhurried?: true;
  /** Fills the store before the daemon opens it: from its start on the daemon writes, too. */
  readonly before?: (store: Store, crms: Crms) => Promise<void>;
  /** The deadline of one call to a CRM, in ms. */
  readonly deadlineMs?: number;
  /** The pages that edit the file are there. */
  readonly hasSettings?: true;
}

export interface Fixture extends Crms {
  readonly app: App;
  /** Posts a webhook and returns the status of the answer. */
  post(payload: Writable | string, headers?: Readonly<Record<string, string>>): Promise<number>;
  link(provider: CrmName, recordId: string, entity: string): Promise<void>;
  /** Adds a record to a CRM, links it, and returns its id. */
  addLinked(provider: CrmName, entity: string, properties: Readonly<Record<string, PropertyValue>>): Promise<string>;
  /** Resolves when nothing is due: what waits for a back-off is left. */
  settled(): Promise<void>;
  /** Sets the clock on once nothing is due: a jump between the read of a record and its write makes the read too old, each time. */
  forward(ms: number): Promise<void>;
  /** Resolves when at most `behind` companies and records (none) are behind; a clock that is set by hand runs fast meanwhile. */
  atRest(behind?: number): Promise<void>;
  /** The configuration file of the daemon. */
  readonly configFile: string;
  /** Runs one command line of the real program on the same store and CRMs, beside the daemon. */
  cli(...argv: readonly string[]): Promise<Ran>;
  /** The decisions on one record, oldest first. */
  history(recordId: string): Promise<readonly HistoryLine[]>;
}

/** Sets a clock on while a CRM is not asked: to what reads and writes right after, a fast clock looks like a slow machine. */
function forwardWhileQuiet(clock: HandClock, ...crms: readonly CrmEmulator[]): (ms: number) => void {
  let seen = 0;
  return (ms) => {
    const calls = crms.reduce((count, crm) => count + crm.calls.length, 0);
    if (calls === seen) clock.forward(ms);
    seen = calls;
  };
}

/** Starts everything; all of it ends with the test. */
export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const crms = await startCrms(options);
  const url = options.store ?? (await newStoreUrl(options.engine ?? 'sqlite', SALTED));
  const config = configFor(crms, url, options);
  const file = join(newFolder(), 'cvrsync.yaml');
  await writeFile(file, JSON.stringify(config));
  const loaded = await checkConfig(config, file, {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const { clock, deadlineMs, before } = options;
  if (before !== undefined) {
    const filled = await openStore(url);
    await before(filled, crms);
    await filled.close();
  }
  const now = clock?.now ?? Date.now;
  const forwardQuietly = clock && forwardWhileQuiet(clock, crms.hubspot, crms.salesforce);
  const log = pino({ level: process.env['CVRSYNC_TEST_LOG'] ?? 'silent' });
  const app = await startApp(loaded.config, {
    ...{ log, env: {}, now, ...(deadlineMs !== undefined && { deadlineMs }) },
    ...(options.hasSettings && { configFile: file }),
  });
  onTestFinished(() => app.close(0));
  const { store, connector } = app;

  // What is due by a clock set by hand is looked for at once: by themselves workers look once a second of the machine's.
  let looking = false;
  clock?.watch(() => {
    if (looking || connector === undefined || options.unhurried === true) return;
    looking = true;
    const looked = () => {
      looking = false;
    };
    connector.drained().then(looked, looked);
  });

  const link = async (provider: CrmName, recordId: string, entity: string): Promise<void> => {
    const linked = await store.write((tx) =>
      linkRecord(tx, { provider, recordId, entity, sendUpdate: false, now: now() }),
    );
    expect(linked).toEqual({ kind: 'linked' });
  };
  const settled = async (): Promise<void> => connector?.drained();
  return {
    ...crms,
    app,
    post: (payload, headers) => postWebhook(`${app.url}/webhook`, payload, headers),
    link,
    async addLinked(provider, entity, properties) {
      const id = crms[provider].add(properties);
      await link(provider, id, entity);
      return id;
    },
    settled,
    async forward(ms) {
      await settled();
      clock?.forward(ms);
    },
    atRest: (behind = 0) =>
      untilNone(
        async () => {
          forwardQuietly?.(FAST_MS);
          return (await lanesBehind(store)).slice(behind);
        },
        { interval: 20 },
      ),
    configFile: file,
    cli: (...argv) => runCli(['--config', file, ...argv]),
    history: async (recordId) => (await historyLines(store.db)).filter(({ record_id }) => record_id === recordId),
  };
}

/** Posts a webhook and returns the status; throws if there is no answer. */
export async function postWebhook(
  url: string,
  payload: Writable | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(writePayload(payload));
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** The lanes of companies and records that are behind, as `queue key error`, and whether events wait to be read. */
export async function lanesBehind(store: Store): Promise<readonly string[]> {
  // Before the lanes: an arrival becomes a lane, and between two reads in the other order neither was seen.
  const arrives = await hasArrivals(store.db);
  const lanes = await store.db.selectFrom('lane').selectAll().orderBy('queue').orderBy('key').execute();
  const behind = lanes
    .filter(({ queue }) => queue === 'apply' || queue.startsWith('sync:'))
    .map(({ queue, key, error }) => `${queue} ${key} ${error ?? ''}`.trim());
  return arrives ? ['arrivals', ...behind] : behind;
}

/** A second pair of eyes on the store of a daemon that runs elsewhere; closed with the test. */
export async function watchStore(url: string): Promise<Store> {
  const store = await openStore(url, { migrate: false });
  onTestFinished(() => store.close());
  return store;
}
