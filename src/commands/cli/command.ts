/** Defines commands: each has a file that exports `command`, made by {@link defineCommand}, and one line in list.ts. */
import type { CommandContext } from './context.ts';

/** 0 done, 1 failed, 2 bad usage or configuration, 3 finished with records that need a person. */
export type ExitCode = 0 | 1 | 2 | 3;

/** Bad usage: exit code 2. The message says what is wrong and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An argument; `T` is the type of its value. */
export interface Argument<T = unknown> {
  readonly about: string;
  readonly shape: 'needed' | 'optional' | 'many';
  /** The only values it takes, or the usual ones. */
  readonly choices?: readonly string[];
  /** Reads the text; throws {@link UsageError}. For `many`, called once per text. */
  readonly read: (text: string) => unknown;
  /** Never present; carries the type. */
  readonly type?: T;
}

/** An option; its flag is its key: `dryRun` is `--dry-run`. */
export interface OptionSpec<T = unknown> {
  readonly about: string;
  /** The name of its value in help; undefined for a flag. */
  readonly value?: string;
  readonly repeats?: true;
  readonly choices?: readonly string[];
  readonly default?: T;
  readonly read: (text: string) => unknown;
  readonly type?: T;
}

type Values<S> = { readonly [K in keyof S]: S[K] extends { readonly type?: infer T } ? T : never };

/** A command; only its `run` knows the types of its arguments and options. */
export interface Command {
  readonly name: string;
  readonly about: string;
  /** Command lines that work as they are, without the program's name. */
  readonly examples: readonly string[];
  readonly args: Readonly<Record<string, Argument>>;
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly commands: readonly Command[];
  readonly audit?: CommandAudit | undefined;
  /** The name of its operation, which records itself in the audit. */
  readonly operation?: string | readonly string[] | undefined;
  /** Absent if only its sub-commands do something. */
  readonly run?: (
    context: CommandContext,
    args: Readonly<Record<string, unknown>>,
    options: Readonly<Record<string, unknown>>,
  ) => Promise<ExitCode | undefined>;
}

/**
 * The audit's name of a command, as noun and verb: `monitor.create`. With `where`, the audit records only runs with
 * that option. Absent if a command changes nothing, or records itself; the audit never records a dry run.
 */
export type CommandAudit = string | { readonly action: string; readonly where: string };

export interface CommandSpec<A, O> {
  readonly name: string;
  /** One line, in lower case, for help. */
  readonly about: string;
  /** For help; a command that only has sub-commands needs none. */
  readonly examples?: readonly string[];
  readonly args?: A;
  readonly options?: O;
  readonly commands?: readonly Command[];
  readonly audit?: CommandAudit;
  readonly operation?: string | readonly string[];
  /** Undefined counts as 0. The handler in main.ts shows errors. */
  readonly run?: (context: CommandContext, args: Values<A>, options: Values<O>) => Promise<ExitCode | undefined>;
}

/** Infers the types of `run`'s parameters from `args` and `options`. */
export function defineCommand<
  A extends Readonly<Record<string, Argument>> = Record<never, never>,
  O extends Readonly<Record<string, OptionSpec>> = Record<never, never>,
>(spec: CommandSpec<A, O>): Command {
  const { name, about, examples = [], args = {}, options = {}, commands = [], audit, operation, run } = spec;
  const command = { name, about, examples, args, options, commands, audit, operation };
  if (run === undefined) return command;
  // Commander does not know the types of the texts that `args` and `options` read, so this asserts them once.
  return { ...command, run: (context, given, chosen) => run(context, given as Values<A>, chosen as Values<O>) };
}

const asText = (text: string): string => text;

export const needed = (about: string): Argument<string> => ({ about, shape: 'needed', read: asText });
export const optional = (about: string): Argument<string | undefined> => ({ about, shape: 'optional', read: asText });
/** Any number of arguments; the last one only. */
export const many = (about: string): Argument<readonly string[]> => ({ about, shape: 'many', read: asText });
export const flag = (about: string): OptionSpec<boolean> => ({ about, default: false, read: asText });
export const text = (about: string, value = 'text'): OptionSpec<string | undefined> => ({ about, value, read: asText });
/** An option with a text, which may repeat. */
export const texts = (about: string, value = 'text'): OptionSpec<readonly string[]> => ({
  about,
  value,
  repeats: true,
  default: [],
  read: asText,
});
export const integer = (about: string, value = 'n'): OptionSpec<number | undefined> => ({
  about,
  value,
  read: readInteger,
});
/** A whole number over 0: how many things, or how many seconds. */
export const positive = (about: string, value = 'n'): OptionSpec<number | undefined> => ({
  about,
  value,
  read: readPositive,
});
export const oneOf = <const T extends string>(choices: readonly T[], about: string): OptionSpec<T | undefined> => ({
  about: `${about}: ${choices.join(', ')}`,
  value: 'name',
  choices,
  read: readChoice(choices),
});
/** An argument that is one of these words. */
export const choice = <const T extends string>(choices: readonly T[], about: string): Argument<T> => ({
  about: `${about}: ${choices.join(', ')}`,
  shape: 'needed',
  choices,
  read: readChoice(choices),
});

const readChoice =
  <T extends string>(choices: readonly T[]) =>
  (given: string): T => {
    const found = choices.find((each) => each === given);
    if (found === undefined) throw new UsageError(`${given} is not one of ${choices.join(', ')}`);
    return found;
  };

function readInteger(given: string): number {
  if (!/^\d{1,12}$/.test(given)) throw new UsageError(`${given} is not a whole number`);
  return Number(given);
}

function readPositive(given: string): number {
  const number = readInteger(given);
  if (number === 0) throw new UsageError(`${given} is too small: give at least 1`);
  return number;
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** The flag of an option by its key: `dryRun` is `--dry-run`. */
export const flagOf = (name: string): string => `--${kebab(name)}`;

/** The word for an argument in help, by its key: `entityId` is `entity-id`. */
export const argumentWord = kebab;
