/** The settings of a Salesforce connection; their descriptions are the documentation. */
import Type, { type Static } from 'typebox';

const clientId = Type.String({ minLength: 1, description: 'Consumer key of the External Client App.' });
const secret = (description: string) => Type.String({ minLength: 1, secret: true, description });

const ClientCredentials = Type.Object(
  {
    flow: Type.Literal('client-credentials'),
    clientId,
    clientSecret: secret('Consumer secret of the app; the app names the user it runs as.'),
  },
  {
    additionalProperties: false,
    description: 'Client credentials, the usual way: the address for signing in is the My Domain of the org.',
  },
);

const JwtBearer = Type.Object(
  {
    flow: Type.Literal('jwt-bearer'),
    clientId,
    username: Type.String({
      minLength: 1,
      description: 'User that the connection acts as; approve the user for the app.',
    }),
    privateKey: secret('RSA private key in PEM; upload its certificate to the app. `\\n` may stand for line ends.'),
    audience: Type.Optional(
      Type.String({ minLength: 1, description: 'Audience of the assertion (default: loginUrl).' }),
    ),
  },
  {
    additionalProperties: false,
    description: 'JWT bearer, with a certificate: no secret is sent, and none needs rotation.',
  },
);

const RefreshToken = Type.Object(
  {
    flow: Type.Literal('refresh-token'),
    clientId,
    clientSecret: Type.Optional(secret('Consumer secret, if the app requires one.')),
    refreshToken: secret(
      'Refresh token of this connection alone: with rotation, a second process using it revokes it for both.',
    ),
  },
  {
    additionalProperties: false,
    description: 'Refresh token that another program obtained; the store keeps a rotated token.',
  },
);

export const SalesforceSettings = Type.Object(
  {
    loginUrl: Type.String({
      pattern: '^https?://[^/]+(/.*[^/])?$',
      default: 'https://login.salesforce.com',
      prominent: true,
      description:
        'Address that issues tokens, without a slash at the end: the My Domain (https://NAME.my.salesforce.com), https://login.salesforce.com, or https://test.salesforce.com for sandboxes.',
    }),
    auth: Type.Union([ClientCredentials, JwtBearer, RefreshToken], {
      description:
        'How the connection signs in. In Salesforce, create an External Client App (Setup, External Client App Manager) with OAuth, the scope "Manage user data via APIs (api)" and the client credentials flow, and name the user it runs as.',
    }),
    organizationId: Type.Optional(
      Type.String({
        pattern: '^00D[0-9A-Za-z]{12}([0-9A-Za-z]{3})?$',
        description: 'Id of the org; cvrsync refuses a token for another org.',
        examples: ['00D000000000001AAA'],
      }),
    ),
    apiVersion: Type.String({ pattern: '^\\d{2,3}\\.0$', default: '67.0', description: 'REST API version.' }),
    rate: Type.Object(
      {
        calls: Type.Integer({ minimum: 1, default: 20, description: 'Calls in one window.' }),
        perSeconds: Type.Number({ exclusiveMinimum: 0, default: 1, description: 'Length of the window in seconds.' }),
      },
      {
        additionalProperties: false,
        default: { calls: 20, perSeconds: 1 },
        description: 'Pace of the calls. Salesforce publishes no limit per second, only one per day.',
      },
    ),
    concurrency: Type.Integer({ minimum: 1, maximum: 25, default: 5, description: 'Most calls at the same time.' }),
    dailyShare: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      default: 0.8,
      description:
        "The connection pauses when all software together has used this share of the org's calls in 24 hours.",
    }),
    object: Type.Literal('Account', { default: 'Account', description: 'The object that holds companies.' }),
    noteAs: Type.Union([Type.Literal('Task'), Type.Literal('ContentNote')], {
      default: 'Task',
      description:
        'Type of notes: a completed task on the account, or a ContentNote, for which the org must enable Notes.',
    }),
    allowDuplicates: Type.Boolean({
      default: true,
      description: 'Write even if a duplicate rule raises an alert; a rule that blocks still blocks.',
    }),
  },
  { additionalProperties: false },
);

export type SalesforceSettings = Static<typeof SalesforceSettings>;
