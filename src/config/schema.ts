/** The configuration file as TypeBox: its descriptions are the documentation, its defaults are applied. */

import Type, { type Static } from 'typebox';
import { FIELD_NAMES, FIELDS } from '../../providers/fields.ts';
import { authSchema } from '../protocol/auth.ts';
import { EVENTS } from '../protocol/events.ts';
import { ROLES } from './roles.ts';
import { alerts } from './schema/alerts.ts';
import { beneficialOwners } from './schema/beneficial-owners.ts';
import { admin, server } from './schema/listeners.ts';
import { retention } from './schema/retention.ts';
import { service } from './schema/service.ts';
import { baseUrl, CLOSED, secret, text } from './schema/shapes.ts';
import { telemetry } from './schema/telemetry.ts';

const property = (description: string) =>
  Type.Object({ property: text('Name of a CRM property.') }, { ...CLOSED, description });

const matchText = (what: string) =>
  Type.Optional(text(`CRM property with the ${what}, where it is not the mapped one.`));

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
      'Where the CRM keeps the CVR number; and by which properties records without one are matched, where the mapping does not say it.',
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
    join: Type.Optional(Type.String({ description: 'What stands between the members of a list; ", " where absent.' })),
  },
  CLOSED,
);
const targetText = text('Name of a CRM property.');
const fieldRule = (about: string) =>
  Type.Optional(
    Type.Union(
      [targetText, target, Type.Literal(false), Type.Array(Type.Union([targetText, target]), { minItems: 1 })],
      {
        description: `Where this goes: ${about}.`,
      },
    ),
  );
/** Where one company field is written: a property, a property with a policy, several, or `false`. */
export type FieldRule = Static<ReturnType<typeof fieldRule>>;

const valueMap = (about: string) =>
  Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
      description: `What the CRM takes for each value of this: ${about}.`,
    }),
  );

/** What every provider takes, beside its own settings. */
export const connectionSchema = Type.Object(
  {
    use: text('Built in (hubspot, salesforce, http), an npm package, or a path that begins with . or /.'),
    match: Type.Optional(match),
    policy: Type.Optional(
      policy(
        `Policy of every field that has none of its own; properties made for this product stay always. ${POLICIES}`,
      ),
    ),
    fields: Type.Object(Object.fromEntries(FIELD_NAMES.map((name) => [name, fieldRule(FIELDS[name].about)])), {
      ...CLOSED,
      default: {},
      description:
        "Company field to CRM property: a name, { property, policy }, a list of these, or false. The preset is used where a field is not named; naming one replaces all of its preset's properties.",
    }),
    values: Type.Object(Object.fromEntries(FIELD_NAMES.map((name) => [name, valueMap(FIELDS[name].about)])), {
      ...CLOSED,
      default: {},
      description:
        'Field to the values the CRM takes, for enumerations; a key that ends in * stands for all that begin so.',
    }),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description:
          "The currency of the CRM's amounts, DKK: amounts in it are written without a property that names their currency.",
      }),
    ),
    notes: Type.Array(Type.Enum(Object.keys(EVENTS)), {
      default: [],
      description: 'Events that also leave a note on the record.',
    }),
    hold: Type.Optional(
      property('A record where this property is set is left alone; a date in it is the last day of that.'),
    ),
    autoLink: Type.Boolean({
      default: false,
      description: 'Link records by their CVR number as they appear; needs match.',
    }),
    autoMatch: Type.Optional(
      Type.Literal('suggest', {
        description:
          'Suggest a company in review for records without a CVR number as they appear or change; needs match and a company index.',
      }),
    ),
    persons: Type.Boolean({
      default: false,
      description: 'Write the names of owners, board members, managers and other persons: into properties and notes.',
    }),
    parent: Type.Boolean({
      default: false,
      description: 'Make the company that owns more than half of another one its parent, where both are linked.',
    }),
    batch: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Records in one write at most, where triggers or flows in the CRM fail for larger calls; what it allows where absent.',
      }),
    ),
    pollMinutes: Type.Number({
      minimum: 0,
      default: 10,
      description: 'How often to ask the CRM for deleted, merged, new and edited records; 0 for never.',
    }),
    reconcileHours: Type.Number({
      minimum: 0,
      default: 24,
      description: "How often to compare the service's list, the links and the CRM, and repair; 0 for never.",
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
            'How the monitoring service proves itself: { method: Header, key, value }, { method: BasicAuth, key, value }, { method: Signature, secret } or { method: None }. A list of two accepts either, to rotate a secret.',
        }),
      },
      { ...CLOSED, description: 'Where events arrive.' },
    ),
    upstream: Type.Optional(
      Type.Object(
        {
          baseUrl: baseUrl('Address of the monitoring service'),
          accessKey: secret('Its access key.'),
          requestsPerMinute: Type.Integer({
            minimum: 1,
            default: 500,
            description: 'Calls allowed for the key in a minute.',
          }),
        },
        {
          ...CLOSED,
          description:
            'The monitoring service, to add, remove and list companies; without it links are kept here only.',
        },
      ),
    ),
    providers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' }), Type.Object({}), {
      minProperties: 1,
      description: "The CRMs. Each key is the {Provider} name in the service's paths.",
    }),
    emailEvent: text('Name of the company e-mail event; the specification does not show it.', { default: 'email' }),
    limits: Type.Object(
      {
        backlogCap: Type.Integer({
          minimum: 1,
          default: 100_000,
          description: 'Accepted and not yet applied events; above it, webhooks are answered 503.',
        }),
        leaseSeconds: Type.Integer({
          minimum: 5,
          maximum: 3600,
          default: 30,
          description: 'After a crash, work resumes within this time.',
        }),
      },
      { ...CLOSED, description: 'Limits of the daemon.' },
    ),
  },
  { ...CLOSED, description: 'The half that brings changes into the CRMs.' },
);

/** The whole file. The entries of `connector.providers` are checked by {@link connectionSchema} and their provider's settings. */
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
      description: 'Connections of the daemon to a PostgreSQL store, at most; SQLite has none.',
    }),
    roles: Type.Array(Type.Union([Type.Literal('ingest'), Type.Literal('sync'), Type.Literal('service')]), {
      minItems: 1,
      default: [...ROLES],
      description:
        'What this daemon does, where several share a PostgreSQL store. ingest: take webhooks; sync: the rest of the connector; service: the monitoring service.',
    }),
    connector: Type.Optional(connector),
    service: Type.Optional(service),
    alerts: Type.Optional(alerts),
    retention,
    beneficialOwners: Type.Optional(beneficialOwners),
    telemetry: Type.Optional(telemetry),
  },
  CLOSED,
);
