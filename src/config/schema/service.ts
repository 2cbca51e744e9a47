import Type from 'typebox';
import { register } from './register.ts';
import { baseUrl, CLOSED, seconds, text } from './shapes.ts';

const webhooks = Type.Object(
  {
    allowPrivateAddresses: Type.Boolean({
      default: false,
      description: 'Allow webhooks at loopback, link-local and private addresses.',
    }),
    allow: Type.Array(text('An address or a network, as 10.1.0.0/16.'), {
      default: [],
      description: 'Private networks that webhooks may use.',
    }),
    retrySeconds: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 604_800 }), {
        minItems: 1,
        maxItems: 50,
        description:
          'Seconds before each attempt, the first included, for monitors without a schedule of their own (default 0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400).',
      }),
    ),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 256,
      default: 16,
      description: 'Most posts to one webhook at the same time.',
    }),
  },
  { ...CLOSED, default: {}, description: 'Webhooks that the service sends.' },
);

const smtp = Type.Object(
  {
    url: Type.String({
      pattern: '^smtps?://',
      secret: 'url',
      description: 'Mail server: smtp://user:password@host:port.',
      examples: ['smtp://user:password@host:port'],
    }),
    from: text('Sender address of the mails.'),
    admin: Type.Optional(text('Address for mail about failing monitors without recipients of their own.')),
    digestHour: Type.Integer({
      minimum: 0,
      maximum: 23,
      default: 7,
      description: 'Hour of the day, in the configured time zone, at which daily mails leave.',
    }),
  },
  { ...CLOSED, description: 'Outgoing mail.' },
);

const news = Type.Object(
  {
    baseUrl: baseUrl('Public site that news items and mails link to', { default: 'https://datacvr.virk.dk' }),
    registryProvider: text('Provider name of news from the register.', { default: 'VIRK' }),
    pressProvider: text('Provider name of press releases.', { default: 'PressAgency' }),
    gazetteProvider: text('Provider name of bankruptcy notices.', { default: 'Gazette' }),
  },
  { ...CLOSED, default: {}, description: 'News items that the service makes from changes.' },
);

const reports = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Watch the filing index for annual reports.' }),
    indexUrl: baseUrl('Address of the filing index', { default: 'http://distribution.virk.dk/offentliggoerelser' }),
    documentHosts: Type.Array(text('A host name; it includes the sub-domains.'), {
      default: ['virk.dk'],
      description: 'Hosts from which cvrsync may fetch documents.',
    }),
    pollSeconds: seconds('Seconds between two requests for new filings.', 300),
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
    pollSeconds: seconds('Seconds between two requests for new notices.', 1_800),
  },
  { ...CLOSED, default: {}, description: 'Bankruptcy notices.' },
);

const company = (description: string) =>
  Type.String({
    pattern: '^[Cc][Vv][Rr]-1-\\d{8}$',
    description: `${description}, as CVR-1-12345678.`,
    examples: ['CVR-1-12345678'],
  });

const press = Type.Object(
  {
    feeds: Type.Array(
      Type.Object(
        {
          // Unlike a base URL it may end in a slash, as many do.
          url: Type.String({
            pattern: '^https?://[^/\\s]+(/\\S*)?$',
            description: 'Address of an RSS, Atom, RDF or JSON feed.',
            examples: ['https://example.com/news.rss'],
          }),
          entityId: Type.Optional(company('The company that all items are about')),
          publishers: Type.Record(Type.String(), company('Entity id of a company'), {
            default: {},
            description: 'Companies by the publisher id in item links or in the feed.',
          }),
        },
        CLOSED,
      ),
      { default: [], description: 'Feeds of press releases.' },
    ),
    pollSeconds: seconds('Seconds between two readings of the feeds.', 900),
  },
  { ...CLOSED, default: {}, description: 'Press releases.' },
);

/** The `service` part of the configuration. */
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
      description: 'Most calls per minute of an API key.',
    }),
    emailEvent: text("Name of the event for a company's e-mail address; the specification does not name it.", {
      default: 'email',
    }),
    placeType: text('Type name of a production unit in payloads; the specification does not show it.', {
      default: 'Place',
    }),
    recodingGuard: Type.Boolean({
      default: true,
      description:
        'Send no industry events while the register recodes many companies at once, such as from DB07 to DB25.',
    }),
    leaseSeconds: Type.Integer({
      minimum: 5,
      maximum: 3600,
      default: 30,
      description: 'Longest time in seconds until watching, delivery and mail resume after a crash.',
    }),
    secretKey: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9+/]{43}=$',
        secret: true,
        description:
          'Key that encrypts the secrets of monitors: 32 bytes in base64. By default cvrsync creates a key file next to a SQLite store; PostgreSQL needs this setting.',
      }),
    ),
  },
  { ...CLOSED, description: 'The service: it watches the register. Leave it out to run the connector alone.' },
);
