/** `config`: the file that everything else reads. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BUILT_IN } from '../../providers/index.ts';
import { initialConfig } from '../config/init.ts';
import { didYouMean } from '../config/nearest.ts';
import { redact } from '../config/redact.ts';
import { configSchema } from '../config/schema.ts';
import { schemaDocument } from '../config/schema-document.ts';
import { defineCommand, flag, many, UsageError } from './command.ts';

const init = defineCommand({
  name: 'init',
  about: 'write a commented configuration file to begin with',
  args: { providers: many('the CRMs to configure: hubspot, salesforce; all of them where none is named') },
  options: { force: flag('replace the file where there is one'), print: flag('print it instead of writing it') },
  run: async (context, { providers }, { force, print }) => {
    const known = Object.keys(BUILT_IN);
    for (const name of providers)
      if (!known.includes(name))
        throw new UsageError(`${name} is not built in${didYouMean(name, known)} (${known.join(', ')})`);
    const text = await initialConfig(providers);
    if (print) {
      context.output.result(text, text.trimEnd());
      return 0;
    }
    const file = resolve(context.configFile ?? (context.env['CVRSYNC_CONFIG'] || 'cvrsync.yaml'));
    await writeFile(file, text, { flag: force ? 'w' : 'wx' }).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
        throw new UsageError(`${file} exists: name another with --config, or replace it with --force`);
      throw new Error(`cannot write ${file}`, { cause: error });
    });
    const names = [...new Set([...text.matchAll(/^[^#\n]*?\$\{(\w+)\}/gm)].map((match) => match[1] ?? ''))];
    context.output.result(
      { file, environment: names },
      `Wrote ${file}. Set ${names.join(', ')}, then run: cvrsync check`,
    );
    return 0;
  },
});

const schema = defineCommand({
  name: 'schema',
  about: 'print the JSON Schema of the configuration file',
  run: async (context) => {
    const document = await schemaDocument();
    context.output.result(document, JSON.stringify(document, null, 2));
    return 0;
  },
});

const show = defineCommand({
  name: 'show',
  about: 'print the configuration in force, defaults filled in and secrets masked',
  run: async (context) => {
    const { config, file } = await context.loaded();
    const { connector, ...rest } = config;
    const providers = connector?.providers.map(({ provider, settings, ...more }) => {
      return { ...more, use: provider.name, settings: redact(provider.settings, settings) };
    });
    const given = { ...rest, ...(connector !== undefined && { connector: { ...connector, providers: {} } }) };
    const shown = { file, config: redact(configSchema, given), providers };
    context.output.result(shown, JSON.stringify(shown, null, 2));
    return 0;
  },
});

export const command = defineCommand({
  name: 'config',
  about: 'write, check and describe the configuration file',
  commands: [init, schema, show],
});
