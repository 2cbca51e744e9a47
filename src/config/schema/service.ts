/** The `service` part of the configuration file. */
import Type from 'typebox';
import { baseUrl, CLOSED, secret, text } from './shapes.ts';

const seconds = (description: string, value: number) =>
  Type.Integer({ minimum: 1, maximum: 86_400, default: value, description });

const register = Type.Union(
  [
    Type.Object(
      {
        source: Type.Literal('file'),
        path: text('Folder of register documents, or an NDJSON file of them; relative to the working directory.'),
        pollSeconds: seconds('How often to poll for new documents.', 5),
      },
      CLOSED,
    ),
    Type.Object(
      {
        source: Type.Literal('cvr'),
        baseUrl: baseUrl(
          'Address of the register. The default is plain http, as the register offers it: user name, password and answers travel in the clear',
          { default: 'http://distribution.virk.dk' },
        ),
        username: text('User name at the register.'),
        password: secret('Password at the register.'),
        pollSeconds: seconds('How often to ask for what is new.', 30),
        pageSize: Type.Integer({ minimum: 1, maximum: 3_000, default: 500, description: 'Documents a page.' }),
        requestsPerSecond: Type.Number({ minimum: 0.1, maximum: 20, default: 2, description: 'Politeness.' }),
        since: Type.Optional(
          text('Where a first load begins: documents loaded by the register at or after this day or time. Else all.'),
        ),
      },
      CLOSED,
    ),
  ],
  {
    description: 'Where the register is read: { source: file, path } or { source: cvr, baseUrl, username, password }.',
  },
);

const webhooks = Type.Object(
  {
    allowPrivateAddresses: Type.Boolean({
      default: false,
      description: 'Also post to loopback, link-local and private addresses.',
    }),
    allow: Type.Array(text('An address or a network, as 10.1.0.0/16.'), {
      default: [],
      description: 'Networks that may be posted to although they are private.',
    }),
    retrySeconds: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 604_800 }), {
        minItems: 1,
        maxItems: 50,
        description:
          'Seconds before each attempt, the first included; for monitors without a schedule of their own. Else 0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400.',
      }),
    ),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 256,
      default: 16,
      description: 'Posts under way to one webhook at a time.',
    }),
  },
  { ...CLOSED, default: {}, description: 'Webhooks we send.' },
);

const smtp = Type.Object(
  {
    url: Type.String({
      pattern: '^smtps?://',
      secret: 'url',
      description: 'Mail server: smtp://user:password@host:port.',
    }),
    from: text('Sender of our mail.'),
    admin: Type.Optional(text('Address that gets mail about failing monitors that have no recipients of their own.')),
    digestHour: Type.Integer({
      minimum: 0,
      maximum: 23,
      default: 7,
      description: 'Hour in Copenhagen at which daily mails are sent.',
    }),
  },
  { ...CLOSED, description: 'Mail.' },
);

const news = Type.Object(
  {
    baseUrl: baseUrl('Public site that news items and mails link to', { default: 'https://datacvr.virk.dk' }),
    registryProvider: text('Provider name of news made from the register.', { default: 'VIRK' }),
    pressProvider: text('Provider name of press releases.', { default: 'PressAgency' }),
    gazetteProvider: text('Provider name of bankruptcy notices.', { default: 'Gazette' }),
  },
  { ...CLOSED, default: {}, description: 'News made from changes.' },
);

const reports = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Watch the filing index for annual reports.' }),
    indexUrl: baseUrl('Address of the filing index', { default: 'http://distribution.virk.dk/offentliggoerelser' }),
    documentHosts: Type.Array(text('A host name; its sub-domains count too.'), {
      default: ['virk.dk'],
      description: 'Hosts that documents may be fetched from.',
    }),
    pollSeconds: seconds('How often to ask for new filings.', 300),
    deprecatedReport: Type.Boolean({
      default: false,
      description: 'Also send the deprecated Report property in newReport.',
    }),
  },
  { ...CLOSED, default: {}, description: 'Annual reports.' },
);

const gazette = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Watch the gazette for bankruptcy notices.' }),
    baseUrl: baseUrl('Address of the gazette', { default: 'https://www.statstidende.dk' }),
    pollSeconds: seconds('How often to ask for new notices.', 1_800),
  },
  { ...CLOSED, default: {}, description: 'Bankruptcy notices.' },
);

const company = (description: string) =>
  Type.String({ pattern: '^[Cc][Vv][Rr]-1-\\d{8}$', description: `${description}, as CVR-1-12345678.` });

const press = Type.Object(
  {
    feeds: Type.Array(
      Type.Object(
        {
          // Unlike a base URL it may end in a slash, as many do.
          url: Type.String({ pattern: '^https?://[^/\\s]+(/\\S*)?$', description: 'Address of an RSS or Atom feed.' }),
          entityId: Type.Optional(company('The company all its items are about')),
          publishers: Type.Record(Type.String(), company('Entity id of a company'), {
            default: {},
            description: 'Publisher id in item links or feed, to company.',
          }),
        },
        CLOSED,
      ),
      { default: [], description: 'Feeds of press releases.' },
    ),
    pollSeconds: seconds('How often to read the feeds.', 900),
  },
  { ...CLOSED, default: {}, description: 'Press releases.' },
);

/** The half that watches the register and notifies monitors. */
export const service = Type.Object(
  {
    register,
    webhooks,
    smtp: Type.Optional(smtp),
    news,
    reports,
    gazette,
    press,
    requestsPerMinute: Type.Integer({
      minimum: 1,
      default: 500,
      description: 'Calls allowed for an API key in a minute.',
    }),
    emailEvent: text('Name of the company e-mail event; the specification does not show it.', { default: 'email' }),
    placeType: text('Type name of a production unit in payloads; the specification does not show it.', {
      default: 'Place',
    }),
    recodingGuard: Type.Boolean({
      default: true,
      description: 'No industry events where the register recodes many companies at once, as from DB07 to DB25.',
    }),
    leaseSeconds: Type.Integer({
      minimum: 5,
      maximum: 3600,
      default: 30,
      description: 'After a crash, watching, delivery and mail resume within this time.',
    }),
    secretKey: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9+/]{43}=$',
        secret: true,
        description:
          '32 bytes in base64 that seal the secrets of monitors. Where absent a key file is made beside a SQLite store; PostgreSQL needs it.',
      }),
    ),
  },
  { ...CLOSED, description: 'The half that watches the register; leave it out to run the connector alone.' },
);
