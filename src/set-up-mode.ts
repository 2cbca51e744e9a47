/** A first start without a configuration: the admin listener alone, with the pages that make one. */
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Env } from './config/variables.ts';
import type { Finished } from './dashboard/setup/first-way.ts';
import { ownAddress } from './halves.ts';
import { createMetrics } from './http/metrics.ts';
import { openClient } from './http/outbound/client.ts';
import { addHealthRoutes } from './http/platform.ts';
import { listenError } from './http/server/listen-error.ts';
import { createServer } from './http/server/server.ts';
import { createSetUpLink } from './runtime/operators/sessions.ts';
import { type SetUpPlace, STORE, samplesFolder } from './setup/config-of.ts';
import { changeDraft, forgetDraft, readDraft } from './setup/draft.ts';
import { createEffects } from './setup/trials/effects.ts';
import { createTrials } from './setup/trials/trials.ts';
import { writeConfig } from './setup/write-file.ts';
import { openStore } from './store/engines/open.ts';

/** What a set-up needs of the process. */
export interface SetUpOptions {
  readonly log: Logger;
  readonly env: Env;
  /** Starts the daemon with the file that was written; throws why it cannot. */
  readonly start: () => Promise<void>;
}

/** A set-up under way. */
export interface SetUpMode {
  /** An address that signs in once, within 15 minutes. */
  link(): Promise<string>;
  /** Resolves when the daemon runs in its place. */
  readonly done: Promise<void>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const PORT = 8081;

/** Starts the listener; nothing else of the daemon runs. */
export async function startSetUp({ log, env, start }: SetUpOptions): Promise<SetUpMode> {
  const store = await openStore(STORE);
  const client = openClient({ env });
  const admin = createServer({ log });
  const host = env['CVRSYNC_ADMIN_HOST'] || HOST;
  const port = portIn(env, 'CVRSYNC_ADMIN_PORT') ?? PORT;
  const now = Date.now;
  const done = Promise.withResolvers<void>();
  addHealthRoutes(admin, async () => ({ ok: false, reasons: ['not set up yet'], details: [] }));
  const { addSetUp } = await import('./dashboard/setup/set-up.ts');
  const crm = { store, http: client.http, metrics: createMetrics(), now };
  const place = { ...placeIn(env), admin: {} };
  // Known once it listens, before anybody can ask.
  let reached = port;
  let finishing: Promise<Finished> | undefined;
  /** Two pages may ask at once: both get the one answer. */
  const finishOnce = (): Promise<Finished> => {
    finishing ??= finish().finally(() => {
      finishing = undefined;
    });
    return finishing;
  };
  const finish = async (): Promise<Finished> => {
    const written = await writeConfig(
      await readDraft(store.db),
      { ...place, admin: adminSection(host, reached) },
      { env },
    );
    if (written.kind === 'unwritable') return written;
    if (written.kind === 'invalid')
      return { kind: 'refused', problems: written.problems.map((each) => `${each.path}: ${each.message}`) };
    const { digest } = written;
    await store.write((tx) => changeDraft(tx, (before) => ({ ...before, written: digest }), now()));
    return goOn();
  };
  /** The daemon takes the listener's port. The request that asked for it waits meanwhile, on its open connection. */
  const goOn = async (): Promise<Finished> => {
    admin.server.close();
    try {
      await start();
    } catch (error) {
      admin.server.listen({ host, port: reached });
      await once(admin.server, 'listening');
      return { kind: 'refused', problems: [error instanceof Error ? error.message : String(error)] };
    }
    await store.write(forgetDraft);
    // After the answer to this request.
    setImmediate(() => done.resolve());
    return { kind: 'running' };
  };
  const tries = { trials: createTrials(crm), effects: createEffects(crm) };
  addSetUp(admin, { store, now, log, place, env, crm, ...tries, finish: finishOnce });
  const url = await admin.listen({ host, port }).catch((error: unknown) => {
    throw listenError(error, { host, port }, { host: 'CVRSYNC_ADMIN_HOST', port: 'CVRSYNC_ADMIN_PORT' });
  });
  reached = Number(new URL(url).port);
  log.info({ admin: url, file: place.file }, 'there is no configuration: the set-up waits');
  return {
    done: done.promise,
    async link() {
      const token = await store.write((tx) => createSetUpLink(tx, now()));
      return `${ownAddress(host, reached)}/setup#${token}`;
    },
    async close() {
      await admin.close();
      await client.close();
      await store.close();
    },
  };
}

/** The section of a listener that is not the usual one. */
const adminSection = (host: string, port: number): SetUpPlace['admin'] => ({
  ...(host !== HOST && { host, exposed: true }),
  ...(port !== PORT && { port }),
});

function placeIn(env: Env): Omit<SetUpPlace, 'admin'> {
  const port = portIn(env, 'CVRSYNC_SERVER_PORT');
  const samples = samplesFolder();
  return { file: fileToWrite(), samples, server: port === undefined ? {} : { port } };
}

/** In the working directory; where that may not be written, beside the store. */
function fileToWrite(): string {
  try {
    accessSync('.', constants.W_OK);
    return path.resolve('cvrsync.yaml');
  } catch {
    return path.resolve(path.dirname(STORE), 'cvrsync.yaml');
  }
}

const portIn = (env: Env, name: string): number | undefined => {
  const text = env[name] ?? '';
  return /^\d{1,5}$/u.test(text) ? Number(text) : undefined;
};
