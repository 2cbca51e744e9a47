/** The `server` and `admin` parts of the configuration: the listeners, and who may use the dashboard. */
import Type from 'typebox';
import { baseUrl, CLOSED, secret, text } from './shapes.ts';

const trustProxy = Type.Array(
  Type.String({
    pattern: '^[0-9A-Fa-f.:]+(/\\d{1,3})?$',
    description: 'An address or a network, as 10.1.0.0/16.',
    examples: ['10.1.0.0/16'],
  }),
  {
    default: [],
    description:
      'Proxies in front of this listener. Only from these does cvrsync believe X-Forwarded-For, which names the client that limits count, and X-Forwarded-Proto.',
  },
);

export const server = Type.Object(
  {
    host: text('Address to listen on; 0.0.0.0 for all.', { default: '127.0.0.1' }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65535,
      default: 8080,
      description: 'Port to listen on; 0 picks a free port.',
    }),
    publicUrl: Type.Optional(baseUrl('Public address of this server, if it differs from host and port')),
    trustProxy,
  },
  { ...CLOSED, description: 'The public listener: webhooks and the API.' },
);

const roleValues = (role: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: `Values of roleClaim that make ${role}.` }),
  );

const oidc = Type.Object(
  {
    issuer: Type.String({
      pattern: '^https?://\\S+$',
      description: "Address of the issuer, exactly as the issuer's own configuration states it.",
      examples: ['https://login.example.com'],
    }),
    clientId: text('Client id of cvrsync at the issuer.'),
    clientSecret: secret('Client secret of cvrsync at the issuer.'),
    scope: text('Scopes to request.', { default: 'openid profile email' }),
    roleClaim: text('Claim that holds the roles of a person: a text or a list of texts.', { default: 'roles' }),
    roles: Type.Object(
      { viewer: roleValues('a viewer'), operator: roleValues('an operator'), admin: roleValues('an admin') },
      {
        ...CLOSED,
        description: 'Values of the claim for each role. The highest role counts; a person without one cannot sign in.',
      },
    ),
  },
  {
    ...CLOSED,
    description: "Single sign-on with OpenID Connect: operators sign in with your organisation's accounts.",
  },
);

export const admin = Type.Object(
  {
    host: text('Address to listen on.', { default: '127.0.0.1' }),
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        description:
          'Port to listen on (default 8081); 0 picks a free port, and so does an absent port if server.port is 0.',
      }),
    ),
    publicUrl: Type.Optional(baseUrl('Address of the dashboard in a browser; single sign-on needs it')),
    trustProxy,
    oidc: Type.Optional(oidc),
    viewersSeePersons: Type.Boolean({
      default: false,
      description: 'Show viewers the names of persons and mail addresses on the dashboard; the default masks them.',
    }),
    token: Type.Optional(
      Type.String({
        pattern: '^[!-~]{16,}$',
        secret: true,
        description:
          'Token that programs send, at least 16 characters without blanks. By default the first start creates it: in a file next to a SQLite store, or for PostgreSQL from service.secretKey.',
      }),
    ),
    openMetrics: Type.Boolean({
      default: false,
      description:
        'Answer /metrics and /openapi.json without a token, for everybody who reaches the admin listener. By default they need the admin token or a signed-in operator.',
    }),
    exposed: Type.Boolean({
      default: false,
      description:
        'Confirms that host is not a loopback address on purpose, and that only administrators reach it: in a container, or behind a firewall.',
    }),
  },
  {
    ...CLOSED,
    default: {},
    description: 'The admin listener, on a port of its own: the dashboard, /admin/api, /metrics and /openapi.json.',
  },
);
