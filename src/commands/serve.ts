/** `serve`: runs the daemon as configured, until a signal or a stray error stops it. */
import path from 'node:path';
import { type App, startApp } from '../app.ts';
import type { Config } from '../config/load.ts';
import { isConfigured, namedFile } from '../config/load-file.ts';
import { firstSignIn } from '../first-sign-in.ts';
import { tryPorts } from '../http/server/try-ports.ts';
import { giveBackIdleMemory } from '../runtime/idle-memory.ts';
import type { SetUpMode } from '../set-up-mode.ts';
import { isStoreLost } from '../store/file/marker.ts';
import { isPostgresUrl } from '../store/store.ts';
import { commandActor } from './arguments/actor.ts';
import { nothingToRun } from './arguments/nothing-to-run.ts';
import { storeExists } from './arguments/with-store.ts';
import { defineCommand, flag, UsageError } from './cli/command.ts';
import { confirm } from './cli/confirm.ts';
import { type CommandContext, ConfigError } from './cli/context.ts';

/** A platform waits 25 s; closing the store and the sockets takes the rest. */
const GRACE_MS = 20_000;

export const command = defineCommand({
  name: 'serve',
  examples: ['serve', 'serve --config /etc/cvrsync/cvrsync.yaml --log-level warn'],
  about: 'run the daemon as configured',
  options: {
    acceptConfig: flag('accept what the configuration changes in how linked records are decided, without asking'),
    startEmpty: flag('start with an empty store if the previous one is gone, without asking'),
  },
  run: async (context, _args, options) => {
    const { log, signal, strayed } = context;
    const running: Running = {};
    const reload = reloader(context, running);
    running.reread = reload;
    context.onHangUp?.(onHangUp(context, running, reload));
    if (isConfigured({ file: context.configFile, env: context.env }))
      await start(context, await context.config(), running, options);
    else await setUp(context, running, options);
    const memory = giveBackIdleMemory();
    await stopped(signal);
    memory.stop();
    log.info('stopping');
    const stray = strayed?.aborted === true ? strayed.reason : undefined;
    await running.app?.close(stray === undefined ? GRACE_MS : 0, stray);
    log.info('stopped');
    return stray === undefined ? 0 : 1;
  },
});

/** The parts that run so far. */
interface Running {
  app?: App;
  reread?: () => void;
  /** Before there is a configuration. */
  setUp?: SetUpMode;
}

interface ServeOptions {
  readonly acceptConfig: boolean;
  readonly startEmpty: boolean;
}

async function start(
  context: CommandContext,
  config: Config,
  running: Running,
  { acceptConfig, startEmpty }: ServeOptions,
): Promise<void> {
  const missing = nothingToRun(config);
  if (missing !== undefined) throw new UsageError(missing);
  const { admin, server, store } = config;
  const mayStartEmpty = startEmpty || (await acceptsLoss(context, store));
  if (!storeExists(store)) await tryPorts({ admin, server });
  const { log, env } = context;
  const app = await startApp(config, {
    log,
    env,
    startEmpty: mayStartEmpty,
    reread: () => running.reread?.(),
    configFile: path.resolve(namedFile({ file: context.configFile, env })),
    ...(acceptConfig && { rulesAcceptedBy: commandActor() }),
  });
  running.app = app;
  const link = await firstSignIn(config, app);
  if (link !== undefined)
    context.output.entry({ signInLink: link }, `Sign in as the first operator, once, within 15 minutes: ${link}`);
}

/** Waits until somebody makes a configuration in a browser, and continues with it; also ends at a signal. */
async function setUp(context: CommandContext, running: Running, options: ServeOptions): Promise<void> {
  const { log, env, signal } = context;
  const { startSetUp } = await import('../set-up-mode.ts');
  const mode = await startSetUp({
    log,
    env,
    start: async () => {
      const { config } = await context.reload();
      await start(context, config, running, options);
    },
  });
  running.setUp = mode;
  await printSetUpLink(context, mode);
  await Promise.race([mode.done, stopped(signal)]);
  delete running.setUp;
  await mode.close();
}

async function printSetUpLink({ output }: CommandContext, mode: SetUpMode): Promise<void> {
  const link = await mode.link();
  output.entry({ setUpLink: link }, `Set up cvrsync: ${link}`);
}

/** The effect of a SIGHUP: a new link before there is a configuration, later a reload. */
function onHangUp(context: CommandContext, running: Running, reload: () => void): () => void {
  return () => {
    if (running.setUp === undefined) return reload();
    const failed = (error: unknown): void => context.log.error({ err: error }, 'no link could be made');
    printSetUpLink(context, running.setUp).catch(failed);
  };
}

/** Makes the daemon reread its configuration, one reload after the other. An unusable one changes nothing. */
function reloader(context: CommandContext, running: Running): () => void {
  const { log } = context;
  const reload = async (app: App): Promise<void> => {
    const { config, file } = await context.reload();
    const { changed, needsRestart } = await app.reload(config);
    log.info({ file, changed }, 'the configuration was read again');
    if (needsRestart.length > 0) log.warn({ keys: needsRestart }, 'a change of the configuration needs a restart');
  };
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const { app } = running;
    if (app === undefined) return log.info('the daemon does not reread the configuration before it is ready');
    last = last
      .then(() => reload(app))
      .catch((error: unknown) => {
        if (!(error instanceof ConfigError)) return log.error({ err: error }, 'the configuration could not be applied');
        const { file, problems } = error;
        return log.error({ file, problems }, 'the configuration cannot be used: the one before stays in force');
      });
  };
}

/** Whether a person at the terminal accepts an empty store in place of a lost one. */
const acceptsLoss = async (context: CommandContext, store: string): Promise<boolean> =>
  !isPostgresUrl(store) &&
  isStoreLost(store) &&
  (await confirm(context, `The store at ${path.resolve(store)} is gone. Start with an empty one?`)) === true;

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
