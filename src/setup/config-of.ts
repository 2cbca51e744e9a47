/** The configuration that the answers of a set-up make, as a value and as the text of its file. */
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Document, isMap, isScalar, type YAMLMap } from 'yaml';
import { SCHEMA_FILE } from '../config/init.ts';
import type { Draft, DraftConnection } from './draft.ts';
import { type Settings, valueAt } from './questions.ts';
import { WEBHOOK_SECRET } from './secret-files.ts';

/** What the set-up knows from the machine. */
export interface SetUpPlace {
  readonly file: string;
  /** The folder of the sample register. */
  readonly samples: string;
  readonly admin: Settings;
  readonly server: Settings;
  /** The configured legal basis for beneficial owners. */
  readonly beneficialOwners?: Settings | undefined;
}

/** The sample register of this package. */
export const samplesFolder = (): string => join(dirname(findPackageJSON(import.meta.url) ?? ''), 'samples/register');

/** The base of relative paths in it. */
export const folderOf = ({ file }: SetUpPlace): string => dirname(resolve(file));

export const entryOf = (connection: DraftConnection): Settings => {
  const { use, settings, match, hold, policy, only, values = {}, fields = {}, more = {} } = connection;
  return {
    ...{ use, ...settings, ...more },
    ...(match !== undefined && { match: { ...Object(more['match']), property: match } }),
    ...(hold !== undefined && { hold: { property: hold } }),
    ...(only !== undefined && { only }),
    ...(policy !== undefined && { policy }),
    ...(Object.keys(fields).length > 0 && { fields: writtenFields(fields) }),
    ...(Object.keys(values).length > 0 && { values }),
  };
};

function writtenFields(fields: NonNullable<DraftConnection['fields']>): Settings {
  const shown = Object.entries(fields).map(([field, rule]) => {
    const [only] = rule === false ? [] : rule;
    return [field, rule === false ? false : rule.length === 1 ? only : rule];
  });
  return Object.fromEntries(shown);
}

/** The header that proves an event. */
export const WEBHOOK_KEY = 'X-Webhook-Key';

/** The configuration's part about the source of changes. */
export function sourceOf({ source: answers }: Draft, place: SetUpPlace) {
  const { source, publicUrl, ...credentials } = { source: 'sample', ...Object(answers?.['changes']) };
  return {
    publicUrl,
    upstream: source === 'service' ? credentials : undefined,
    register: source === 'service' ? undefined : registerOf(source, credentials, place),
  };
}

export function registerOf(source: unknown, credentials: Settings, place: SetUpPlace): Settings {
  if (source === 'register') return { source: 'cvr', ...credentials };
  if (source === 'datafordeler') return { source, ...credentials };
  return { source: 'file', path: place.samples };
}

export function configOf(draft: Draft, place: SetUpPlace): Settings {
  const entries = Object.entries(draft.connections).map(([name, each]) => [name, entryOf(each)]);
  const { publicUrl, upstream, register } = sourceOf(draft, place);
  const server = { ...place.server, ...(publicUrl !== undefined && { publicUrl }) };
  return {
    ...(Object.keys(server).length > 0 && { server }),
    ...(Object.keys(place.admin).length > 0 && { admin: place.admin }),
    store: STORE,
    connector: {
      webhook: { auth: { method: 'Header', key: WEBHOOK_KEY, value_FILE: WEBHOOK_SECRET } },
      ...(upstream !== undefined && { upstream }),
      providers: Object.fromEntries(entries),
    },
    ...(register !== undefined && { service: { register } }),
    ...(draft.alerts !== undefined && { alerts: draft.alerts }),
    ...(draft.timeZone !== undefined && { timeZone: draft.timeZone }),
  };
}

/** The default store. */
export const STORE = 'data/cvrsync.db';

/** A configuration of one connection alone, for tests. */
export const trialOf = (name: string, connection: DraftConnection, place: SetUpPlace): Settings => ({
  ...(place.admin['publicUrl'] !== undefined && { admin: { publicUrl: place.admin['publicUrl'] } }),
  ...(place.beneficialOwners !== undefined && { beneficialOwners: place.beneficialOwners }),
  connector: { webhook: { auth: { method: 'None' } }, providers: { [name]: entryOf(connection) } },
});

const HEAD = [
  'Configuration of cvrsync, written by its set-up.',
  'Every key and its meaning: docs/configuration.md, or cvrsync config init --print. Try it all with: cvrsync check',
  'A key that ends in _FILE names a file with the value; its path begins at this folder.',
];

const COMMENTS: Readonly<Record<string, string>> = {
  server: 'For everybody: webhooks and the API.',
  admin: 'For operators: the dashboard. `exposed` confirms that only administrators reach it.',
  store: 'All state. A path: SQLite, from the working directory on. postgres://...: PostgreSQL.',
  connector: 'Writes changes of companies into the CRMs.',
  'connector.webhook': 'Where the monitoring service posts events, and how it proves itself.',
  'connector.upstream': 'The monitoring service.',
  'connector.providers': 'The CRMs.',
  service: 'Watches the register, and tells the connector.',
  alerts: 'Who is told when something needs a person.',
  timeZone: 'Of the times in the dashboard and in mails.',
};
const CONNECTION_COMMENTS: Readonly<Record<string, string>> = {
  match: 'The property that holds the CVR number.',
  hold: 'cvrsync leaves a record alone where this is set.',
  fields: 'Instead of the preset, for these fields.',
};

export function textOf(config: Settings): string {
  const document = new Document(config);
  document.commentBefore = HEAD.map((line) => ` ${line}`).join('\n');
  const names = Object.keys(Object(valueAt(config, ['connector', 'providers'])));
  const ofConnections = names.flatMap((name) =>
    Object.entries(CONNECTION_COMMENTS).map(([key, text]) => [`connector.providers.${name}.${key}`, text] as const),
  );
  const comments = new Map([...Object.entries(COMMENTS), ...ofConnections]);
  if (isMap(document.contents)) dress(document.contents, '', comments);
  return `# yaml-language-server: $schema=${SCHEMA_FILE}\n${document.toString({ lineWidth: 0 })}`;
}

/** Puts comments before keys, and small sections on one line. */
function dress(map: YAMLMap, path: string, comments: ReadonlyMap<string, string>): void {
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    const at = path === '' ? String(key.value) : `${path}.${key.value}`;
    const comment = comments.get(at);
    if (comment !== undefined) key.commentBefore = ` ${comment}`;
    key.spaceBefore = path === '';
    if (!isMap(value)) continue;
    dress(value, at, comments);
    value.flow = path !== '' && isSmall(value);
  }
}

const isSmall = ({ items }: YAMLMap): boolean =>
  items.length <= MOST_ON_A_LINE && items.every(({ value }) => isScalar(value));

const MOST_ON_A_LINE = 3;
