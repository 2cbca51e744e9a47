/** `config`: writes, describes and accepts the configuration file. */
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BUILT_IN } from '../../../providers/index.ts';
import { initialConfig, type Plugin, SCHEMA_FILE } from '../../config/init.ts';
import { entrySchema, loadProvider } from '../../config/plugins/plugin.ts';
import { schemaDocument } from '../../config/schema-document.ts';
import { shownConfig } from '../../installation.ts';
import { defineCommand, flag, many, UsageError } from '../cli/command.ts';
import { apply, diff, history, rollback } from './accepted.ts';
import { processingRecord } from './processing-record.ts';

/** Describes a provider that is not built in. Its path or package is looked up from `folder`. */
async function describePlugin(use: string, folder: string): Promise<Plugin> {
  const load = await loadProvider(use, folder);
  if (!load.ok) throw new UsageError(load.message);
  return { name: load.provider.name, use, schema: entrySchema(load.provider) };
}

const init = defineCommand({
  name: 'init',
  examples: ['config init hubspot', 'config init salesforce --print'],
  about: 'write a commented configuration file to start with',
  args: {
    providers: {
      ...many('the CRMs to configure: hubspot, salesforce, http, a package or a path; default: the first two'),
      choices: Object.keys(BUILT_IN),
    },
  },
  options: { force: flag('replace an existing file'), print: flag('print it instead of writing it') },
  run: async (context, { providers }, { force, print }) => {
    const file = resolve(context.configFile ?? (context.env['CVRSYNC_CONFIG'] || 'cvrsync.yaml'));
    const isBuiltIn = (name: string): boolean => Object.hasOwn(BUILT_IN, name);
    const plugins = await Promise.all(
      providers.filter((name) => !isBuiltIn(name)).map((use) => describePlugin(use, dirname(file))),
    );
    const text = await initialConfig(providers.filter(isBuiltIn), plugins);
    if (print) {
      context.output.result(text, text.trimEnd());
      return 0;
    }
    await writeFile(file, text, { flag: force ? 'w' : 'wx' }).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
        throw new UsageError(`${file} exists: name another with --config, or replace it with --force`);
      throw new Error(`cannot write ${file}`, { cause: error });
    });
    const schemaFile = join(dirname(file), SCHEMA_FILE);
    const described = await schemaDocument(new Map(plugins.map(({ use, schema: entry }) => [use, entry])));
    await writeFile(schemaFile, JSON.stringify(described)).catch((error: unknown) => {
      context.log.warn({ err: error, file: schemaFile }, 'the schema for editors cannot be written');
    });
    const names = variablesIn(text);
    context.output.result(
      { file, schema: schemaFile, environment: names },
      `Wrote ${file}. Set ${names.join(', ')}, then run: cvrsync check`,
    );
    return 0;
  },
});

/** The variables that a file of `config init` needs: all outside of comments, each once. */
const variablesIn = (text: string): readonly string[] => {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  return [...new Set([...lines.join('\n').matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name))];
};

const schema = defineCommand({
  name: 'schema',
  examples: ['config schema > cvrsync.schema.json'],
  about: 'print the JSON Schema of the configuration file',
  args: { plugins: many('providers that are not built in, to be described too: packages or paths') },
  run: async (context, { plugins }) => {
    const described = await Promise.all(plugins.map((use) => describePlugin(use, '.')));
    const document = await schemaDocument(new Map(described.map(({ use, schema: entry }) => [use, entry])));
    // On one line, which is half as long.
    context.output.entry(document, JSON.stringify(document));
    return 0;
  },
});

const show = defineCommand({
  name: 'show',
  examples: ['config show'],
  about: 'print the configuration in force, defaults filled in and secrets masked',
  run: async (context) => {
    const { config, file } = await context.loaded();
    context.output.result({ file, ...shownConfig(config) });
    return 0;
  },
});

const processing = defineCommand({
  name: 'processing',
  examples: ['config processing > processing.md'],
  about: 'print a record of processing activities, made from the configuration, to fill in',
  run: async (context) => {
    const record = processingRecord((await context.loaded()).config, new Date().toISOString().slice(0, 10));
    context.output.result(record, record.trimEnd());
    return 0;
  },
});

export const command = defineCommand({
  name: 'config',
  about: 'write, describe and accept the configuration file',
  commands: [init, schema, show, diff, apply, history, rollback, processing],
});
