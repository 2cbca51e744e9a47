/** Monitors as the admin API and `--json` show them, and the settings that a caller may send. */
import Type, { type Static } from 'typebox';
import { type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { maskedAddress } from '../../service/monitors/webhook-address.ts';
import { isoTime, nullable, timeText } from '../../service/routes/schemas.ts';

const CLOSED = { additionalProperties: false } as const;

// The protocol's own schema marks secrets for the configuration, which an API document cannot contain.
const secret = (description: string) => Type.String({ minLength: 1, maxLength: 4_096, writeOnly: true, description });
const credentials = Type.Union(
  [
    Type.Object({ method: Type.Literal('None') }, CLOSED),
    Type.Object(
      {
        method: Type.Literal('Header'),
        key: Type.String({ maxLength: 256, description: 'Header name' }),
        value: secret('Header value, printable ASCII'),
      },
      CLOSED,
    ),
    Type.Object(
      {
        method: Type.Literal('BasicAuth'),
        key: Type.String({ maxLength: 256, description: 'User name' }),
        value: secret('Password'),
      },
      CLOSED,
    ),
    Type.Object({ method: Type.Literal('Bearer'), token: secret('Token of an Authorization header') }, CLOSED),
  ],
  { description: 'What the webhook requires besides the signature; no answer shows it' },
);

export const settings = {
  events: Type.Optional(
    nullable(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 200,
        description: 'Names of the events it sends; null for all',
      }),
    ),
  ),
  url: Type.Optional(
    nullable(
      Type.String({
        maxLength: 2_048,
        pattern: '^[^\\u0000-\\u0020\\u007f]*$',
        description: 'The address of its webhook; null for none',
        examples: ['https://example.com/webhook'],
      }),
    ),
  ),
  credentials: Type.Optional(credentials),
  schedule: Type.Optional(
    nullable(
      Type.Array(Type.Integer({ minimum: 0 }), {
        maxItems: 50,
        description: 'Seconds before each attempt, the first included; null for the configured ones',
      }),
    ),
  ),
  postsPerMinute: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: 60_000,
        description: 'Posts to its webhook in a minute, at most; null for no limit',
      }),
    ),
  ),
  emails: Type.Optional(
    Type.Array(Type.String({ maxLength: 254 }), { maxItems: 100, description: 'The recipients of its mails' }),
  ),
  mailFrequency: Type.Optional(
    Type.Enum(['immediate', 'daily'], {
      description: 'immediate: a mail soon after a change, with those that came meanwhile; daily: one mail a day',
    }),
  ),
};

export const enabled = Type.Optional(
  Type.Boolean({
    default: true,
    description: 'False creates it inactive: the service keeps nothing for it until it is enabled',
  }),
);

export const target = Type.Enum(['all', 'items'], {
  description: 'all: every company; items: the companies and persons in its list',
});

const credentialsView = Type.Object({
  method: Type.String(),
  key: Type.Optional(Type.String({ description: 'Header or user name' })),
});

export const monitorView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    owner: nullable(Type.String({ description: 'Id of the API key it belongs to' })),
    provider: nullable(Type.String({ description: 'The provider of a third-party job' })),
    target,
    events: nullable(Type.Array(Type.String())),
    url: nullable(
      Type.String({
        description:
          'The host of its webhook, with `/•••` for a path and a query, which may hold a secret. Sent back, it changes nothing',
      }),
    ),
    credentials: credentialsView,
    signingSecrets: Type.Array(Type.Object({ expiresAt: nullable(timeText('When the service stops using it')) }), {
      description: 'One entry per signing secret, newest first, without the secret',
    }),
    schedule: nullable(Type.Array(Type.Integer())),
    postsPerMinute: nullable(Type.Integer()),
    emails: Type.Array(Type.String()),
    mailFrequency: Type.String(),
    enabled: Type.Boolean(),
    enabledAt: nullable(timeText('When it was first enabled')),
    disabledReason: nullable(Type.Enum(['person', 'failing', 'gone'])),
    disabledAt: nullable(timeText('When it was disabled')),
    failingSince: nullable(timeText('Since when no delivery has succeeded')),
    failedAttempts: Type.Integer(),
    createdAt: timeText('When it was created'),
  },
  { description: 'The monitor' },
);

/** A monitor with its signing secret, which no other answer shows. */
export const withSecret = Type.Object(
  {
    ...monitorView.properties,
    signingSecret: Type.String({ description: 'Signs every post, per Standard Webhooks. Only this answer shows it' }),
  },
  { description: 'The monitor, and its signing secret' },
);

export const createdMonitorView = Type.Object(
  { ...monitorView.properties, signingSecret: Type.Optional(withSecret.properties.signingSecret) },
  { description: 'The monitor, and its signing secret if it has a webhook' },
);

/** A monitor without its secrets, with its address masked; its events by their names on the wire. */
export const viewOf = (monitor: Monitor, wire: WireOptions = {}): Static<typeof monitorView> => {
  const { security, enabledAt, disabledAt, failingSince, createdAt, notices: _, ...plain } = monitor;
  const { credentials, secrets } = security;
  return {
    ...plain,
    url: plain.url === null ? null : maskedAddress(plain.url),
    events: plain.events?.map((event) => wireNameOf(event, wire)) ?? null,
    schedule: plain.schedule && [...plain.schedule],
    emails: [...plain.emails],
    credentials: { method: credentials.method, ...('key' in credentials && { key: credentials.key }) },
    signingSecrets: secrets.map(({ expiresAt }) => ({ expiresAt: isoTime(expiresAt) })),
    enabledAt: isoTime(enabledAt),
    disabledAt: isoTime(disabledAt),
    failingSince: isoTime(failingSince),
    createdAt: new Date(createdAt).toISOString(),
  };
};

export const viewWithSecret = (monitor: Monitor, wire: WireOptions = {}): Static<typeof withSecret> => ({
  ...viewOf(monitor, wire),
  signingSecret: monitor.security.secrets[0]?.secret ?? '',
});

/** A new monitor, with its signing secret if it has a webhook. */
export const viewOfCreated = (monitor: Monitor, wire: WireOptions = {}): Static<typeof createdMonitorView> =>
  monitor.url === null ? viewOf(monitor, wire) : viewWithSecret(monitor, wire);
