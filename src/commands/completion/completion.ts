/** `completion`: the script that completes command lines in a shell. */
import { readFile } from 'node:fs/promises';
import { namedFile } from '../../config/load-file.ts';
import { parseConfig } from '../../config/parse.ts';
import { choice, defineCommand } from '../cli/command.ts';
import { SHELLS, scriptOf } from './scripts.ts';

const connections = defineCommand({
  name: 'connections',
  examples: ['completion connections'],
  about: 'print the names of the connections, for the scripts; nothing if the configuration cannot be read',
  run: async ({ output, configFile: file, env, json }) => {
    const names = await readNames(namedFile({ file, env }));
    if (json) output.result(names);
    else for (const name of names) output.line(name);
    return 0;
  },
});

export const command = defineCommand({
  name: 'completion',
  examples: ['completion bash >> ~/.bashrc', 'completion fish > ~/.config/fish/completions/cvrsync.fish'],
  about: 'print the script that completes commands, options, values and names of connections in a shell',
  args: { shell: choice(SHELLS, 'the shell') },
  commands: [connections],
  run: async ({ output, completions }, { shell }) => {
    const script = scriptOf(shell, await completions());
    output.result({ shell, script }, script.trimEnd());
    return 0;
  },
});

/** Only names: a completion must not wait for plugins, nor fail because of a missing secret. */
async function readNames(file: string): Promise<readonly string[]> {
  const parsed = await readFile(file, 'utf8').then(parseConfig, () => undefined);
  const connector = child(parsed?.ok ? parsed.value : undefined, 'connector');
  return Object.keys(child(connector, 'providers') ?? {});
}

const child = (value: unknown, key: string): object | undefined => {
  const found: unknown = Object.getOwnPropertyDescriptor(value ?? {}, key)?.value;
  return typeof found === 'object' && found !== null ? found : undefined;
};
