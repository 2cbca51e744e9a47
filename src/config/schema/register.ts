import Type, { type Static } from 'typebox';
import type { ConfigProblem } from './fill.ts';
import { baseUrl, CLOSED, seconds, secret, text } from './shapes.ts';

const requestRate = (whose: string, value: number) =>
  Type.Number({
    minimum: 0.1,
    maximum: 20,
    default: value,
    description: `Most requests per second to ${whose}.`,
  });

const file = Type.Object(
  {
    source: Type.Literal('file'),
    path: text('Folder of register documents, or an NDJSON file of them; relative to the working directory.'),
    pollSeconds: seconds('How often to poll for new documents.', 5),
  },
  CLOSED,
);

const cvr = Type.Object(
  {
    source: Type.Literal('cvr'),
    baseUrl: baseUrl(
      'Address of the register. The default is plain http, as the register offers it: user name, password and answers travel in the clear',
      { default: 'http://distribution.virk.dk' },
    ),
    username: text('User name at the register.'),
    password: secret('Password at the register.'),
    pollSeconds: seconds('How often to ask for what is new.', 30),
    pageSize: Type.Integer({ minimum: 1, maximum: 3_000, default: 500, description: 'Documents per page.' }),
    requestsPerSecond: requestRate('the register', 2),
    since: Type.Optional(
      text(
        'Start of the first load: only documents that the register loaded on or after this day or time (default: all).',
      ),
    ),
  },
  CLOSED,
);

const oauth = Type.Object(
  {
    clientId: text('Client id of the IT system at Datafordeler.'),
    clientSecret: Type.Optional(secret('Its shared secret.')),
    certificate: Type.Optional(
      secret('Instead of the secret: PEM of its certificate; certificate_FILE names a file with it.'),
    ),
    certificateKey: Type.Optional(
      secret('PEM of the key of the certificate; certificateKey_FILE names a file with it.'),
    ),
  },
  { ...CLOSED, description: 'Access by OAuth instead of an API key, with a shared secret or a certificate.' },
);

const datafordeler = Type.Object(
  {
    source: Type.Literal('datafordeler'),
    apiKey: Type.Optional(secret('API key of an IT system at Datafordeler; cvrsync sends it in addresses, over TLS.')),
    apiKeyEnds: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        examples: ['2028-11-30'],
        description: 'The last day of the key, secret or certificate, as 2028-11-30: cvrsync warns 30 days before.',
      }),
    ),
    oauth: Type.Optional(oauth),
    graphqlUrl: baseUrl('Address of the GraphQL service', { default: 'https://graphql.datafordeler.dk' }),
    tokenUrl: Type.Optional(
      baseUrl('Address that gives tokens (default: that of Datafordeler for a secret or a certificate)'),
    ),
    files: Type.Optional(
      text(
        'Folder for the weekly files, about 8 GB during the first load. With it cvrsync loads all companies from these files first; without it only those that somebody lists, and those of new events.',
      ),
    ),
    filesUrl: baseUrl('Address of the weekly files', { default: 'https://api.datafordeler.dk/FileDownloads' }),
    pollSeconds: seconds('How often to ask for new events.', 60),
    requestsPerSecond: requestRate('Datafordeler', 5),
  },
  CLOSED,
);

const sources = [file, cvr, datafordeler] as const;

export const register = Type.Union(
  [
    ...sources,
    Type.Array(Type.Union([...sources]), {
      minItems: 1,
      maxItems: 2,
      description: 'Several sources: the first leads where both cover a fact, and differences are only counted.',
    }),
  ],
  {
    description:
      'The source of the register: { source: file, path }, { source: cvr, baseUrl, username, password } or { source: datafordeler, apiKey }; or a list of sources.',
  },
);

/** Reports a source that is named twice, and credentials of Datafordeler that are missing or given twice. */
export function reportRegister(
  { service }: { readonly service?: { readonly register: Static<typeof register> } | undefined },
  errors: ConfigProblem[],
): void {
  const given = service?.register;
  if (Array.isArray(given))
    for (const [place, each] of given.entries()) {
      // The name of a source identifies its position in the register.
      if (given.findIndex(({ source }) => source === each.source) < place)
        errors.push({ path: `service.register.${place}.source`, message: 'stands there twice: name each source once' });
      errors.push(...problemsOf(each, `service.register.${place}`));
    }
  else if (given !== undefined) errors.push(...problemsOf(given, 'service.register'));
}

function problemsOf(given: Static<(typeof sources)[number]>, path: string): readonly ConfigProblem[] {
  if (given.source !== 'datafordeler') return [];
  const { apiKey, oauth: client } = given;
  if (client === undefined)
    return apiKey === undefined ? [{ path: `${path}.apiKey`, message: 'is missing: give the key, or oauth' }] : [];
  if (apiKey !== undefined) return [{ path: `${path}.oauth`, message: 'stands beside apiKey: give one of them' }];
  const { clientSecret, certificate, certificateKey } = client;
  if ((certificate === undefined) !== (certificateKey === undefined))
    return [{ path: `${path}.oauth.certificate`, message: 'needs certificateKey, and the other way round' }];
  return (clientSecret === undefined) === (certificate === undefined)
    ? [{ path: `${path}.oauth`, message: 'needs clientSecret, or certificate and certificateKey' }]
    : [];
}
