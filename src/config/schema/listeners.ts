/** Where the daemon listens, and who may use the dashboard: the parts `server` and `admin` of the configuration. */
import Type from 'typebox';
import { baseUrl, CLOSED, secret, text } from './shapes.ts';

export const server = Type.Object(
  {
    host: text('Address to listen on; 0.0.0.0 for all.', { default: '127.0.0.1' }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65535,
      default: 8080,
      description: 'Port to listen on; 0 picks a free one.',
    }),
    publicUrl: Type.Optional(baseUrl('How the world reaches this server, where it differs')),
  },
  { ...CLOSED, description: 'Where we listen.', moved: { adminToken: 'admin.token' } },
);

const roleValues = (role: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: `Values of roleClaim that make ${role}.` }),
  );

const oidc = Type.Object(
  {
    issuer: Type.String({
      pattern: '^https?://\\S+$',
      description: 'Address of the issuer, as its own configuration names it.',
    }),
    clientId: text('Name under which cvrsync is registered there.'),
    clientSecret: secret('Secret of that registration.'),
    scope: text('Scopes that are asked for.', { default: 'openid profile email' }),
    roleClaim: text('Claim that says what a person may do: a text, or a list of them.', { default: 'roles' }),
    roles: Type.Object(
      { viewer: roleValues('a viewer'), operator: roleValues('an operator'), admin: roleValues('an admin') },
      { ...CLOSED, description: 'Which value gives which role; the highest counts, and without one nobody gets in.' },
    ),
  },
  { ...CLOSED, description: 'Single sign-on by OpenID Connect: operators sign in where your organisation does.' },
);

export const admin = Type.Object(
  {
    host: text('Address to listen on.', { default: '127.0.0.1' }),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        description:
          'Port to listen on, 8081 where absent; 0 picks a free one, as does an absent one where server.port is 0.',
      }),
    ),
    publicUrl: Type.Optional(baseUrl('How browsers reach the dashboard; single sign-on needs it')),
    oidc: Type.Optional(oidc),
    viewersSeePersons: Type.Boolean({
      default: false,
      description: 'Show viewers the names of persons and mail addresses on the dashboard, which are masked otherwise.',
    }),
    token: Type.Optional(
      Type.String({
        pattern: '^[!-~]{16,}$',
        secret: true,
        description:
          'Token that programs send, 16 characters or more without blanks. Where absent: made at the first start, in a file beside a SQLite store; for PostgreSQL derived from service.secretKey.',
      }),
    ),
    openMetrics: Type.Boolean({
      default: false,
      description:
        'Answer /metrics and /openapi.json without a token, to everybody who reaches the admin listener. Otherwise they need the admin token, or an operator who is signed in.',
    }),
    exposed: Type.Boolean({
      default: false,
      description:
        'Says that host is meant to be another address than loopback, and that only those who may administer reach it: in a container, or behind a firewall.',
    }),
  },
  {
    ...CLOSED,
    default: {},
    description:
      'The admin listener: the dashboard, /admin/api, /metrics and /openapi.json, apart from the public port.',
  },
);
