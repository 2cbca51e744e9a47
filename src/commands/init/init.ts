/** `init`: asks in a terminal what the set-up asks in a browser, and writes the same file. */
import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { BUILT_IN } from '../../../providers/index.ts';
import { namedFile } from '../../config/load-file.ts';
import { loadProvider } from '../../config/plugins/plugin.ts';
import type { AlertsConfig } from '../../config/schema/alerts.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import { testChannels } from '../../operations/installation/alert-test.ts';
import { DANISH_ZONE, isTimeZone } from '../../protocol/text/zone-clock.ts';
import type { Findings } from '../../runtime/finding.ts';
import { createOperator } from '../../runtime/operators/operators.ts';
import { folderOf, type SetUpPlace, STORE, samplesFolder } from '../../setup/config-of.ts';
import { answeredConnection, lackedProperties, usualConnection, withNumber } from '../../setup/connections.ts';
import type { Draft, DraftConnection } from '../../setup/draft.ts';
import { SOURCE, YOU } from '../../setup/draft.ts';
import { questionsOf, readAnswers } from '../../setup/questions.ts';
import { keepSecrets } from '../../setup/secret-files.ts';
import { createTrials, type Trials } from '../../setup/trials/trials.ts';
import { readSource, trySource } from '../../setup/trials/try-source.ts';
import { writeConfig } from '../../setup/write-file.ts';
import { openStore } from '../../store/engines/open.ts';
import type { Store } from '../../store/store.ts';
import { commandActor } from '../arguments/actor.ts';
import { defineCommand, flag, texts, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { askAlerts } from './alerts.ts';
import { type Asker, givenAnswers, openAsker } from './asker.ts';
import { askMapping } from './mapping.ts';

/** A terminal waits longer than a page. */
const PATIENCE_MS = 30_000;

const CONFIG_FILES = ['cvrsync.yaml', 'cvrsync.yml', 'cvrsync.json'];

export const command = defineCommand({
  name: 'init',
  examples: ['init', 'init --set crm=salesforce --set source.changes=sample'],
  about: 'ask for the first configuration, try each answer, and write the file',
  options: {
    set: texts(
      'answer a question: name, timeZone, crm, hubspot.accessToken, hubspot.match, hubspot.mapping, source.changes, alerts.mail.to, ...; KEY=@FILE reads a file',
      'key=value',
    ),
    createProperties: flag('create the properties that the CRM lacks'),
    force: flag('replace an existing file'),
  },
  run: async (context, _args, { set, createProperties, force }) => {
    const file = resolve(namedFile({ file: context.configFile, env: context.env }));
    if (existsSync(file) && !force)
      throw new UsageError(`${file} exists: name another with --config, or replace it with --force`);
    const other = CONFIG_FILES.map((name) => resolve(dirname(file), name)).find(
      (each) => each !== file && existsSync(each),
    );
    if (other !== undefined)
      throw new UsageError(
        `the secrets of ${other} are in the same folder, and would be replaced: choose another folder`,
      );
    const place: SetUpPlace = { file, samples: samplesFolder(), admin: {}, server: {} };
    const asker = openAsker(context, givenAnswers(set));
    const store = await openStore(STORE);
    const client = openClient({ env: context.env });
    const crm = { store, http: client.http, metrics: createMetrics(), now: Date.now };
    const work: Work = { context, asker, place, store, createProperties, trials: createTrials(crm, PATIENCE_MS) };
    try {
      const you = await askYou(work);
      const zone = await askZone(work);
      const connections = await askConnection(work);
      const source = await askSource(work);
      const read = readSource(source, { place, env: context.env });
      for (const { path, message } of read.problems) throw new UsageError(`source.${path} ${message}`);
      show(context, (await trySource(crm, read, Object.keys(connections), place)) ?? []);
      const asked = await askAlerts(asker, { place, env: context.env });
      for (const key of asker.unused())
        throw new UsageError(`--set ${key} answers no question of this set-up: check its spelling`);
      if (asked?.isTested) await sendTests(work, asked.alerts, zone.timeZone);
      const draft: Draft = { ...you, ...zone, connections, source, ...(asked && { alerts: asked.answers }) };
      return await write(work, draft, force);
    } finally {
      asker.close();
      await client.close();
      await store.close();
    }
  },
});

interface Work {
  readonly context: CommandContext;
  readonly asker: Asker;
  readonly place: SetUpPlace;
  readonly store: Store;
  readonly trials: Trials;
  readonly createProperties: boolean;
}

/** The first operator, whose token is shown once. After an empty name the link of `serve` makes the operator. */
async function askYou({ context, asker, store }: Work): Promise<Pick<Draft, 'you'>> {
  const [question] = questionsOf(YOU);
  const name = await asker.ask({ key: 'name', about: `${question?.about} Empty: later` });
  if (name === '') return {};
  const token = await store.write((tx) => createOperator(tx, { name, role: 'admin' }, Date.now()));
  context.output.line(
    token === undefined
      ? `The operator ${name} exists.`
      : `The token of ${name} for the dashboard, shown once: ${token}`,
  );
  return { you: { name } };
}

async function askZone({ asker }: Work): Promise<{ readonly timeZone: string }> {
  const about = 'Time zone of the pages and mails';
  const timeZone = await asker.ask({ key: 'timeZone', about, usual: DANISH_ZONE });
  if (!isTimeZone(timeZone))
    throw new UsageError(`${timeZone} is not a time zone: give its name as in --set timeZone=${DANISH_ZONE}`);
  return { timeZone };
}

async function askConnection(work: Work): Promise<Draft['connections']> {
  const { context, asker, place } = work;
  const names = Object.keys(BUILT_IN);
  const use = await asker.ask({ key: 'crm', about: `CRM: ${names.join(', ')}, a package or a path`, usual: names[0] });
  const load = await loadProvider(use, folderOf(place));
  if (!load.ok) throw new UsageError(load.message);
  const { provider } = load;
  const { name } = provider;
  const parts = questionsOf(provider.settings);
  const answer = await asker.askAll(name, parts);
  const asked = { name, use, provider, parts, connection: undefined };
  const { kept, read } = await answeredConnection(asked, answer, { place, env: context.env });
  if (!read.ok) throw new UsageError(read.problems.map(({ path, message }) => `${name}.${path} ${message}`).join('\n'));
  const { access } = await work.trials.look(read.provider);
  show(context, [
    ...access.account,
    ...access.rights.flatMap(({ lack }) => lack ?? []),
    ...(access.failure === undefined ? [] : [access.failure]),
  ]);
  const { connection, properties } = await askNumber(work, name, kept, read.provider);
  return { [name]: await askMapping({ ...context, asker }, { name, preset: provider.preset, properties }, connection) };
}

/** The property of the number, found in a sample of the records. Creates missing properties if the person agrees. */
async function askNumber(
  { context, asker, trials, createProperties }: Work,
  name: string,
  kept: DraftConnection,
  provider: Parameters<Trials['survey']>[0],
): Promise<{ readonly connection: DraftConnection; readonly properties: ReadonlySet<string> | undefined }> {
  const survey = await trials.survey(provider);
  if (survey?.ok === false) show(context, [survey.failure]);
  const candidates = survey?.ok === true ? survey.sampled.candidates : [];
  for (const { property, valid, filled } of candidates)
    context.output.line(`${property}: ${valid} of ${filled} values are valid CVR numbers`);
  const usual = candidates[0]?.property ?? usualConnection(provider.provider).match;
  const match = await asker.ask({ key: `${name}.match`, about: 'Property of the CVR number', usual });
  const names = survey?.ok === true ? survey.properties.map((each) => each.name) : undefined;
  const chosen = withNumber(kept, provider.provider, match, names);
  const missing = survey?.ok === true ? lackedProperties({ ...provider, match }, survey.properties) : [];
  // Missing properties may be created later.
  const properties = names && new Set([...names, ...missing.map((each) => each.name)]);
  if (missing.length === 0) return { connection: chosen, properties };
  context.output.line(`${name} lacks ${missing.length} properties: ${missing.map((each) => each.name).join(', ')}`);
  if (!createProperties) {
    context.output.line('Run cvrsync check --create-properties to create them.');
    return { connection: chosen, properties };
  }
  show(context, (await trials.create(provider, missing, { actor: commandActor(), via: 'command' })) ?? []);
  return { connection: withNumber(kept, provider.provider, match, undefined), properties };
}

async function askSource({ asker, place }: Work): Promise<Record<string, unknown>> {
  const parts = questionsOf(SOURCE);
  const answers = readAnswers(parts, await asker.askAll('source', parts));
  return { ...(await keepSecrets(folderOf(place), 'source', answers)) };
}

async function sendTests({ context, store }: Work, alerts: AlertsConfig, timeZone: string): Promise<void> {
  const ground = { store, now: Date.now, alerts, timeZone };
  const tests = await testChannels(ground, { actor: commandActor(), via: 'command' });
  show(
    context,
    tests.map(({ channel, error }) => ({
      level: error === null ? 'ok' : 'fail',
      subject: `alerts ${channel}`,
      found: error === null ? 'the test was sent' : `the test was not sent: ${error}`,
    })),
  );
}

async function write({ context, place }: Work, draft: Draft, force: boolean): Promise<0 | 1> {
  const written = await writeConfig(draft, place, { env: context.env, mayReplace: force });
  if (written.kind === 'invalid')
    throw new UsageError(written.problems.map(({ path, message }) => `${path} ${message}`).join('\n'));
  if (written.kind === 'unwritable') {
    context.output.result(
      { file: place.file, text: written.text },
      `${place.file} cannot be written (${written.code}). Put there:\n\n${written.text}`,
    );
    return 1;
  }
  const shown = relative('.', place.file);
  context.output.result({ file: place.file }, `Wrote ${shown}. Start the daemon: cvrsync serve`);
  return 0;
}

function show({ output }: CommandContext, findings: Findings): void {
  for (const { level, subject, found, advice } of findings)
    output.line(`${level}  ${subject}: ${found}${advice === undefined ? '' : ` (${advice})`}`);
}
