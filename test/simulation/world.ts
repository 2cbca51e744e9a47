/**
 * A world in one process: the register, two CRMs, a receiver of webhooks, people, and one to three daemons with both halves
 * on one store. All that happens comes from a plan, and all that is left open from a seed.
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
import type { NamedRules } from '../../src/connector/rules/rules.ts';
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store, Tx } from '../../src/store/store.ts';
import { addRecords, RESPELL } from '../chaos/records.ts';
import { type CallCount, countCalls } from './calls.ts';
import { type ChangesOf, followChanges } from './changes.ts';
import { postgresAt, sqliteIn } from './engine.ts';
import { type Machines, openMachines } from './machines.ts';
import { MAIL_HOST, type MailServer, openMailServer, RECIPIENT, sendThroughWorld } from './mail.ts';
import { installNetwork, type Network, TROUBLES, type Trouble } from './network.ts';
import { type CrmRecord, type Policy, PROPERTIES } from './people.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { installTime, type Owner, type Time } from './time.ts';
import type { Leaving, Undoing } from './under-way.ts';
import './loaded.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly companies: number;
  /** How many daemons share the store; one to three by the seed if it is not said. */
  readonly daemons?: number | undefined;
  /** How often the daemons ask the register; every 15 minutes if it is not said. */
  readonly pollSeconds?: number | undefined;
  /** The maintenance database of a PostgreSQL server that has the store; a SQLite file if it is not said. */
  readonly postgres?: string | undefined;
  /** What requests may meet; all troubles if it is not said. */
  readonly troubles?: readonly Trouble[] | undefined;
  /** Called with every line of the trace. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

export interface World {
  readonly time: Time;
  readonly network: Network;
  readonly troubles: readonly Trouble[];
  readonly hubspot: HubspotEmulator;
  readonly salesforce: SalesforceEmulator;
  readonly register: RegisterEmulator;
  readonly receiver: Receiver;
  /** Of half of the worlds: the receiver gets mails as well. */
  readonly mail: MailServer | undefined;
  /** The company of each entity id as the register has it now, and the documents that it had. */
  readonly companies: Map<string, RegisterCompany>;
  /** The next document of some company. */
  readonly nextDocument: () => { readonly document: unknown; readonly company: SampleCompany };
  /** Records that live. */
  readonly records: CrmRecord[];
  readonly linked: Set<CrmRecord>;
  /** Deleted records, and whether they were linked. */
  readonly gone: Map<CrmRecord, boolean>;
  /** What ends the faults that last. */
  readonly lasting: Set<() => void>;
  /** Before this time nobody can say that all must be well. */
  quietFrom: number;
  /** The CRM that somebody leaves, or left. */
  leaving: Leaving | undefined;
  /** An undo under way, and when the last one ended. */
  undoing: Undoing | undefined;
  undoneAt: number;
  /** Of properties whose policy somebody changed, by connection and property. */
  readonly policies: Map<string, Policy>;
  /** The decision rules of the daemons' file. */
  readonly rules: readonly NamedRules[];
  /** What each record held, one value after the other. */
  readonly changesOf: ChangesOf;
  /** Properties whose definition somebody changed for a while. */
  readonly changed: Set<string>;
  readonly calls: CallCount;
  /** The key of somebody who reads the news. */
  newsKey: string;
  /** What was found wrong since the last calm moment. */
  readonly wrong: string[];
  /** A CRM refused something for good, which then waits for a person. */
  mayPark: boolean;
  /** What a person does as soon as a record was read once more, by its id. */
  readonly afterRead: Map<string, () => void>;
  /** What happens right before the next write to a record counts, and right after it, by the record's id. */
  readonly beforeWrite: Map<string, () => void>;
  readonly afterWrite: Map<string, () => void>;
  readonly machines: Machines;
  /** The store as people's commands and oracles see it. */
  readonly store: Store;
  /** When the next work falls due; 0 while a daemon is at work. */
  nextDue(): Promise<number>;
  /** Whether a request or a statement is on its way. */
  isUnderWay(): boolean;
  /** A process stands still for so long. */
  freeze(owner: Owner, ms: number): void;
  /** A server of the store ends all connections of a process after so many answers; undefined if the store is a file. */
  readonly sever: ((owner: Owner, answers: number) => void) | undefined;
  /** Has a person's command write into the store; undefined, and nothing done, while its disk is full. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T | undefined>;
  /** A record is gone. */
  forget(record: CrmRecord): void;
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

/** What the accounts allow: much, or so little that calls wait for each other. */
const WIDE = { hubspot: { calls: 190, perMs: 10_000 }, salesforce: { calls: 20, perMs: 1_000 } } as const;
const TIGHT = { hubspot: { calls: 12, perMs: 10_000 }, salesforce: { calls: 3, perMs: 1_000 } } as const;

const START = Date.UTC(2026, 0, 5, 7);
/** What people write into, too. */
const CONTESTED = ['name', 'phoneNumber', 'address'] as const;
/** More changes than a world has steps. */
const ENDLESS = 1_000_000;
/** Between two documents of the sample series, which begins a year before the world. */
const STEP_MS = 4 * 60_000;
const KEY = Buffer.alloc(32, 7).toString('base64');

/** Opens a world in which nothing happened yet: its daemon runs, and some records are linked. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { seed, companies: count, daemons, pollSeconds, postgres, troubles = TROUBLES, onTrace } = options;
  const hash = createHash('sha256');
  const note = (line: string): void => {
    hash.update(`${line}\n`);
    onTrace?.(line);
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'cvrsync-world-'));
  const engine = postgres === undefined ? sqliteIn(folder) : await postgresAt(postgres, { seed, time: () => time });
  const { connections } = engine;
  const time: Time = installTime(seed, START, (at, what) => note(`${at.toFixed(2)} ${what}`), connections?.rest);
  const now = (): number => time.now();
  const rates = randomFrom(seed ^ 0xca1).chance(0.5) ? TIGHT : WIDE;
  const calls = countCalls({ ...rates, 'hubspot search': { calls: 5, perMs: 1_000 } });
  const onCall = (host: string, path: string): void => calls.count(host, path, now());
  const letThrough = connections?.letThrough;
  const network = installNetwork(seed, time, (line) => note(`  ${line}`), { onCall, letThrough });
  const level = process.env['CVRSYNC_TEST_LOG'] ?? 'silent';
  const log = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
  const random = randomFrom(seed);

  const hubspot = await startHubspotEmulator({
    now,
    rate: rates.hubspot,
    respell: RESPELL.hubspot,
    searchLagMs: 8_000,
    serve: network.serve('hubspot'),
  });
  const salesforce = await startSalesforceEmulator({
    ...{ now, rate: rates.salesforce, respell: RESPELL.salesforce, trackedFields: Object.keys(RESPELL.salesforce) },
    serve: network.serve('salesforce'),
  });
  const changesOf = followChanges({ hubspot, salesforce }, now);
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
  const receiver = openReceiver();
  await network.serve('receiver')(receiver.handle);
  const mail = randomFrom(seed ^ 0x3a1).chance(0.5) ? openMailServer() : undefined;
  if (mail !== undefined) await network.serve(MAIL_HOST)(mail.handle);
  const sendAsBefore = sendThroughWorld();
  const config = await configOf({ hubspot, salesforce, register }, { folder, store: engine.url, pollSeconds, mail });
  const records = addRecords({ hubspot, salesforce }, sampleCompanies(seed, count), random).map((record): CrmRecord => {
    const theirs = new Set(record.edits.has(PROPERTIES[record.crm].name) ? [PROPERTIES[record.crm].name] : []);
    return { ...record, theirs, held: new Set(), given: new Map(), isUnseen: false };
  });

  const store = await time.until(openStore(config.store));
  const chance = randomFrom(seed ^ 0xdae);
  const machines = openMachines({
    ...{ config, time, log, random: chance, note, count: daemons ?? chance.pick([1, 1, 2, 3]) },
    serve: (at) => network.serveProcess('daemon', at),
  });
  const world: World = {
    ...{
      time,
      network,
      troubles,
      hubspot,
      salesforce,
      register,
      receiver,
      mail,
      companies,
      records,
      note,
      machines,
      store,
    },
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
    gone: new Map(),
    lasting: new Set(),
    quietFrom: 0,
    leaving: undefined,
    undoing: undefined,
    undoneAt: 0,
    policies: new Map(),
    rules: config.connector?.providers ?? [],
    changesOf,
    changed: new Set(),
    calls,
    newsKey: '',
    wrong: [],
    mayPark: false,
    afterRead: new Map(),
    beforeWrite: new Map(),
    afterWrite: new Map(),
    async nextDue() {
      const ahead = Math.max(...machines.all.map(({ skew }) => skew));
      const due = await engine.nextDue(time.now() + ahead);
      return due === 0 ? 0 : due - ahead;
    },
    isUnderWay: () => network.inFlight > 0 || connections?.isBusy() === true,
    freeze(owner, ms) {
      time.freeze(owner, ms);
      connections?.stall(owner, ms);
    },
    sever: connections?.sever,
    write: async (work) => (machines.disk.isFull ? undefined : time.until(store.write(work))),
    forget(record) {
      records.splice(records.indexOf(record), 1);
      world.linked.delete(record);
    },
    digest: () => hash.copy().digest('hex'),
    async close() {
      machines.close();
      if (connections === undefined) await store.close();
      await engine.close();
      sendAsBefore();
      network.uninstall();
      time.uninstall();
      await engine.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const actOn = (acts: World['afterRead'], ids: readonly string[]): void => {
    for (const id of ids) {
      const act = acts.get(id);
      acts.delete(id);
      act?.();
    }
  };
  for (const crm of [hubspot, salesforce]) {
    const { onWrite } = crm;
    crm.onRead = (ids) => actOn(world.afterRead, ids);
    crm.onArrival = (ids) => actOn(world.beforeWrite, ids);
    crm.onWrite = (id, properties) => {
      onWrite?.(id, properties);
      actOn(world.afterWrite, [id]);
    };
  }
  try {
    await time.until(machines.start());
    await firstLoad(world);
    await furnish(world);
  } catch (error) {
    await world.close();
    throw error;
  }
  return world;
}

/** Of what changes before the register was loaded once, nobody is told. */
async function firstLoad({ time, store, companies }: World): Promise<void> {
  const count = () => store.db.selectFrom('snapshot').select('entity').execute();
  for (let seconds = 0; (await time.until(count())).length < companies.size; seconds += 1) {
    if (seconds > 600) throw new Error('the register was not loaded');
    await time.runTo(time.now() + 1_000);
  }
}

/** Links most records, and adds the receiver's monitor, which is told of every company. */
async function furnish(world: World): Promise<void> {
  const { time, records, linked, receiver } = world;
  const now = time.now();
  await world.write(async (tx) => {
    const secrets = openSecrets(Buffer.from(KEY, 'base64'));
    const emails = world.mail === undefined ? [] : [RECIPIENT];
    const input = {
      name: 'Receiver',
      url: 'https://receiver.sim',
      target: 'all',
      emails,
      mailFrequency: 'immediate',
    } as const;
    const monitor = await createMonitor(tx, input, { secrets, now });
    const address = secrets.seal(`http://receiver.sim/${monitor.id}`);
    await tx.updateTable('monitor').set({ url: address }).where('id', '=', monitor.id).execute();
    receiver.monitor = monitor.id;
    world.newsKey = (await createKey(tx, { name: 'Reader', scopes: ['news'] }, now)).key;
    for (const record of records.slice(0, Math.ceil(records.length * 0.8))) {
      const { crm, id, entity } = record;
      await linkRecord(tx, { provider: crm, recordId: id, entity, sendUpdate: true, now });
      linked.add(record);
    }
  });
}

type Sides = Pick<World, 'hubspot' | 'salesforce' | 'register'>;

interface Choices {
  readonly folder: string;
  readonly store: string;
  readonly pollSeconds: number | undefined;
  readonly mail: MailServer | undefined;
}

async function configOf(
  { hubspot, salesforce, register }: Sides,
  { folder, store, pollSeconds = 900, mail }: Choices,
): Promise<Config> {
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
      register: { ...register.settings, pollSeconds },
      webhooks: { retrySeconds: [0, 5, ...Array.from({ length: 48 }, () => 60)] },
      secretKey: KEY,
      ...(mail !== undefined && { smtp: { url: `smtp://${MAIL_HOST}.sim:25`, from: 'cvrsync@daemon.sim' } }),
      requestsPerMinute: 10_000,
    },
    admin: { token: 'a-token-that-nobody-uses' },
  };
  const loaded = await checkConfig(file, path.join(folder, 'cvrsync.yaml'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded.config;
}
