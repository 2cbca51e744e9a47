/** The demo's stage: both CRMs emulated, a few invented companies in them, and the daemon beside them. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { CrmEmulator } from '../../../providers/emulator.ts';
import { EMULATORS } from '../../../providers/index.ts';
import { type App, startApp } from '../../app.ts';
import { loadConfig } from '../../config/load.ts';
import { linkRecord } from '../../connector/links.ts';
import { type Payload, writePayload } from '../../protocol/payload.ts';
import type { SampleCompany } from '../../protocol/sample/company.ts';
import { sampleCompanies } from '../../protocol/sample/stream.ts';
import { ConfigError, type Context } from '../context.ts';

/** A company of the demo and its record in each CRM. */
export interface Actor {
  readonly company: SampleCompany;
  readonly records: ReadonlyMap<CrmEmulator, string>;
}

export interface Stage {
  readonly app: App;
  readonly emulators: readonly CrmEmulator[];
  readonly actors: readonly Actor[];
  /** The configuration file, for the commands that look at what happened. */
  readonly file: string;
  /** Posts one event to the daemon's webhook, as the monitoring service would; returns the status. */
  post(payload: Payload): Promise<number>;
  /** Resolves when every record holds what it should. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const COMPANIES = 5;
/** The header the demo's webhook asks for; on loopback, for the length of the demo. */
const KEY = { method: 'Header', key: 'X-Webhook-Key', value: 'demo' } as const;
const MATCH: Readonly<Record<string, string>> = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' };
const NAME: Readonly<Record<string, string>> = { hubspot: 'name', salesforce: 'Name' };

/** Builds everything anew in `folder`; what an earlier demo left there is removed. */
export async function setStage(context: Context, folder: string, seed: number): Promise<Stage> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const emulators = await Promise.all(Object.values(EMULATORS).map((start) => start({ seed })));
  const file = join(folder, 'cvrsync.yaml');
  await writeFile(file, stringify(configuration(folder, emulators)));
  const loaded = await loadConfig({ file, env: {} });
  if (!loaded.ok) throw new ConfigError(file, loaded.errors);
  const app = await startApp(loaded.config, { log: context.log, env: {} });
  const actors = sampleCompanies(seed, COMPANIES).map((company) => enter(company, emulators));
  await app.store.write(async (tx) => {
    for (const { company, records } of actors)
      for (const [{ name: provider }, recordId] of records)
        await linkRecord(tx, { provider, recordId, entity: company.entityId, sendUpdate: false, now: Date.now() });
  });
  return {
    app,
    emulators,
    actors,
    file,
    async post(payload) {
      const headers = { 'content-type': 'application/json', [KEY.key]: KEY.value };
      const answer = await fetch(`${app.url}/webhook`, {
        method: 'POST',
        headers,
        body: JSON.stringify(writePayload(payload)),
      });
      return answer.status;
    },
    settled: async () => app.connector?.drained(),
    async close() {
      await app.close(5_000);
      await Promise.all(emulators.map((emulator) => emulator.close()));
    },
  };
}

const configuration = (folder: string, emulators: readonly CrmEmulator[]): object => ({
  server: { port: 0 },
  store: join(folder, 'cvrsync.db'),
  connector: {
    webhook: { auth: KEY },
    providers: Object.fromEntries(
      emulators.map(({ name, settings }) => [name, { use: name, ...settings, match: { property: MATCH[name] } }]),
    ),
  },
});

/** The company as a sales team would have typed it in: its name and its CVR number. */
function enter(company: SampleCompany, emulators: readonly CrmEmulator[]): Actor {
  const cvr = company.entityId.split('-')[2] ?? '';
  const typed = (crm: string) => ({ [NAME[crm] ?? 'name']: company.name, [MATCH[crm] ?? 'cvr']: cvr });
  return { company, records: new Map(emulators.map((emulator) => [emulator, emulator.add(typed(emulator.name))])) };
}
