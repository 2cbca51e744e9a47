/**
 * A world in one process: the register, two CRMs, a receiver of webhooks, people, and one daemon with both halves. All that
 * happens comes from a plan, and all that is left open from a seed.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { type HubspotEmulator, startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { type SalesforceEmulator, startSalesforceEmulator } from '../../providers/kit/salesforce/emulator.ts';
import { type RegisterEmulator, serveRegister } from '../../src/commands/emulate/register.ts';
import { sampleSeries } from '../../src/commands/emulate/sample/stream.ts';
import { type Config, checkConfig } from '../../src/config/load.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import type { Tx } from '../../src/store/store.ts';
import { addRecords, RESPELL } from '../chaos/records.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { installNetwork, type Network } from './network.ts';
import { type CrmRecord, PROPERTIES } from './people.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { installTime, type Time } from './time.ts';
import './loaded.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly companies: number;
  /** Called with every line of the trace. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

export interface World {
  readonly time: Time;
  readonly network: Network;
  readonly hubspot: HubspotEmulator;
  readonly salesforce: SalesforceEmulator;
  readonly register: RegisterEmulator;
  readonly receiver: Receiver;
  /** The company of each entity id as the register has it now, and the documents that it had. */
  readonly companies: Map<string, RegisterCompany>;
  /** The next document of some company. */
  readonly nextDocument: () => { readonly document: unknown; readonly company: SampleCompany };
  /** Records that live. */
  readonly records: CrmRecord[];
  readonly linked: Set<CrmRecord>;
  /** What a person does as soon as a record was read once more, by its id. */
  readonly afterRead: Map<string, () => void>;
  /** The one that runs, or undefined while it is down. */
  daemon: Daemon | undefined;
  /** What its clock is ahead, in ms. */
  skew: number;
  daemonNow(): number;
  /** Starts the daemon, and again whenever it died. */
  start(): Promise<void>;
  /** Has a person's command write into the store; undefined, and nothing done, if no daemon runs beside it. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T | undefined>;
  /** A record is gone. */
  forget(record: CrmRecord): void;
  /** Why a daemon did not start again. */
  broken: unknown;
  note(line: string): void;
  /** Of all that happened so far. */
  digest(): string;
  close(): Promise<void>;
}

export interface RegisterCompany {
  readonly first: SampleCompany;
  document: unknown;
  company: SampleCompany;
  loadedAt: number;
  /** What the register held before, newest last. */
  readonly past: { readonly document: unknown; readonly company: SampleCompany }[];
}

const START = Date.UTC(2026, 0, 5, 7);
/** What people write into, too. */
const CONTESTED = ['name', 'phoneNumber', 'address'] as const;
/** More changes than a world has steps. */
const ENDLESS = 1_000_000;
/** Between two documents of the sample series, which begins a year before the world. */
const STEP_MS = 4 * 60_000;
const KEY = Buffer.alloc(32, 7).toString('base64');

/** Opens a world in which nothing happened yet: its daemon runs, and some records are linked. */
export async function openWorld({ seed, companies: count, onTrace }: WorldOptions): Promise<World> {
  const hash = createHash('sha256');
  const note = (line: string): void => {
    hash.update(`${line}\n`);
    onTrace?.(line);
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'cvrsync-world-'));
  const time = installTime(seed, START, (at, what) => note(`${at.toFixed(2)} ${what}`));
  const network = installNetwork(seed, time, (line) => note(`  ${line}`));
  const now = (): number => time.now();
  const level = process.env['CVRSYNC_TEST_LOG'] ?? 'silent';
  const log = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
  const random = randomFrom(seed);

  const hubspot = await startHubspotEmulator({ now, respell: RESPELL.hubspot, serve: network.serve('hubspot') });
  const salesforce = await startSalesforceEmulator({
    ...{ now, respell: RESPELL.salesforce, trackedFields: Object.keys(RESPELL.salesforce) },
    serve: network.serve('salesforce'),
  });
  const register = await serveRegister({ seed, companies: count, serve: network.serve('register') });
  const series = sampleSeries(seed, count, ENDLESS, { stepMs: STEP_MS, units: false });
  const companies = new Map<string, RegisterCompany>();
  for (let index = 0; index < count; index += 1) {
    const first = series.next().value;
    if (first === undefined) break;
    const loadedAt = START - 3_600_000 + index;
    register.put(first.document, loadedAt);
    companies.set(first.company.entityId, { ...first, first: first.company, loadedAt, past: [] });
  }
  const storeAt = (start: number): string => path.join(folder, String(start), 'store.db');
  const receiver = openReceiver();
  await network.serve('receiver')(receiver.handle);
  const config = await configOf({ hubspot, salesforce, register }, storeAt(1));
  const records = addRecords({ hubspot, salesforce }, sampleCompanies(seed, count), random).map((record): CrmRecord => {
    const theirs = new Set(record.edits.has(PROPERTIES[record.crm].name) ? [PROPERTIES[record.crm].name] : []);
    return { ...record, theirs, held: new Set() };
  });

  let starts = 0;
  let isClosed = false;
  const url = network.serveProcess('daemon', () =>
    world.daemon === undefined ? undefined : { owner: world.daemon.owner, handle: world.daemon.handle },
  );
  const world: World = {
    ...{ time, network, hubspot, salesforce, register, receiver, companies, records, note },
    nextDocument() {
      for (let tries = 0; ; tries += 1) {
        const next = series.next();
        if (next.done === true) throw new Error('the series of the register has an end');
        const { company } = next.value;
        const before = companies.get(company.entityId)?.company ?? company;
        // What people edit, too, changes most; what is passed over stands in the company's next document.
        if (tries === 5 || CONTESTED.some((part) => !isDeepStrictEqual(before[part], company[part]))) return next.value;
      }
    },
    linked: new Set(),
    afterRead: new Map(),
    daemon: undefined,
    skew: 0,
    broken: undefined,
    daemonNow: () => time.now() + world.skew,
    async start() {
      starts += 1;
      const name = `daemon-${starts}`;
      const daemon = await startDaemon({
        config: { ...config, store: storeAt(starts) },
        nextStore: storeAt(starts + 1),
        name,
        time,
        log,
        skew: () => world.skew,
        url,
      });
      world.daemon = daemon;
      void daemon.owner.died.then(() => {
        if (isClosed) return;
        world.daemon = undefined;
        note(`died ${name}`);
        time.after(
          random.int(500, 60_000),
          'restart',
          () => void world.start().catch((error) => (world.broken ??= error)),
        );
      });
    },
    async write(work) {
      const { daemon } = world;
      if (daemon === undefined) return undefined;
      const written = daemon.store.write(work).catch((error) => {
        if (!daemon.owner.isDead) throw error;
        return undefined;
      });
      return time.until(Promise.race([written, daemon.owner.died]));
    },
    forget(record) {
      records.splice(records.indexOf(record), 1);
      world.linked.delete(record);
    },
    digest: () => hash.copy().digest('hex'),
    async close() {
      isClosed = true;
      world.daemon?.kill();
      network.uninstall();
      time.uninstall();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  for (const crm of [hubspot, salesforce])
    crm.onRead = (ids) => {
      for (const id of ids) {
        const act = world.afterRead.get(id);
        world.afterRead.delete(id);
        act?.();
      }
    };
  try {
    await time.until(world.start());
    await furnish(world);
  } catch (error) {
    await world.close();
    throw error;
  }
  return world;
}

/** Links most records, and adds the receiver's monitor, which is told of every company. */
async function furnish(world: World): Promise<void> {
  const { time, records, linked, receiver } = world;
  const now = time.now();
  await world.write(async (tx) => {
    const secrets = openSecrets(Buffer.from(KEY, 'base64'));
    const input = { name: 'Receiver', url: 'https://receiver.sim', target: 'all' } as const;
    const monitor = await createMonitor(tx, input, { secrets, now });
    const address = secrets.seal(`http://receiver.sim/${monitor.id}`);
    await tx.updateTable('monitor').set({ url: address }).where('id', '=', monitor.id).execute();
    receiver.monitor = monitor.id;
    for (const record of records.slice(0, Math.ceil(records.length * 0.8))) {
      const { crm, id, entity } = record;
      await linkRecord(tx, { provider: crm, recordId: id, entity, sendUpdate: true, now });
      linked.add(record);
    }
  });
}

type Sides = Pick<World, 'hubspot' | 'salesforce' | 'register'>;

async function configOf({ hubspot, salesforce, register }: Sides, store: string): Promise<Config> {
  const often = { pollMinutes: 60, reconcileHours: 24 };
  const file = {
    server: { port: 8080 },
    store,
    connector: {
      webhook: { auth: { method: 'None' } },
      providers: {
        hubspot: { use: 'hubspot', ...hubspot.settings, ...often, match: { property: 'cvr_number' } },
        salesforce: { use: 'salesforce', ...salesforce.settings, ...often, match: { property: 'CVR_Number__c' } },
      },
    },
    service: {
      register: { ...register.settings, pollSeconds: 900 },
      webhooks: { retrySeconds: [0, 5, ...Array.from({ length: 48 }, () => 60)] },
      secretKey: KEY,
      requestsPerMinute: 10_000,
    },
    admin: { token: 'a-token-that-nobody-uses' },
  };
  const loaded = await checkConfig(file, path.join(path.dirname(store), 'cvrsync.yaml'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded.config;
}
