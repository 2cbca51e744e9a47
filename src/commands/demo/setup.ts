/** Sets the demo up: a register of files, both CRMs emulated, a mailbox, and the daemon between them. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
import type { Version } from '../emulate/sample/runs.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';

/** A company of the demo: its past in the register, and its record in each CRM. */
export interface Actor {
  readonly versions: [Version, ...Version[]];
  readonly records: ReadonlyMap<CrmEmulator, string>;
}

export interface DemoSetup {
  readonly app: App;
  readonly emulators: readonly CrmEmulator[];
  readonly actors: readonly Actor[];
  /** A company that no CRM has a record of. */
  readonly newcomer: Actor;
  readonly mailbox: Mailbox;
  /** The configuration file, for commands that inspect the result. */
  readonly file: string;
  /** Adds the company's document to the register, as its last version is. */
  publish(actor: Actor): Promise<void>;
  /** Links the record of each actor in each CRM, and has the service send all it knows. */
  link(actors: readonly Actor[]): Promise<void>;
  /** An address that opens the dashboard, signed in, once. */
  signInLink(): Promise<string>;
  /** Resolves when every record holds what it should. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const COMPANIES = 5;
const DAY_MS = 86_400_000;
/** The header the demo's webhook asks for; on loopback, for the length of the demo. */
const KEY = { method: 'Header', key: 'X-Webhook-Key', value: 'demo' } as const;
const MATCH: Readonly<Record<string, string>> = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' };
const NAME: Readonly<Record<string, string>> = { hubspot: 'name', salesforce: 'Name' };

/** The company as the register says it is now. */
export const companyOf = ({ versions }: Actor): SampleCompany => (versions.at(-1) ?? versions[0]).company;

/** Builds everything anew in `folder`; what an earlier demo left there is removed. */
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
      // Under its name only once it is whole.
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

/** The company as the register has had it for a month, and as a sales team would have typed it in: name and CVR number. */
function enter(company: SampleCompany, emulators: readonly CrmEmulator[]): Actor {
  const at = Date.now() - 30 * DAY_MS;
  const cvr = company.entityId.split('-')[2] ?? '';
  const typed = (crm: string) => ({ [NAME[crm] ?? 'name']: company.name, [MATCH[crm] ?? 'cvr']: cvr });
  return {
    versions: [{ company, from: new Date(at).toISOString().slice(0, 10), at }],
    records: new Map(emulators.map((emulator) => [emulator, emulator.add(typed(emulator.name))])),
  };
}

/** Work of one half makes work for the other, so both are asked until neither has any. */
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
