/** Sets the demo up: a register of files, both CRMs emulated, a mailbox, and the daemon between them. */

import { once } from 'node:events';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { stringify } from 'yaml';
import type { CrmEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { EMULATORS } from '../../../providers/kit/emulators.ts';
import { type App, startApp } from '../../app.ts';
import { loadConfig } from '../../config/load-file.ts';
import { linkRecord } from '../../connector/links/links.ts';
import { firstSignIn } from '../../first-sign-in.ts';
import type { SampleCompany } from '../../protocol/sample/company.ts';
import { sampleCompanies } from '../../protocol/sample/stream.ts';
import { counts } from '../../runtime/lanes/lanes.ts';
import { type CommandContext, ConfigError } from '../cli/context.ts';
import { documentOf } from '../emulate/sample/document.ts';
import type { Version } from '../emulate/sample/value-runs.ts';

/** A company of the demo: its past in the register, and its record in each CRM. */
export interface Actor {
  readonly versions: [Version, ...Version[]];
  readonly records: ReadonlyMap<CrmEmulator, string>;
}

export interface DemoSetup {
  readonly app: App;
  readonly emulators: readonly CrmEmulator[];
  readonly actors: readonly Actor[];
  /** A company without a record in any CRM. */
  readonly newcomer: Actor;
  readonly mailbox: Mailbox;
  /** The configuration file, for commands that inspect the result. */
  readonly file: string;
  /** Adds a document with the company's last version to the register. */
  publish(actor: Actor): Promise<void>;
  /** Links the record of each actor in each CRM, and has the service send everything it knows. */
  link(actors: readonly Actor[]): Promise<void>;
  /** An address that opens the dashboard once, signed in. */
  signInLink(): Promise<string>;
  /** Resolves when every record has its final values. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const COMPANIES = 5;
const DAY_MS = 86_400_000;
/** The header of the demo's webhook, which listens on loopback while the demo runs. */
const KEY = { method: 'Header', key: 'X-Webhook-Key', value: 'demo' } as const;
const MATCH: Readonly<Record<string, string>> = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' };
const NAME: Readonly<Record<string, string>> = { hubspot: 'name', salesforce: 'Name' };

export const companyOf = ({ versions }: Actor): SampleCompany => (versions.at(-1) ?? versions[0]).company;

/** Builds everything in `folder`, after removing what an earlier demo left there. */
export async function setUpDemo(context: CommandContext, folder: string, seed: number): Promise<DemoSetup> {
  await rm(folder, { recursive: true, force: true });
  const register = join(folder, 'register');
  await mkdir(register, { recursive: true });
  const emulators = await Promise.all(Object.keys(MATCH).flatMap((name) => EMULATORS[name]?.({ seed }) ?? []));
  const mailbox = await openMailbox();
  const file = join(folder, 'cvrsync.yaml');
  await writeFile(file, stringify(configuration(folder, register, emulators, mailbox)));
  const loaded = await loadConfig({ file, env: {} });
  if (!loaded.ok) throw new ConfigError(file, loaded.errors);
  const app = await startApp(loaded.config, { log: context.log, env: {} });
  const companies = sampleCompanies(seed, COMPANIES + 1);
  const actors = companies.slice(0, COMPANIES).map((company) => enter(company, emulators));
  const [newcomer] = companies.slice(COMPANIES).map((company) => enter(company, []));
  if (newcomer === undefined) throw new Error('there are too few sample companies');
  let documents = 0;

  return {
    app,
    emulators,
    actors,
    newcomer,
    mailbox,
    file,
    async publish({ versions }) {
      documents += 1;
      const name = `${String(documents).padStart(6, '0')}.json`;
      // The register reads the file only under its final name, once it is complete.
      await writeFile(join(register, `.${name}`), JSON.stringify(documentOf(versions)));
      await rename(join(register, `.${name}`), join(register, name));
    },
    async link(linked) {
      await app.store.write(async (tx) => {
        for (const actor of linked)
          for (const [{ name: provider }, recordId] of actor.records)
            await linkRecord(tx, {
              provider,
              recordId,
              entity: companyOf(actor).entityId,
              sendUpdate: true,
              now: Date.now(),
            });
      });
    },
    signInLink: async () => (await firstSignIn(loaded.config, app)) ?? '',
    settled: () => settled(app),
    async close() {
      await app.close(5_000);
      await Promise.all([...emulators.map((emulator) => emulator.close()), mailbox.close()]);
    },
  };
}

const configuration = (
  folder: string,
  register: string,
  emulators: readonly CrmEmulator[],
  mailbox: Mailbox,
): object => ({
  server: { port: 0 },
  store: join(folder, 'cvrsync.db'),
  service: {
    register: { source: 'file', path: register, pollSeconds: 1 },
    smtp: { url: mailbox.url, from: 'cvrsync@example.com' },
  },
  connector: {
    webhook: { auth: KEY },
    providers: Object.fromEntries(
      emulators.map(({ name, settings }) => [
        name,
        { use: name, ...settings, match: { property: MATCH[name] }, autoMatch: 'suggest' },
      ]),
    ),
  },
});

/** Enters the company in the register a month ago, and in the CRMs as a sales team would: name and CVR number. */
function enter(company: SampleCompany, emulators: readonly CrmEmulator[]): Actor {
  const at = Date.now() - 30 * DAY_MS;
  const cvr = company.entityId.split('-')[2] ?? '';
  const typed = (crm: string) => ({ [NAME[crm] ?? 'name']: company.name, [MATCH[crm] ?? 'cvr']: cvr });
  return {
    versions: [{ company, from: new Date(at).toISOString().slice(0, 10), at }],
    records: new Map(emulators.map((emulator) => [emulator, emulator.add(typed(emulator.name))])),
  };
}

/** Work of one half creates work for the other, so ask both until neither has any. */
async function settled({ service, connector, store }: App): Promise<void> {
  for (;;) {
    await service?.look();
    await service?.drained();
    await connector?.drained();
    const busy = (await counts(store.db, Date.now())).filter(
      ({ queue, ready, leased }) => !/housekeeping|watch/.test(queue) && ready + leased > 0,
    );
    if (busy.length === 0) return;
  }
}

interface Mailbox {
  /** Such as smtp://127.0.0.1:1025. */
  readonly url: string;
  /** Called with the source text of each mail. */
  onMail: (source: string) => void;
  close(): Promise<void>;
}

/** Opens a mail server on loopback that takes any mail from this machine and shows it. */
async function openMailbox(): Promise<Mailbox> {
  const mailbox = { url: '', onMail: (_source: string): void => undefined, close };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 1_000,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mailbox.onMail(Buffer.concat(chunks).toString('utf8'));
        done();
      });
    },
  });
  function close(): Promise<void> {
    return new Promise((resolve) => server.close(() => resolve()));
  }
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  mailbox.url = `smtp://127.0.0.1:${port}`;
  return mailbox;
}
