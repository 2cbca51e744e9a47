import { type Argument, type Command, flagOf, type OptionSpec } from '../cli/command.ts';
import type { Completion, Values } from '../cli/completions.ts';
import { GLOBAL_OPTIONS } from '../cli/global-options.ts';

/** One entry for the program, and one for each command. */
export function completionsOf(commands: readonly Command[]): readonly Completion[] {
  const words = commands.map(({ name, about }) => ({ word: name, about }));
  const globals = GLOBAL_OPTIONS.map(({ flag, value, about, choices }) => {
    return { word: flag, about, values: value === undefined ? undefined : (choices ?? valuesOf(value, {})) };
  });
  const help = { word: '--help', about: 'show what the command does', values: undefined };
  const shared = [...globals, help];
  const version = { word: '--version', about: 'print the version', values: undefined };
  return [
    { path: '', commands: words, options: [...shared, version], args: [] },
    ...commands.flatMap((command) => completionsBelow(command, [], shared)),
  ];
}

function completionsBelow(
  command: Command,
  above: readonly string[],
  shared: Completion['options'],
): readonly Completion[] {
  const path = [...above, command.name];
  const options = Object.entries(command.options).map(([name, spec]) => {
    return { word: flagOf(name), about: spec.about, values: optionValues(name, spec) };
  });
  return [
    {
      path: path.join(' '),
      commands: command.commands.map(({ name, about }) => ({ word: name, about })),
      options: [...options, ...shared],
      args: Object.entries(command.args).map(([name, spec]) => {
        return { values: valuesOf(name, spec), isMany: spec.shape === 'many' };
      }),
    },
    ...command.commands.flatMap((sub) => completionsBelow(sub, path, shared)),
  ];
}

const optionValues = (name: string, spec: OptionSpec): Values | undefined => {
  if (spec.value === undefined) return undefined;
  return valuesOf(spec.value === 'name' ? name : spec.value, spec);
};

/** By the name of an argument, or of the value of an option: names mean the same everywhere. */
function valuesOf(name: string, { choices }: Pick<Argument, 'choices'>): Values {
  if (choices !== undefined) return choices;
  if (name === 'provider') return 'connections';
  return name === 'file' || name === 'folder' || name === 'path' ? 'files' : 'any';
}
