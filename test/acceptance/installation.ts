/** One cell of the run: all that is shipped for an engine and a form, started, with who sends to it, what it calls, and who watches. */
import { join } from 'node:path';
import { pino } from 'pino';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { serveRegister } from '../../src/commands/emulate/register.ts';
import { serveService } from '../../src/commands/emulate/service.ts';
import { type AlertChannel, openAlertChannel } from './channel.ts';
import type { Clock } from './clock.ts';
import { type Daemon, dataOf, placeDaemon } from './daemons.ts';
import { lockable, type StoppableStore, startDatabase } from './database.ts';
import { type Disk, mountDisk } from './disk.ts';
import { type Gate, openGate } from './gate.ts';
import { startNginx } from './nginx.ts';
import { isInstalled, type Prometheus, startPrometheus } from './prometheus.ts';
import { type Engine, type Form, shipment } from './shipped.ts';
import { type Sender, startTraffic, type Traffic } from './traffic.ts';

export interface Cell {
  readonly engine: Engine;
  readonly form: Form;
}

export interface Installation extends Cell {
  readonly clock: Clock;
  readonly daemons: readonly Daemon[];
  readonly store: StoppableStore;
  readonly disk: Disk | undefined;
  readonly crm: Gate;
  /** The monitoring service of others; undefined if the installation has its own. */
  readonly upstream: Gate | undefined;
  readonly register: Gate | undefined;
  readonly sender: Sender;
  readonly traffic: Traffic;
  readonly channel: AlertChannel;
  /** Undefined if Prometheus is not installed, or not asked for. */
  readonly prometheus: Prometheus | undefined;
  /** What could not be started here. */
  readonly missing: readonly string[];
  /** Creates a company in the CRM and links it. */
  link(): Promise<void>;
  close(): Promise<void>;
}

const SECRET = 'a-secret-of-this-run-alone-0123456789';
const COMPANIES = 8;
const DISK_BYTES = 3 * 1_073_741_824;

type Undo = (() => unknown)[];

/** Starts everything; what fails on the way ends what was started. */
export async function install(cell: Cell, options: InstallOptions): Promise<Installation> {
  const undo: Undo = [];
  try {
    return await build(cell, options, undo);
  } catch (error) {
    await unwind(undo);
    throw error;
  }
}

async function unwind(undo: Undo): Promise<void> {
  for (const step of undo.toReversed()) await step();
}

interface InstallOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** Whether Prometheus watches, too. */
  readonly prometheus: boolean;
  /** Records that are linked to begin with. */
  readonly links: number;
}

async function build(cell: Cell, options: InstallOptions, undo: Undo): Promise<Installation> {
  const { folder, clock } = options;
  const others = await startOthers(cell.form, clock, undo);
  const channel = await openAlertChannel(clock);
  undo.push(() => channel.close());
  const missing: string[] = [];
  const { daemons, store, disk, addressOf } = await startDaemons(cell, {
    ...options,
    others,
    channel,
    undo,
    missing,
  });
  const link = linker(others, () => daemons.find(({ name, isUp }) => isUp && name !== 'ingest'));
  await Promise.all(Array.from({ length: options.links }, link));
  const sender = { clock, companies: others.companies.slice(0, options.links), secret: SECRET, to: addressOf };
  const traffic = startTraffic(sender);
  undo.push(() => traffic.stop());
  const hasPrometheus = options.prometheus && isInstalled('prometheus');
  if (options.prometheus && !hasPrometheus) missing.push('Prometheus');
  const targets = daemons.map(({ adminPort }) => `127.0.0.1:${adminPort}`);
  const watching = { folder: join(folder, 'prometheus'), clock, targets, token: SECRET };
  const prometheus = hasPrometheus ? await startPrometheus(watching) : undefined;
  undo.push(() => prometheus?.stop());
  const { crm, upstream, register } = others;
  const around = { crm, upstream, register, traffic, sender, channel, prometheus };
  return { ...cell, ...around, clock, daemons, store, disk, missing, link, close: () => unwind(undo) };
}

interface Around extends InstallOptions {
  readonly others: Others;
  readonly channel: AlertChannel;
  readonly undo: Undo;
  readonly missing: string[];
}

/** The database, the daemons and what stands in front of them. */
async function startDaemons(cell: Cell, { folder, clock, others, channel, undo, missing }: Around) {
  const { engine, form } = cell;
  const database = engine === 'postgres' ? await startDatabase() : undefined;
  undo.push(() => database?.remove());
  const shipped = shipment(engine, form, { MONITORING_URL: others.upstream?.url ?? '' });
  const placed = new Map<string, Daemon>();
  const front = await openGate((path) => addressOf(placed, path));
  undo.push(() => front.close());
  const over = {
    connector: { providers: { hubspot: { baseUrl: others.crm.url } } },
    ...(others.register && {
      server: { publicUrl: front.url },
      service: { register: { baseUrl: others.register.url }, webhooks: { allow: ['127.0.0.1'] } },
    }),
    alerts: { webhook: channel.url, allow: ['127.0.0.1'] },
  };
  const data = dataOf(folder, shipped.daemons[0]);
  const disk = engine === 'sqlite' ? mountDisk(data, DISK_BYTES) : undefined;
  undo.push(() => disk?.remove());
  if (disk === undefined && engine === 'sqlite') missing.push('a disk of its own');
  for (const daemon of shipped.daemons)
    placed.set(
      daemon.name,
      await placeDaemon(daemon, {
        folder,
        clock,
        secrets: others.secrets,
        over,
        store: (address) => database?.url ?? address,
      }),
    );
  const daemons = [...placed.values()];
  undo.push(() => Promise.all(daemons.map((daemon) => daemon.end('SIGKILL'))));
  await Promise.all(daemons.map((daemon) => daemon.start()));
  const hasNginx = shipped.nginx !== undefined && isInstalled('nginx');
  if (shipped.nginx !== undefined && !hasNginx) missing.push('nginx');
  const nginx = hasNginx ? await proxy(folder, shipped.nginx ?? '', daemons) : undefined;
  undo.push(() => nginx?.stop());
  const store = database ?? lockable(join(data, 'cvrsync.db'));
  return { daemons, store, disk, addressOf: () => nginx?.publicUrl ?? addressOf(placed, '/webhook') };
}

/** Where a Service of Kubernetes, or the proxy that docs/deployment.md asks for, sends a path: to a daemon that runs and has the role. */
function addressOf(daemons: ReadonlyMap<string, Daemon>, path: string): string {
  const role = /^\/(?:webhook$|providers\/)/u.test(path) ? 'ingest' : 'service';
  const able = [...daemons].filter(([name, { isUp }]) => isUp && (!daemons.has(role) || name === role));
  const chosen = able[Math.floor(Math.random() * able.length)] ?? [...daemons][0];
  return `http://127.0.0.1:${chosen?.[1].port ?? 0}`;
}

const proxy = (folder: string, text: string, daemons: readonly Daemon[]) => {
  const places = daemons.flatMap(({ name, port, adminPort }): [string, number][] => [
    [`${name}:8080`, port],
    [`${name}:8081`, adminPort],
  ]);
  return startNginx(join(folder, 'nginx'), text, new Map(places));
};

interface Others {
  readonly crm: Gate;
  readonly upstream: Gate | undefined;
  readonly register: Gate | undefined;
  readonly companies: readonly string[];
  readonly secrets: Readonly<Record<string, string>>;
  /** Creates a company in the CRM; its id there. */
  addRecord(name: string): string;
}

/** The CRM, and the monitoring service or the register that it reads by itself. */
async function startOthers(form: Form, clock: Clock, undo: Undo): Promise<Others> {
  const hubspot = await startHubspotEmulator({
    now: clock.now,
    rate: 'none',
    searchRate: 'none',
    properties: [{ name: 'cvr_number', type: 'string' }],
  });
  undo.push(() => hubspot.close());
  const crm = await openGate(() => hubspot.url);
  undo.push(() => crm.close());
  const secrets = {
    ...{ WEBHOOK_SECRET: SECRET, CVRSYNC_ADMIN_TOKEN: SECRET, ADMIN_TOKEN: SECRET, POSTGRES_PASSWORD: SECRET },
    HUBSPOT_ACCESS_TOKEN: String(hubspot.settings['accessToken']),
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const addRecord = (name: string) => hubspot.add({ name });
  if (form === 'roles') {
    const emulated = await serveRegister({ companies: COMPANIES });
    const change = setInterval(() => emulated.change(clock.now()), 2_000);
    const register = await openGate(() => emulated.url);
    undo.push(
      () => emulated.close(),
      () => register.close(),
      () => clearInterval(change),
    );
    const companies = [...emulated.documents.virksomhed.keys()].map((number) => `CVR-1-${number}`);
    const { password } = emulated.settings;
    return {
      crm,
      upstream: undefined,
      register,
      companies,
      secrets: { ...secrets, CVR_PASSWORD: password },
      addRecord,
    };
  }
  const log = pino({ level: 'silent' });
  const options = { port: 0, seed: 1, companies: COMPANIES, faults: [], webhook: undefined, every: undefined };
  const service = await serveService({ log }, options);
  const upstream = await openGate(() => service.url);
  undo.push(
    () => service.close(),
    () => upstream.close(),
  );
  const companies = service.companies.map(({ entityId }) => entityId);
  return {
    crm,
    upstream,
    register: undefined,
    companies,
    secrets: { ...secrets, MONITORING_ACCESS_KEY: service.accessKey },
    addRecord,
  };
}

/** Links the next company, by the command of a container that runs. */
function linker({ companies, addRecord }: Others, inside: () => Daemon | undefined): () => Promise<void> {
  let next = 0;
  return async () => {
    const entity = companies[next % companies.length] ?? '';
    next += 1;
    const record = addRecord(`Company ${next}`);
    await inside()?.command('monitoring', 'add', 'hubspot', entity, record, '--send-update');
  };
}
