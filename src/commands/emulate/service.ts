/** Runs the real monitoring service on this machine, over a register of sample data that changes by itself. */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import {
  type EmulatorAnswer,
  type EmulatorRequest,
  type ScriptedFault,
  serveEmulator,
} from '../../../providers/kit/emulator/emulator.ts';
import { type App, startApp } from '../../app.ts';
import { loadConfig } from '../../config/load-file.ts';
import { sampleCompanies } from '../../protocol/sample/stream.ts';
import { createKey, USUAL_SCOPES } from '../../service/keys/keys.ts';
import { createJob } from '../../service/monitors/jobs.ts';
import { type CommandContext, ConfigError } from '../cli/context.ts';
import { sampleSeries } from './sample/stream.ts';

export interface ServiceOptions {
  readonly port: number;
  readonly seed: number;
  readonly companies: number;
  readonly faults: readonly ScriptedFault[];
  /** The webhook of the jobs of both CRMs; without it they deliver nothing. */
  readonly webhook: string | undefined;
  /** Seconds between two changes in the register; absent: no changes. */
  readonly every: number | undefined;
}

export interface EmulatedService {
  readonly url: string;
  readonly accessKey: string;
  /** The configuration file, for `keys`, `jobs`, `monitors` and `deliveries`. */
  readonly file: string;
  readonly app: App;
  readonly companies: readonly { readonly entityId: string; readonly name: string }[];
  close(): Promise<void>;
}

/** Each is the job of the connection of that name. */
export const JOBS: readonly string[] = ['hubspot', 'salesforce'];
const MOST_CHANGES = 1_000_000;

/** Starts the service on a temporary store. It posts to any address of this machine. */
export async function serveService(
  context: Pick<CommandContext, 'log'>,
  options: ServiceOptions,
): Promise<EmulatedService> {
  const { port, seed, companies, faults, webhook, every } = options;
  const folder = await mkdtemp(join(tmpdir(), 'cvrsync-service-'));
  const register = join(folder, 'register.ndjson');
  const series = sampleSeries(seed, companies, MOST_CHANGES, { units: false });
  const first = Array.from({ length: companies }, () => line(series.next().value?.document));
  await writeFile(register, first.join(''));
  const file = join(folder, 'cvrsync.yaml');
  const service = {
    register: { source: 'file', path: register, pollSeconds: 1 },
    webhooks: { allowPrivateAddresses: true },
  };
  await writeFile(file, stringify({ server: { port: 0 }, store: join(folder, 'cvrsync.db'), service }));
  const loaded = await loadConfig({ file, env: {} });
  if (!loaded.ok) throw new ConfigError(file, loaded.errors);
  const app = await startApp(loaded.config, { log: context.log, env: {} });
  const accessKey = await enter(app, webhook);
  const change = (): void => {
    appendFile(register, line(series.next().value?.document)).catch((err) =>
      context.log.error({ err }, 'the change failed'),
    );
  };
  const beat = every === undefined || every < 1 ? undefined : setInterval(change, every * 1_000);
  const served = await serveEmulator((request) => forward(app.url, request), { port, faults });
  return {
    url: served.url,
    accessKey,
    file,
    app,
    companies: sampleCompanies(seed, companies).map(({ entityId, name }) => ({ entityId, name })),
    async close() {
      clearInterval(beat);
      await served.close();
      await app.close(5_000);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function enter({ store, service }: App, webhook: string | undefined): Promise<string> {
  if (service === undefined) throw new Error('the configuration of the emulated service has no service');
  const now = Date.now();
  return store.write(async (tx) => {
    const { id, key } = await createKey(tx, { name: 'emulated', scopes: USUAL_SCOPES }, now);
    for (const provider of JOBS)
      await createJob(tx, { provider, key: id, url: webhook ?? null }, { secrets: service.secrets, now });
    return key;
  });
}

/** Faults apply before the service; it answers every other request. */
async function forward(to: string, { method, path, headers, body }: EmulatorRequest): Promise<EmulatorAnswer> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || /^(?:host|connection|content-length|transfer-encoding)$/.test(name)
      ? []
      : [[name, String(value)]],
  );
  const answer = await fetch(to + path, { method, headers: kept, redirect: 'manual', ...(body !== '' && { body }) });
  const names = ['content-type', 'retry-after', 'allow', 'www-authenticate'];
  const shown = names.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const text = await answer.text();
  return { status: answer.status, headers: Object.fromEntries(shown), ...(text !== '' && { body: text }) };
}

const line = (document: unknown): string => `${JSON.stringify(document)}\n`;
