/** Makes the command of an operation: its arguments and options come from the schema of its input. */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import {
  type Frozen,
  type Ground,
  type MassPreview,
  type Operation,
  perform,
  performEach,
  preview,
  Refused,
} from '../../operations/definition/operation.ts';
import { commandActor } from '../arguments/actor.ts';
import { issueText } from '../arguments/issues.ts';
import {
  type Argument,
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  integer,
  type OptionSpec,
  oneOf,
  positive,
  text,
  texts,
  UsageError,
} from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';

interface CommandFace<R, D> {
  readonly name: string;
  /** Further text of the help. */
  readonly note?: string;
  readonly examples: readonly string[];
  /** The properties that have no flag. */
  readonly args?: readonly string[];
  /** Options with another name than their property. */
  readonly names?: Readonly<Record<string, string>>;
  /** Where to look for existing ids. */
  readonly hint?: string;
  /** Opens what the operation needs. */
  readonly open: (context: CommandContext, work: (deps: D) => Promise<ExitCode>) => Promise<ExitCode>;
  readonly show: (context: CommandContext, value: R, deps: D) => void | Promise<void>;
}

export function operationCommand<I extends TObject, R, N extends object, D extends Ground & N>(
  operation: Operation<I, R, N>,
  face: CommandFace<R, D>,
): Command {
  const { args = [], names = {}, note, hint, open, show } = face;
  const properties = Object.entries<TSchema>(operation.input.properties);
  const nameOf = (property: string): string => names[property] ?? property;
  const options = properties.filter(([name]) => !args.includes(name));
  return defineCommand({
    name: face.name,
    about: note === undefined ? operation.about : `${operation.about}; ${note}`,
    examples: face.examples,
    operation: operation.name,
    args: Object.fromEntries(
      properties
        .filter(([name]) => args.includes(name))
        .map(([name, schema]): [string, Argument] => [nameOf(name), argumentOf(name, schema)]),
    ),
    options: Object.fromEntries(options.map(([name, schema]) => [nameOf(name), optionOf(name, schema)])),
    run: (context, words, chosen) =>
      open(context, async (deps) => {
        const given = new Map(Object.entries({ ...words, ...chosen }));
        const input = Object.fromEntries(
          properties
            .map(([name]) => [name, given.get(nameOf(name))] as const)
            .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
        );
        // The schema checks the values of its own properties.
        const value = await performHere(operation, input as Frozen<Static<I>>, deps, hint);
        await show(context, value, deps);
        return 0;
      }),
  });
}

const HERE = { via: 'command' } as const;

/** Runs an operation for the user of the machine. A refusal becomes a {@link UsageError}, or an error with `hint`. */
export const performHere = <I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  input: Frozen<Static<I>>,
  deps: Ground & N,
  hint?: string,
): Promise<R> => perform(operation, input, deps, { ...HERE, actor: commandActor() }).catch(failWith(hint));

export const previewHere = <I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  input: Frozen<Static<I>>,
  deps: Ground & N,
): Promise<MassPreview> =>
  preview(operation, input, deps, { ...HERE, actor: commandActor() }).catch(failWith(undefined));

/** Runs an operation for all inputs, or for none. */
export const performEachHere = <I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  inputs: readonly Frozen<Static<I>>[],
  deps: Ground & N,
  hint?: string,
): Promise<readonly R[]> =>
  performEach(operation, inputs, deps, { ...HERE, actor: commandActor() }).catch(failWith(hint));

/** A refused operation: exit code 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly refusal: Refused;

  constructor(refusal: Refused, hint: string | undefined) {
    super(refusal.kind === 'unknown' && hint !== undefined ? `${refusal.message}: ${hint}` : refusal.message);
    this.refusal = refusal;
  }
}

const failWith =
  (hint: string | undefined) =>
  (error: unknown): never => {
    if (!(error instanceof Refused)) throw error;
    // Without the cause, which says the same in terms of the API.
    if (error.kind === 'invalid') throw new UsageError(error.issues.map(issueText).join('; '));
    throw new RefusedError(error, hint);
  };

const argumentOf = (name: string, schema: TSchema): Argument => ({
  about: aboutOf(schema),
  shape: Type.IsOptional(schema) ? 'optional' : 'needed',
  read: optionOf(name, schema).read,
});

function optionOf(name: string, schema: TSchema): OptionSpec<unknown> {
  const about = aboutOf(schema);
  const value = /(?:id|key)$/i.test(name) ? 'id' : 'text';
  if (Type.IsBoolean(schema)) return flag(about);
  if (Type.IsInteger(schema)) return 'minimum' in schema && schema.minimum === 1 ? positive(about) : integer(about);
  if (Type.IsEnum(schema)) return oneOf(choicesOf(schema), about);
  if (!Type.IsArray(schema)) return text(about, value);
  if (!Type.IsEnum(schema.items)) return texts(about, value);
  const { read, choices = [] } = oneOf(choicesOf(schema.items), about);
  return { ...texts(`${about}; may be repeated`, 'name'), read, choices };
}

const choicesOf = ({ enum: choices }: Type.TEnum): readonly string[] => choices.map(String);

/** The description as a help text: in lower case. */
function aboutOf(schema: TSchema | undefined): string {
  const description: unknown = schema !== undefined && 'description' in schema ? schema.description : undefined;
  const about = typeof description === 'string' ? description : '';
  return `${about.slice(0, 1).toLowerCase()}${about.slice(1)}`;
}
