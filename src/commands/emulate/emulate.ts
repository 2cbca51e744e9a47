/** `emulate`: runs a CRM, the register or the monitoring service on this machine. */
import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { stringify } from 'yaml';
import type { CrmEmulator, ScriptedFault } from '../../../providers/kit/emulator/emulator.ts';
import { EMULATORS } from '../../../providers/kit/emulators.ts';
import { parseConfig } from '../../config/parse.ts';
import { didYouMean } from '../../config/schema/nearest.ts';
import { listenError } from '../../http/server/listen-error.ts';
import { sampleCompanies } from '../../protocol/sample/stream.ts';
import { defineCommand, integer, needed, text, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { problemLines } from '../cli/failure.ts';
import { type RegisterEmulatorOptions, serveRegister } from './register.ts';
import { JOBS, type ServiceOptions, serveService } from './service.ts';

const applied = Type.Optional(Type.Boolean());
const CLOSED = { additionalProperties: false } as const;
const workAt = Type.Optional(Type.Union([Type.Literal('start'), Type.Literal('end')]));
const headers = Type.Optional(Type.Record(Type.String(), Type.String()));
const faultFile = Type.Array(
  Type.Object(
    {
      match: Type.String({ minLength: 1 }),
      body: Type.Optional(Type.String({ minLength: 1 })),
      times: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('always')])),
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      action: Type.Union([
        Type.Object(
          {
            kind: Type.Literal('status'),
            status: Type.Integer({ minimum: 100, maximum: 599 }),
            body: Type.Optional(Type.Unknown()),
            headers,
          },
          CLOSED,
        ),
        Type.Object({ kind: Type.Literal('hang'), applied }, CLOSED),
        Type.Object({ kind: Type.Literal('reset'), applied }, CLOSED),
        Type.Object({ kind: Type.Literal('cut'), applied }, CLOSED),
        Type.Object({ kind: Type.Literal('slow'), ms: Type.Number({ minimum: 0 }), at: workAt }, CLOSED),
      ]),
    },
    CLOSED,
  ),
);

/** A CRM's properties for the company's name and CVR number. */
const NAMES: Readonly<Record<string, { readonly name: string; readonly cvr: string }>> = {
  hubspot: { name: 'name', cvr: 'cvr_number' },
  salesforce: { name: 'Name', cvr: 'CVR_Number__c' },
  http: { name: 'name', cvr: 'cvr' },
};

const EMULATED = [...Object.keys(EMULATORS), 'register', 'datafordeler', 'service'];

export const command = defineCommand({
  name: 'emulate',
  examples: ['emulate hubspot --port 8090', 'emulate service --every 5 --webhook http://127.0.0.1:8080/webhook'],
  about:
    'run an emulator on this machine until you stop it: hubspot, salesforce, http, register, datafordeler or service',
  args: {
    name: {
      ...needed('hubspot, salesforce, http (an API of your own), register, datafordeler or service'),
      choices: EMULATED,
    },
  },
  options: {
    port: integer('listen on this port (default: a free one)'),
    seed: integer('the same seed gives the same ids and companies (default 1)'),
    companies: integer('the number of sample companies (default 10)'),
    faults: text(
      'read faults from this file: YAML or JSON, a list of { match, body, times, after, action: { kind: status | hang | reset | cut | slow, … } }',
      'file',
    ),
    every: integer(
      'seconds between changes to the companies, for register, datafordeler and service (default: no changes)',
    ),
    webhook: text('the webhook of the hubspot and salesforce jobs, for service (default: they send nothing)', 'url'),
  },
  run: async (context, { name }, { port = 0, seed = 1, companies = 10, faults, every, webhook }) => {
    if (!EMULATED.includes(name)) {
      throw new UsageError(`${name} cannot be emulated${didYouMean(name, EMULATED)} (${EMULATED.join(', ')})`);
    }
    if (port > 65_535) throw new UsageError(`${port} is not a port: 0 to 65535`);
    const script = faults === undefined ? [] : await readFaults(faults);
    const options = { port, seed, companies, faults: script };
    await emulated(context, name, { ...options, every, webhook }).catch((error: unknown) => {
      throw listenError(error, { host: '127.0.0.1', port }, { host: '--port', port: '--port' });
    });
    return 0;
  },
});

async function emulated(context: CommandContext, name: string, options: ServiceOptions): Promise<void> {
  const { output, signal, json } = context;
  const start = EMULATORS[name];
  if (name === 'service') return showService(context, options);
  if (start === undefined) return showRegister(context, name, options);
  const { port, seed, companies, faults } = options;
  const emulator = await start({ port, seed, faults });
  try {
    const records = addCompanies(emulator, name, seed, companies);
    const { cvr } = NAMES[name] ?? {};
    const entry = { use: name, ...emulator.settings, ...(cvr !== undefined && { match: { property: cvr } }) };
    const configuration = { connector: { providers: { [name]: entry } } };
    const shown = { name, url: emulator.url, configuration, records };
    output.entry(shown, `${name} answers at ${emulator.url}, with ${records.length} sample companies. To reach it:\n`);
    if (!json) output.line(stringify(configuration).trimEnd());
    for (const { id, entityId, name: company } of records) output.line(`# ${id}  ${entityId}  ${company}`);
    await ended(signal);
  } finally {
    await emulator.close();
  }
}

/** Runs a register until the signal, and changes one of its companies at intervals. */
async function showRegister(
  { output, json, signal }: CommandContext,
  name: string,
  options: RegisterEmulatorOptions & { readonly every: number | undefined; readonly companies: number },
): Promise<void> {
  const emulator = await serveDistribution(name, options);
  const { every, companies } = options;
  const timer = every === undefined || every < 1 ? undefined : setInterval(() => emulator.change(), every * 1_000);
  try {
    const { url, settings } = emulator;
    const configuration = { service: { register: settings } };
    output.entry(
      { name, url, configuration, companies },
      `${name} answers at ${url}, with ${companies} sample companies. To reach it:\n`,
    );
    if (!json) output.line(stringify(configuration).trimEnd());
    await ended(signal);
  } finally {
    clearInterval(timer);
    await emulator.close();
  }
}

/** Loads GraphQL only for Datafordeler. */
const serveDistribution = async (name: string, options: RegisterEmulatorOptions) =>
  name === 'datafordeler'
    ? (await import('./datafordeler/datafordeler.ts')).serveDatafordeler(options)
    : serveRegister(options);

async function showService(context: CommandContext, options: ServiceOptions): Promise<void> {
  const { output, json, signal } = context;
  const service = await serveService(context, options);
  try {
    const { url, accessKey, file } = service;
    const configuration = { connector: { upstream: { baseUrl: url, accessKey } } };
    output.entry(
      { name: 'service', url, configuration, file, companies: service.companies },
      `service answers at ${url}, with ${options.companies} sample companies. To reach it:\n`,
    );
    if (!json) output.line(stringify(configuration).trimEnd());
    for (const { entityId, name } of service.companies) output.line(`# ${entityId}  ${name}`);
    output.line(
      `\nIts key has jobs for connections named ${JOBS.join(' and ')}${options.webhook === undefined ? ', which send nothing: give --webhook URL for events' : ''}.`,
    );
    output.line(`To administer it: cvrsync --config ${file} jobs list`);
    await ended(signal);
  } finally {
    await service.close();
  }
}

async function readFaults(file: string): Promise<readonly ScriptedFault[]> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`cannot read ${file}`, { cause: error });
  });
  const parsed = parseConfig(content);
  if (!parsed.ok) throw new UsageError([`${file}:`, ...parsed.errors.flatMap(problemLines)].join('\n'));
  const { value } = parsed;
  if (!Value.Check(faultFile, value)) {
    const [error] = Value.Errors(faultFile, value);
    throw new UsageError(
      `${file} is not a list of faults: ${error?.instancePath || 'the whole'} ${error?.message ?? 'is not valid'}`,
    );
  }
  for (const pattern of value.flatMap(({ match, body = '' }) => [match, body])) {
    try {
      new RegExp(pattern);
    } catch (error) {
      throw new UsageError(`${file}: ${pattern} is not a regular expression`, { cause: error });
    }
  }
  // The schema matches the interface, except that a file cannot hold an explicit `undefined`.
  return value as readonly ScriptedFault[];
}

function addCompanies(emulator: CrmEmulator, kind: string, seed: number, count: number) {
  const names = NAMES[kind];
  if (names === undefined) return [];
  return sampleCompanies(seed, count).map(({ entityId, name }) => {
    const id = emulator.add({ [names.name]: name, [names.cvr]: entityId.slice('CVR-1-'.length) });
    return { id, entityId, name };
  });
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
