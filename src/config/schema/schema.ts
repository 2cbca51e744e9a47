/** The configuration file as TypeBox: its descriptions are the documentation, its defaults apply. */
import Type, { type Static } from 'typebox';
import { FIELD_NAMES, FIELDS } from '../../../providers/fields.ts';
import { authSchema } from '../../protocol/auth.ts';
import { EVENTS } from '../../protocol/events.ts';
import { DANISH_ZONE } from '../../protocol/text/zone-clock.ts';
import { alerts } from './alerts.ts';
import { backup } from './backup.ts';
import { admin, server } from './listeners.ts';
import { LOG_LEVELS } from './log-level.ts';
import { ROLES } from './roles.ts';
import { service } from './service.ts';
import { baseUrl, CLOSED, secret, text } from './shapes.ts';

/** The names that a connection may have. */
export const CONNECTION_NAME = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

const property = (description: string) =>
  Type.Object({ property: text('Name of a CRM property.') }, { ...CLOSED, description });

const matchText = (what: string) => Type.Optional(text(`CRM property with the ${what}, if it is not the mapped one.`));

const match = Type.Object(
  {
    property: text('Name of a CRM property.'),
    name: matchText('name'),
    street: matchText('street and house number'),
    postalCode: matchText('postal code'),
    city: matchText('city'),
    country: matchText('country'),
    phone: matchText('phone number'),
    website: matchText('website'),
    email: matchText('e-mail address'),
  },
  {
    ...CLOSED,
    description:
      'The property that holds the CVR number, and the properties that match records without a number, if the mapping does not name them.',
  },
);

const POLICIES =
  'tracked: write unless a person changed the property; always: write; if-blank: only fill in what is blank; never: only show.';
const policy = (description: string) =>
  Type.Union([Type.Literal('tracked'), Type.Literal('always'), Type.Literal('if-blank'), Type.Literal('never')], {
    description,
  });

const target = Type.Object(
  {
    property: text('Name of a CRM property.'),
    policy: Type.Optional(policy('Policy of this property.')),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Of composed: fields in braces and words, "{street}, {city}".',
      }),
    ),
    case: Type.Optional(
      Type.Union([Type.Literal('upper'), Type.Literal('lower')], {
        description: 'Writes texts in capitals, or in small letters.',
      }),
    ),
    join: Type.Optional(Type.String({ description: 'Separator between the members of a list (default ", ").' })),
  },
  CLOSED,
);
const targetText = text('Name of a CRM property.');
const fieldRule = (about: string) =>
  Type.Optional(
    Type.Union(
      [targetText, target, Type.Literal(false), Type.Array(Type.Union([targetText, target]), { minItems: 1 })],
      {
        description: `Target of this field: ${about}.`,
      },
    ),
  );
/** The target of one company field: a property, a property with a policy, several, or `false`. */
export type FieldRule = Static<ReturnType<typeof fieldRule>>;

const valueMap = (about: string) =>
  Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
      description: `The CRM's value for each value of this field: ${about}.`,
    }),
  );

/** The keys of every connection; each provider adds its own settings. */
export const connectionSchema = Type.Object(
  {
    use: text('Built in (hubspot, salesforce, http), an npm package, or a path that begins with . or /.'),
    match: Type.Optional(match),
    policy: Type.Optional(
      policy(
        `Policy of the fields that have none of their own; the cvr_ properties of the preset stay always. ${POLICIES}`,
      ),
    ),
    fields: Type.Object(Object.fromEntries(FIELD_NAMES.map((name) => [name, fieldRule(FIELDS[name].about)])), {
      ...CLOSED,
      default: {},
      description:
        'Company field to CRM property: a name, { property, policy }, a list of these, or false. A field that you do not name uses the preset; a field that you name goes only to the properties that you give it.',
    }),
    values: Type.Object(Object.fromEntries(FIELD_NAMES.map((name) => [name, valueMap(FIELDS[name].about)])), {
      ...CLOSED,
      default: {},
      description:
        'Values of the register to values of the CRM, for each field; a key that ends in * stands for all values that begin with it.',
    }),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description:
          "The currency of the CRM's amounts, such as DKK. cvrsync writes amounts in this currency even if no property names their currency.",
        examples: ['DKK'],
      }),
    ),
    notes: Type.Array(Type.Enum(Object.keys(EVENTS)), {
      default: [],
      description: 'Events that also leave a note on the record.',
    }),
    hold: Type.Optional(
      property('cvrsync leaves a record alone while this property is set; a date in it is the last day of the hold.'),
    ),
    only: Type.Optional(
      Type.Record(
        text('Name of a CRM property.'),
        Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })]),
        {
          minProperties: 1,
          description:
            'Which records cvrsync writes to: those that hold one of these values in each of these properties. The others are left alone as if on hold.',
        },
      ),
    ),
    autoLink: Type.Boolean({
      default: false,
      description: 'Link new records by their CVR number; needs match.',
    }),
    autoMatch: Type.Optional(
      Type.Literal('suggest', {
        description:
          'Suggest a company in review for each new or changed record without a CVR number; needs match and a company index.',
      }),
    ),
    persons: Type.Boolean({
      default: false,
      description: 'Write the names of owners, board members, managers and other persons into properties and notes.',
    }),
    parent: Type.Boolean({
      default: false,
      description: 'Make a company the parent of another one that it owns more than half of, if both are linked.',
    }),
    batch: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Most records in one write, if triggers or flows in the CRM fail for larger calls (default: what the CRM allows).',
      }),
    ),
    pollMinutes: Type.Number({
      minimum: 0,
      default: 10,
      description: 'Minutes between two polls of the CRM for deleted, merged, new and edited records; 0 turns it off.',
    }),
    reconcileHours: Type.Number({
      minimum: 0,
      default: 24,
      description:
        "Hours between two comparisons and repairs of the service's list, the links and the CRM; 0 turns it off.",
    }),
  },
  CLOSED,
);

const connector = Type.Object(
  {
    webhook: Type.Object(
      {
        path: Type.String({
          pattern: '^/[A-Za-z0-9/_.~-]*$',
          default: '/webhook',
          description: 'Path of the webhook.',
        }),
        auth: Type.Union([...authSchema.anyOf, Type.Array(authSchema, { minItems: 1, maxItems: 2 })], {
          description:
            'How the monitoring service authenticates: { method: Header, key, value }, { method: BasicAuth, key, value }, { method: Signature, secret } or { method: None }. A list of two accepts both, so that you can rotate a secret.',
        }),
      },
      { ...CLOSED, description: 'The webhook that receives events.' },
    ),
    upstream: Type.Optional(
      Type.Object(
        {
          baseUrl: baseUrl('Address of the monitoring service'),
          accessKey: secret('Its access key.'),
          requestsPerMinute: Type.Integer({
            minimum: 1,
            default: 500,
            description: 'Calls per minute that the key allows.',
          }),
        },
        {
          ...CLOSED,
          description:
            'The monitoring service, in which cvrsync adds, removes and lists companies. Without it, cvrsync only stores the links.',
        },
      ),
    ),
    providers: Type.Record(Type.String({ pattern: CONNECTION_NAME }), Type.Object({}), {
      minProperties: 1,
      description: 'The CRMs. Each key is the {Provider} in the paths of the service.',
    }),
    emailEvent: text("Name of the event for a company's e-mail address; the specification does not name it.", {
      default: 'email',
    }),
    limits: Type.Object(
      {
        backlogCap: Type.Integer({
          minimum: 1,
          default: 100_000,
          description: 'Most accepted events that wait to be applied; above it, webhooks get 503.',
        }),
        leaseSeconds: Type.Integer({
          minimum: 5,
          maximum: 3600,
          default: 30,
          description: 'Longest time in seconds until work resumes after a crash.',
        }),
      },
      { ...CLOSED, description: 'Limits of the daemon.' },
    ),
  },
  { ...CLOSED, description: 'The connector: it writes changes into the CRMs.' },
);

const beneficialOwners = Type.Object(
  {
    legalBasis: Type.String({
      minLength: 20,
      description:
        'Your legal basis, in words: an obliged entity in customer due diligence, or a legitimate interest that the register approved.',
    }),
  },
  {
    ...CLOSED,
    description:
      'Beneficial owners are not public since September 2025: without a legal basis cvrsync does not read, keep, send or write anything about them.',
  },
);

const days = (what: string, preset: number) =>
  Type.Integer({ minimum: 1, maximum: 36_500, default: preset, description: `Days to keep ${what}.` });

const retention = Type.Object(
  {
    bodies: days('bodies of applied webhooks', 30),
    receipts: days('applied webhooks and recognise repeated ones,', 90),
    decisions: days('decisions, notes, and facts without a linked record', 400),
    runs: days('plans and results of runs that people started on the dashboard', 90),
    audit: days('entries of the audit', 400),
    changes: days('published changes', 30),
    mails: days('mails that were sent or abandoned', 30),
    deliveries: days('ended deliveries, and attempts,', 90),
    news: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        description: 'Days to keep news items (default: for good).',
      }),
    ),
  },
  { ...CLOSED, default: {}, description: 'How long to keep each kind of data.' },
);

const telemetry = Type.Object(
  {
    endpoint: baseUrl('Address of a receiver that speaks OTLP over HTTP; /v1/traces and /v1/metrics are added'),
    headers: Type.Record(Type.String(), secret('Value of the header.'), {
      default: {},
      description: 'Headers of each request to the endpoint, such as a key.',
    }),
    sampleRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.1,
      description: "Share of cvrsync's own traces to send; a trace with a caller follows the caller.",
    }),
    metricsSeconds: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 60,
      description: 'Seconds between two sends of the metrics; 0 turns it off.',
    }),
  },
  { ...CLOSED, description: 'Traces and metrics for OpenTelemetry; off by default.' },
);

const timeZone = text(
  'Time zone of the times in the dashboard and in mails, by its name in the IANA database. The register counts its days in Copenhagen, whatever this says.',
  { default: DANISH_ZONE, examples: [DANISH_ZONE] },
);

/** The whole file. {@link connectionSchema} and the provider's settings check each connection. */
export const configSchema = Type.Object(
  {
    server,
    admin,
    store: text(
      'A path: SQLite, relative to the working directory. postgres://...: PostgreSQL, any number of replicas.',
      { default: 'data/cvrsync.db', secret: 'url' },
    ),
    storeConnections: Type.Integer({
      minimum: 2,
      maximum: 1000,
      default: 10,
      description:
        'Most connections of the daemon to a PostgreSQL store, in addition to the one that shows that it is alive; SQLite ignores it.',
    }),
    roles: Type.Array(Type.Union([Type.Literal('ingest'), Type.Literal('sync'), Type.Literal('service')]), {
      minItems: 1,
      default: [...ROLES],
      description:
        'The tasks of this daemon, if several daemons share a PostgreSQL store. `ingest` receives webhooks, `sync` is the rest of the connector, `service` is the monitoring service.',
    }),
    connector: Type.Optional(connector),
    service: Type.Optional(service),
    alerts: Type.Optional(alerts),
    backup: Type.Optional(backup),
    retention,
    beneficialOwners: Type.Optional(beneficialOwners),
    telemetry: Type.Optional(telemetry),
    timeZone,
    logLevel: Type.Optional(
      Type.Union(
        LOG_LEVELS.map((level) => Type.Literal(level)),
        { description: 'Level of the log of every command, if --log-level does not say another one (default info).' },
      ),
    ),
  },
  CLOSED,
);
