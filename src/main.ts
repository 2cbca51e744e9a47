/** From argv to a command, and from its end to an exit code. */
import { CommanderError, InvalidArgumentError, Option, Command as Program } from 'commander';
import { audited } from './commands/arguments/audited.ts';
import {
  argumentWord,
  type Command,
  type ExitCode,
  flagOf,
  type OptionSpec,
  UsageError,
} from './commands/cli/command.ts';
import { createContext, type GlobalOptions, maskedSink, type World } from './commands/cli/context.ts';
import { showFailure } from './commands/cli/failure.ts';
import { GLOBAL_OPTIONS } from './commands/cli/global-options.ts';
import { logStray } from './commands/cli/stray.ts';
import { COMMANDS } from './commands/list.ts';
import { StrayError } from './runtime/stray-error.ts';
import { readVersion } from './version.ts';

type Run = (
  command: Command,
  args: Readonly<Record<string, unknown>>,
  options: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** Runs one command line, without the program's own name, and says its exit code. Throws nothing. */
export async function main(argv: readonly string[], world: World): Promise<ExitCode> {
  const stdout = maskedSink(world.stdout);
  const stderr = maskedSink(world.stderr);
  let code: ExitCode = 0;
  const program = createProgram();
  let tell = (error: StrayError): void => void showFailure(error, stderr, readGlobals(program));
  world.strayed?.addEventListener('abort', () => tell(world.strayed?.reason), { once: true });
  program.configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    getOutHelpWidth: () => Math.min(stdout.columns ?? HELP_COLUMNS, HELP_COLUMNS),
  });
  const run: Run = async (command, args, options) => {
    const context = await createContext({ ...world, stdout, stderr, completions }, readGlobals(program));
    tell = (error) => logStray(context.log, error);
    code = await audited(
      context,
      command,
      { args, options },
      async () => (await command.run?.(context, args, options)) ?? 0,
    );
  };
  try {
    for (const entry of COMMANDS) {
      // Only what is asked for is loaded: help is quick, and a broken command does not break the others.
      if (argv.includes(entry.name)) addCommand(program, (await entry.load()).command, run);
      else program.command(entry.name).description(entry.about);
    }
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    // Commander has printed its own: help, the version, or what is wrong with the usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return showFailure(error, stderr, readGlobals(program));
  }
}

/** The width of help: longer lines are hard to read, also if a terminal has room for them. */
const HELP_COLUMNS = 80;

const completions = async () => {
  const { completionsOf } = await import('./commands/completion/words.ts');
  return completionsOf(await Promise.all(COMMANDS.map(async ({ load }) => (await load()).command)));
};

function createProgram(): Program {
  const program = new Program('cvrsync');
  for (const { flag, value, about, choices } of GLOBAL_OPTIONS) {
    const option = new Option(value === undefined ? flag : `${flag} <${value}>`, about);
    if (value === undefined) option.default(false);
    program.addOption(choices === undefined ? option : option.choices(choices));
  }
  return (
    program
      .description('Keeps the companies in HubSpot and Salesforce in step with the Danish company register.')
      .version(readVersion(), '--version', 'print the version')
      .helpCommand('help [command]', 'show what a command does')
      // A default that says something is part of the sentence; that a flag is off goes without saying.
      .configureHelp({
        subcommandTerm: (command) => command.name(),
        optionDescription: (option) => option.description,
        argumentDescription: (argument) => argument.description,
      })
      .exitOverride()
  );
}

function readGlobals(program: Program): GlobalOptions {
  const { config, json, logLevel } = program.opts<{
    config?: string;
    json: boolean;
    logLevel: GlobalOptions['logLevel'];
  }>();
  return { json, ...(logLevel !== undefined && { logLevel }), ...(config !== undefined && { config }) };
}

function addCommand(parent: Program, command: Command, run: Run): void {
  const added = parent.command(command.name).description(command.about).exitOverride();
  for (const sub of command.commands) addCommand(added, sub, run);
  const names = Object.keys(command.args);
  for (const [name, { about, shape, read }] of Object.entries(command.args)) {
    const word = argumentWord(name);
    const usage = { needed: `<${word}>`, optional: `[${word}]`, many: `[${word}...]` }[shape];
    if (shape === 'many') added.argument(usage, about, collecting(read), []);
    else added.argument(usage, about, checking(read));
  }
  for (const [name, option] of Object.entries(command.options)) added.addOption(optionFor(name, option));
  if (command.examples.length > 0)
    added.addHelpText('after', ['\nExamples:', ...command.examples.map((line) => `  cvrsync ${line}`)].join('\n'));
  if (command.run === undefined) return;
  added.action(async (...given: readonly unknown[]) => {
    const args = Object.fromEntries(names.map((name, index) => [name, given[index]]));
    await run(command, args, { ...added.opts(), ...takenByParent(parent, command) });
  });
}

/** Options given behind a sub-command that the command before it took, because it has one of that name. */
const takenByParent = (parent: Program, { options }: Command): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.keys(options).flatMap((name) =>
      parent.getOptionValueSource(name) === 'cli' ? [[name, parent.getOptionValue(name) as unknown]] : [],
    ),
  );

function optionFor(name: string, { about, value, repeats, default: preset, read }: OptionSpec): Option {
  const flag = flagOf(name);
  const option = new Option(value === undefined ? flag : `${flag} <${value}>`, about);
  if (value !== undefined) option.argParser(repeats === true ? collecting(read) : checking(read));
  return preset === undefined ? option : option.default(preset);
}

/** Commander names the argument or option itself when it gets its own kind of error. */
const checking =
  (read: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof UsageError) throw new InvalidArgumentError(`${error.message}.`);
      throw error;
    }
  };

const collecting =
  (read: (text: string) => unknown) =>
  (text: string, before: unknown): unknown[] => [...(Array.isArray(before) ? before : []), checking(read)(text)];

/** How long what runs may take to end after a stray error, in ms. */
const STRAY_MS = 10_000;

/**
 * Runs this process's own command line, and ends the process with its exit code. A first Ctrl-C or SIGTERM asks to stop, a
 * second Ctrl-C does not ask. Nor does what is thrown outside of any call, which is told, stops what runs, and makes the
 * exit code 1. `process.exit` throws from here on: a plugin would end the daemon with it as if all was well, and cut off
 * what runs.
 */
export async function runProcess(): Promise<void> {
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    throw new Error(`process.exit(${code ?? ''}) was called, which only cvrsync itself may do`);
  };
  const stop = new AbortController();
  const stray = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted && name === 'SIGINT') exit(130);
    stop.abort(new Error(`stopped by ${name}`));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const onStray = (thrown: unknown): void => {
    // What follows the first is mostly its consequence.
    if (stray.signal.aborted) return;
    const error = new StrayError(thrown);
    stray.abort(error);
    // It was given time to finish what runs: nobody knows any more whether it can.
    if (stop.signal.aborted) exit(1);
    stop.abort(error);
    setTimeout(() => exit(1), STRAY_MS).unref();
  };
  process.on('uncaughtException', onStray).on('unhandledRejection', onStray);
  // A reader such as `head` that has seen enough is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => exit(error.code === 'EPIPE' ? 0 : 1));
  const { stdin, stdout, stderr, env } = process;
  const onHangUp = (listener: () => void): void => void process.on('SIGHUP', listener);
  const world = { stdin, stdout, stderr, env, signal: stop.signal, strayed: stray.signal, onHangUp };
  const code = await main(process.argv.slice(2), world);
  // Only the readers of what was printed are still waited for, which a signal may end.
  process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  await Promise.all([flushed(stdout), flushed(stderr)]);
  // What a plugin left open would keep the process: a timer is enough.
  exit(stray.signal.aborted ? 1 : code);
}

/** Resolves once all that was written to a stream has left the process, or can no longer leave it. */
const flushed = (stream: NodeJS.WritableStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()));
