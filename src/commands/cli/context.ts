/** The context of a command: its streams, its log, its configuration. One mask filters all output. */

import type { Logger } from 'pino';
import type { Config, ConfigLoad, LoadedConfig } from '../../config/load.ts';
import type { ConfigSource } from '../../config/load-file.ts';
import type { LocatedProblem } from '../../config/locate.ts';
import type { LogLevel } from '../../config/schema/log-level.ts';
import type { Env } from '../../config/variables.ts';
import { fullErrorText } from '../../protocol/text/error-text.ts';
import { maskerOf } from '../../protocol/text/mask.ts';
import { storeErrorIn } from '../../store/store-error.ts';
import { traceIds } from '../../telemetry/trace.ts';
import type { Completion } from './completions.ts';
import { createOutput, type Output, type Sink } from './output.ts';
import { limitRepeats } from './repeated-errors.ts';
import { hasColours } from './style.ts';
import { escapeControls } from './table.ts';

export interface World {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** The person's answers; absent if nobody can answer. */
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Env;
  /** Aborted when the program should stop: Ctrl-C, SIGTERM. */
  readonly signal: AbortSignal;
  /** Aborted with a `StrayError` if something threw outside any call: the process must end. */
  readonly strayed?: AbortSignal;
  /** Calls `listener` at each SIGHUP, which without it ends the process; absent if the system has none. */
  readonly onHangUp?: (listener: () => void) => void;
}

export interface GlobalOptions {
  readonly config?: string;
  readonly json: boolean;
  /** The configuration's by default. */
  readonly logLevel?: LogLevel;
}

export interface CommandContext extends World {
  readonly json: boolean;
  readonly output: Output;
  readonly log: Logger;
  /** The file that `--config` names. */
  readonly configFile: string | undefined;
  completions(): Promise<readonly Completion[]>;
  /**
   * The configuration, read once. Throws {@link ConfigError}. With `parts`, such as `connector.providers.hubspot`, only
   * the variables of these parts and of `store` must be set: for commands that use no other part.
   */
  config(parts?: readonly string[]): Promise<Config>;
  loaded(): Promise<LoadedConfig>;
  /** Reads the file again; earlier secrets stay masked. Throws {@link ConfigError}. */
  reload(): Promise<LoadedConfig>;
}

/** An unusable configuration: exit code 2, with every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly file: string;
  readonly problems: readonly LocatedProblem[];

  constructor(file: string, problems: readonly LocatedProblem[]) {
    super(`the configuration ${file} cannot be used`);
    this.file = file;
    this.problems = problems;
  }
}

/** A sink that masks every secret it knows. */
export interface MaskedSink extends Sink {
  mask(scrub: (text: string) => string): void;
}

/** Passes all output through one mask, which hides known secrets and makes control characters harmless. */
export function maskedSink(sink: Sink): MaskedSink {
  let scrub = (text: string): string => text;
  return {
    write: (text) => sink.write(escapeControls(scrub(text))),
    draw: (text) => sink.write(scrub(text)),
    scrub: (text) => scrub(text),
    writeScrubbed: (text) => sink.write(escapeControls(text)),
    isTTY: sink.isTTY === true,
    ...(sink.columns !== undefined && { columns: sink.columns }),
    mask: (next) => {
      scrub = next;
    },
  };
}

/** Makes the context of one command. The sinks learn the secrets once the configuration is read. */
export async function createContext(
  world: World & Pick<CommandContext, 'completions'> & { stdout: MaskedSink; stderr: MaskedSink },
  options: GlobalOptions,
): Promise<CommandContext> {
  const { pino, stdSerializers, stdTimeFunctions } = await import('pino');
  const { stdout, stderr } = world;
  const log = pino(
    {
      level: options.logLevel ?? 'info',
      formatters: { level: (level) => ({ level }) },
      timestamp: stdTimeFunctions.isoTime,
      base: null,
      mixin: traceIds,
      hooks: { logMethod: limitRepeats() },
      serializers: {
        err(error: unknown) {
          if (!(error instanceof Error)) return error;
          const message = fullErrorText(error);
          // Our stack does not say why the store did not answer.
          const isOfStore = storeErrorIn(error) !== undefined;
          return isOfStore ? { type: error.name, message } : { ...stdSerializers.err(error), message };
        },
      },
    },
    { write: (line) => void stderr.write(line) },
  );
  const { env, load, take } = await configReader({ file: options.config, env: world.env }, log, (loaded) => {
    log.level = options.logLevel ?? loaded.config.logLevel ?? 'info';
    for (const sink of [stdout, stderr]) sink.mask(maskerOf(loaded.secrets));
  });
  let loading: Promise<ConfigLoad> | undefined;
  const loaded = async (parts?: readonly string[]): Promise<LoadedConfig> => {
    loading ??= load();
    const read = await loading;
    if (read.ok) return read;
    const { file, errors, rest } = read;
    const used = rest === undefined ? errors : errors.filter(({ path }) => isIn(path, parts));
    if (rest === undefined || used.length > 0) throw new ConfigError(file, used);
    return rest;
  };
  return {
    ...world,
    env,
    json: options.json,
    output: createOutput(stdout, options.json, hasColours(stdout, env)),
    log,
    configFile: options.config,
    loaded: () => loaded(),
    config: async (parts) => (await loaded(parts)).config,
    reload: take,
  };
}

/** Reads and rereads the configuration. Calls `taken` with each one that is used, and with the secrets of all so far. */
async function configReader(source: ConfigSource, log: Logger, taken: (loaded: LoadedConfig) => void) {
  const { loadConfig, withEnvFile } = await import('../../config/load-file.ts');
  const readEnv = () =>
    withEnvFile(source, ({ path, message }) => log.warn({ file: path }, `the environment file ${message}`));
  const env = await readEnv();
  const secrets = new Set<string>();
  const use = (loaded: LoadedConfig): void => {
    for (const secret of loaded.secrets) secrets.add(secret);
    taken({ ...loaded, secrets: [...secrets] });
  };
  return {
    env,
    async load(): Promise<ConfigLoad> {
      const load = await loadConfig({ ...source, env });
      const loaded = load.ok ? load : load.rest;
      if (loaded !== undefined) use(loaded);
      return load;
    },
    async take(): Promise<LoadedConfig> {
      const load = await loadConfig({ ...source, env: await readEnv() });
      if (!load.ok) throw new ConfigError(load.file, load.errors);
      use(load);
      return load;
    },
  };
}

/** Whether a path of the configuration is in one of these parts, or in `store`; without parts, every path is. */
const isIn = (path: string, parts: readonly string[] | undefined): boolean =>
  parts === undefined ||
  ['store', ...parts].some((part) => path.replace(/_FILE$/u, '') === part || path.startsWith(`${part}.`));
