/** Writes a commented configuration file to start with, from the schemas. */
import Type, { type TObject, type TSchema } from 'typebox';
import { stringify } from 'yaml';
import { defaultOf } from './schema/fill.ts';
import { configSchema } from './schema/schema.ts';
import { builtInEntries } from './schema-document.ts';

const env = (name: string): string => `\${${name}}`;

/** Values for keys whose default is not useful, as YAML; all other keys become comments. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'server.host': '127.0.0.1',
  'server.port': '8080',
  store: 'data/cvrsync.db',
  'connector.webhook.path': '/webhook',
  'connector.webhook.auth': `{ method: Header, key: X-Webhook-Key, value: "${env('WEBHOOK_SECRET')}" }`,
  'connector.upstream.baseUrl': 'https://service.example.com',
  'connector.upstream.accessKey': env('MONITORING_ACCESS_KEY'),
  'connector.providers.hubspot.use': 'hubspot',
  'connector.providers.hubspot.accessToken': env('HUBSPOT_ACCESS_TOKEN'),
  'connector.providers.hubspot.match': '{ property: cvr_number }',
  'connector.providers.salesforce.use': 'salesforce',
  'connector.providers.salesforce.loginUrl': 'https://NAME.my.salesforce.com',
  'connector.providers.salesforce.auth': `{ flow: client-credentials, clientId: "${env('SF_CLIENT_ID')}", clientSecret: "${env('SF_CLIENT_SECRET')}" }`,
  'connector.providers.salesforce.match': '{ property: CVR_Number__c }',
  'connector.providers.http.use': 'http',
  'connector.providers.http.updateUrl': 'https://api.example.com/companies/{id}',
  'connector.providers.http.exportUrl': 'https://api.example.com/companies',
  'connector.providers.http.authValue': `"Bearer ${env('COMPANY_API_TOKEN')}"`,
  'connector.providers.http.match': '{ property: cvr }',
};

/** Values in comments, for keys that a file usually omits. */
const HINTS: Readonly<Record<string, string>> = {
  currency: 'DKK',
  publicUrl: 'https://sync.example.com',
  batch: '100',
  fields: '{ phone: phone, name: { property: name, policy: if-blank }, email: false }',
  values: '{ industryCode: { "62*": COMPUTER_SOFTWARE } }',
  notes: '[newReport, status]',
  hold: '{ property: cvr_hold }',
  only: '{ country: [Denmark, DK] }',
  autoMatch: 'suggest',
  policy: 'tracked',
  logLevel: 'info',
  register: '{ source: file, path: samples/register }',
  url: 'smtp://localhost:1025',
  from: 'cvrsync@example.com',
  'service.smtp.admin': 'operations@example.com',
  'alerts.webhook': env('ALERT_WEBHOOK'),
  'alerts.mail.to': '[operations@example.com]',
  'admin.token': env('CVRSYNC_ADMIN_TOKEN'),
  'admin.port': '8081',
  'admin.publicUrl': 'https://cvrsync.example.com',
  'admin.oidc.issuer': 'https://login.example.com',
  'admin.oidc.clientId': 'cvrsync',
  'admin.oidc.clientSecret': env('OIDC_CLIENT_SECRET'),
  'admin.oidc.roles': '{ viewer: [crm], operator: [crm-operators], admin: [crm-admins] }',
  'retention.news': '3650',
  'backup.folder': 'data/backups',
  'telemetry.endpoint': 'http://localhost:4318',
  'beneficialOwners.legalBasis': 'obliged entity, customer due diligence under section 11 of the Money Laundering Act',
  retrySeconds: '[0, 5, 300, 1800]',
  secretKey: env('CVRSYNC_SECRET_KEY'),
  organizationId: '00D000000000000EAA',
};

const WIDTH = 100;

/** The default providers of a new file: CRMs in which everybody has an own account. */
const USUAL: readonly string[] = ['hubspot', 'salesforce'];

/** The schema file that editors use to complete and check the configuration. */
export const SCHEMA_FILE = 'cvrsync.schema.json';

/** The text of the file, with an entry for each provider, built in or a plugin. */
export async function initialConfig(
  names: readonly string[] = USUAL,
  plugins: readonly Plugin[] = [],
): Promise<string> {
  const entries = await builtInEntries();
  const chosen = [
    ...[...entries].filter(([name]) => (names.length + plugins.length === 0 ? USUAL : names).includes(name)),
    ...plugins.map(({ name, schema }) => [name, schema] as const),
  ];
  const uses = Object.fromEntries(plugins.flatMap(neededBy));
  const lines = [
    `# yaml-language-server: $schema=${SCHEMA_FILE}`,
    '# Configuration of cvrsync. Lines that begin with # and a key show the default, or an example.',
    `# ${env('NAME')} and ${env('NAME:-default')} come from the environment; NAME_FILE may name a file with the value instead.`,
    '# Write $${ for the characters themselves. Check it all with: cvrsync check',
    '',
    ...sectionLines(configSchema, { path: '', indent: '', off: false, providers: Object.fromEntries(chosen), uses }),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

/** The required settings of an entry, as references to the environment. */
function neededBy({ name, use, schema }: Plugin): readonly (readonly [string, string])[] {
  const path = `connector.providers.${name}`;
  const upper = (text: string): string =>
    text
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll(/[^A-Za-z0-9]+/g, '_')
      .toUpperCase();
  const needed = Object.entries(schema.properties).filter(
    ([key, each]) => key !== 'use' && !Type.IsOptional(each) && !Type.IsObject(each) && defaultOf(each) === undefined,
  );
  return [
    [`${path}.use`, flow(use)] as const,
    ...needed.map(([key]) => [`${path}.${key}`, env(`${upper(name)}_${upper(key)}`)] as const),
  ];
}

/** The place of a key; `off`: in a section that is a comment as a whole. */
interface Place {
  readonly path: string;
  readonly indent: string;
  readonly off: boolean;
  readonly providers: Readonly<Record<string, TObject>>;
  readonly uses: Readonly<Record<string, string>>;
}

/** A provider that is not built in: the name of its entry, its `use`, and its schema. */
export interface Plugin {
  readonly name: string;
  readonly use: string;
  readonly schema: TObject;
}

const inside = (place: Place, name: string): Place => ({
  ...place,
  path: place.path === '' ? name : `${place.path}.${name}`,
  indent: `${place.indent}  `,
});

function sectionLines(schema: TObject, place: Place): string[] {
  return Object.entries(schema.properties).flatMap(([name, property]) => [
    ...commentLines(property, place.indent),
    ...keyLines(property, name, place),
    ...(place.path === '' ? [''] : []),
  ]);
}

function keyLines(schema: TSchema, name: string, place: Place): string[] {
  const { indent, providers } = place;
  const under = inside(place, name);
  const example = EXAMPLES[under.path] ?? place.uses[under.path];
  if (example !== undefined) return [`${indent}${name}: ${example}`];
  if (under.path === 'connector.providers') return [`${indent}${name}:`, ...providerLines(providers, under)];
  const sign = place.off ? '' : '# ';
  const hint = HINTS[under.path] ?? HINTS[name];
  if (hint !== undefined || !Type.IsObject(schema))
    return [`${indent}${sign}${name}: ${hint ?? flow(defaultOf(schema))}`];
  const isInUse = Object.keys(EXAMPLES).some((each) => each.startsWith(`${under.path}.`));
  if (isInUse || place.off) return [`${indent}${name}:`, ...sectionLines(schema, under)];
  // One comment sign before every line: removing it gives the section.
  const lines = [`${name}:`, ...sectionLines(schema, { ...under, indent: '  ', off: true })];
  return lines.map((line) => `${indent}# ${line}`);
}

const providerLines = (providers: Place['providers'], place: Place): string[] =>
  Object.entries(providers).flatMap(([name, entry]) => [
    `${place.indent}${name}:`,
    ...sectionLines(entry, inside(place, name)),
  ]);

const flow = (value: unknown): string =>
  value === undefined ? '...' : stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

function commentLines(schema: TSchema, indent: string): string[] {
  const about: unknown = Object.getOwnPropertyDescriptor(schema, 'description')?.value;
  if (typeof about !== 'string') return [];
  const lines: string[] = [];
  for (const word of about.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || indent.length + last.length + word.length > WIDTH) lines.push(`${indent}# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
