/**
 * A record of processing activities (Article 30 of the GDPR), as far as the configuration knows; the controller fills
 * in the rest. It contains no secret. Pure.
 */
import { fieldsOf } from '../../../providers/composed.ts';
import { FIELDS } from '../../../providers/fields.ts';
import type { Config, ConfiguredProvider } from '../../config/load.ts';

const TO_FILL_IN = '_to fill in_';

/** The record as Markdown; `day` is the day of its creation, YYYY-MM-DD. */
export function processingRecord(config: Config, day: string): string {
  return [
    '# Record of processing activities: company data in the CRM',
    '',
    `Made by cvrsync from its configuration on ${day}. Fill in what it cannot know, and check what it says.`,
    ...section('1. Who answers for it', [
      `Controller, with address: ${TO_FILL_IN}`,
      `Contact, and data protection officer where there is one: ${TO_FILL_IN}`,
      `Processors, with their agreements (hosting of cvrsync and of its store, the CRMs below): ${TO_FILL_IN}`,
    ]),
    ...section('2. Purposes', purposesOf(config)),
    ...section('3. Legal basis', legalBasesOf(config)),
    ...section('4. Whose data', subjectsOf(config)),
    ...section('5. Which data', dataOf(config)),
    ...section('6. Who receives it', recipientsOf(config)),
    ...section('7. Transfers to other countries', [
      `For each receiver outside of the EU and the EEA: the country, and what allows it: ${TO_FILL_IN}`,
    ]),
    ...section('8. How long it is kept', keptFor(config)),
    ...section('9. How it is protected', safeguardsOf(config)),
    '',
  ].join('\n');
}

const section = (title: string, lines: readonly string[]): readonly string[] => [
  '',
  `## ${title}`,
  '',
  ...lines.map((line) => `- ${line}`),
];

const connections = ({ connector }: Config): readonly ConfiguredProvider[] => connector?.providers ?? [];

const purposesOf = (config: Config): readonly string[] => [
  ...(config.connector ? ['Records of companies in the CRM say what the Danish business register (CVR) says.'] : []),
  ...(connections(config).some(({ autoMatch }) => autoMatch !== undefined)
    ? ['The company of a record without a CVR number is proposed to a person, who decides.']
    : []),
  ...(config.service ? ['Those who asked for changes of companies get them, by webhook and mail.'] : []),
  `What the data is used for beyond that (sales, credit, customer due diligence): ${TO_FILL_IN}`,
];

const legalBasesOf = ({ beneficialOwners }: Config): readonly string[] => [
  `Sole proprietors and persons named with companies: ${TO_FILL_IN} (often Article 6(1)(f), with its weighing of interests)`,
  beneficialOwners === undefined
    ? 'Beneficial owners: not processed.'
    : `Beneficial owners: ${oneLine(beneficialOwners.legalBasis)}`,
];

const subjectsOf = (config: Config): readonly string[] => [
  'Sole proprietors: the whole record of such a company is about a natural person.',
  ...(config.service
    ? ['Owners, board members, managers, auditors and founders, as the register names them with a company.']
    : []),
  ...connections(config)
    .filter(({ persons }) => persons)
    .map(({ name }) => `Persons named with companies are written into ${name}.`),
  ...(config.service?.smtp ? ['Receivers of mails: their mail addresses.'] : []),
  'Operators of the dashboard: names, sessions, what they did.',
];

const dataOf = (config: Config): readonly string[] => [
  ...connections(config).map(({ name, mapping }) => {
    const written = fieldsOf(mapping.filter(({ policy }) => policy !== 'never'));
    const about = [...new Set(written)].map((field) => FIELDS[field].about);
    return `Written into ${name}: ${about.join(', ')}.`;
  }),
  'Kept by cvrsync: the table in docs/data-protection.md names each kind.',
];

const recipientsOf = (config: Config): readonly string[] => {
  const { connector, service, alerts, admin, telemetry } = config;
  return [
    ...connections(config).map(({ name, provider }) => `The CRM ${name} (${provider.name}): mapped fields.`),
    ...hostLine(connector?.upstream?.baseUrl, 'which companies are followed'),
    ...hostLine(service?.smtp?.url, 'mails to those who asked for them'),
    ...(service
      ? ['Monitors, as `cvrsync monitors list` and `cvrsync jobs list` name them: the changes they ask for.']
      : []),
    ...hostLine(alerts?.webhook, 'alerts, with ids of records and companies'),
    ...hostLine(admin.oidc?.issuer, 'signs operators in'),
    ...hostLine(telemetry?.endpoint, 'traces with entity ids, metrics'),
  ];
};

/** The host alone: paths and credentials may be secret. */
function hostLine(url: string | undefined, what: string): readonly string[] {
  return url === undefined || !URL.canParse(url) ? [] : [`${new URL(url).hostname}: ${what}.`];
}

const keptFor = ({ retention }: Config): readonly string[] => [
  ...Object.entries(retention).map(([kind, days]) => `${kind}: ${days} days`),
  ...(retention.news === undefined ? ['news: for good, as long as retention.news is not set'] : []),
  'What is kept while a record is linked or the register has the company: the table in docs/data-protection.md.',
  `In the CRMs: ${TO_FILL_IN}`,
];

const safeguardsOf = (config: Config): readonly string[] => [
  `The store is ${config.store.startsWith('postgres') ? 'a PostgreSQL database' : 'an SQLite file that only its owner reads'}; its disk and its backups: ${TO_FILL_IN}`,
  config.admin.oidc === undefined
    ? 'Operators sign in by links that `cvrsync operators create` prints.'
    : 'Operators sign in by single sign-on.',
  `An audit keeps who did what by hand, for ${config.retention.audit} days.`,
  'Requests for access: `cvrsync export`. Erasure: `cvrsync erase`.',
];

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
