/** The endpoints of an emulated account: credentials, limits and scopes first, then the work. */
import type { EmulatorAnswer, EmulatorRequest } from '../../emulator.ts';
import { type HubspotAccount, refusal } from './account.ts';
import { batchRead, batchUpdate } from './batch.ts';
import type { Policy } from './limits.ts';
import { render } from './render.ts';
import { search } from './search.ts';

const VERSION = '(v3|\\d{4}-\\d{2})';
const COMPANIES = new RegExp(`^/crm/(?:v3/objects|objects/${VERSION.replace('v3|', '')})/(?:companies|0-2)(?:/(.*))?$`);
const PROPERTIES = new RegExp(
  `^/crm/(?:v3/properties|properties/${VERSION.replace('v3|', '')})/(?:companies|0-2)(?:/(.*))?$`,
);
const DETAILS = new RegExp(`^/account-info/${VERSION}/details$`);
const MAX_URL_CHARS = 8_000;
const MAX_PAGE = 100;

/** Answers one request. */
export function answerRequest(account: HubspotAccount, request: EmulatorRequest): EmulatorAnswer {
  const { pathname } = request.url;
  if (request.path.length > MAX_URL_CHARS) return { status: 414, body: '<html>414 Request-URI Too Large</html>' };
  if (account.token === undefined || request.headers.authorization !== `Bearer ${account.token}`) {
    return refusal(
      account,
      401,
      'INVALID_AUTHENTICATION',
      'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
    );
  }
  const verdict = account.limits.take(account.now(), pathname.endsWith('/search'));
  const answer = verdict.refused === undefined ? route(account, request, pathname) : tooMany(account, verdict.refused);
  return { ...answer, headers: { ...verdict.headers, ...answer.headers } };
}

function route(account: HubspotAccount, request: EmulatorRequest, pathname: string): EmulatorAnswer {
  if (request.method === 'GET' && DETAILS.test(pathname)) return details(account);
  const properties = PROPERTIES.exec(pathname);
  if (properties !== null && request.method === 'GET') {
    return withScope(account, ['crm.schemas.companies.read', 'crm.objects.companies.read'], () =>
      definitions(account, properties[2]),
    );
  }
  const companies = COMPANIES.exec(pathname);
  if (companies === null) return refusal(account, 404, 'NOT_FOUND', 'resource not found');
  const [, version = 'v3', rest = ''] = companies;
  const call = `${request.method} ${/^\d+$/.test(rest) ? '{id}' : rest}`;
  const read = ['crm.objects.companies.read'];
  const write = ['crm.objects.companies.write'];
  switch (call) {
    case 'GET ':
      return withScope(account, read, () => list(account, request.url));
    case 'GET {id}':
      return withScope(account, read, () => getOne(account, rest, request.url));
    case 'POST batch/read':
      return withScope(account, read, () => withBody(account, request, (body) => batchRead(account, body)));
    case 'POST search':
      return withScope(account, read, () =>
        withBody(account, request, (body) => search(account, body, request.body.length)),
      );
    case 'POST batch/update':
      return withScope(account, write, () => withBody(account, request, (body) => batchUpdate(account, body, version)));
    default:
      return refusal(account, 405, 'METHOD_NOT_ALLOWED', `the emulator does not have ${call}`);
  }
}

function details(account: HubspotAccount): EmulatorAnswer {
  const { portalId, timeZone } = account;
  const body = {
    portalId,
    accountType: 'STANDARD',
    timeZone,
    companyCurrency: 'DKK',
    additionalCurrencies: [],
    uiDomain: 'app.hubspot.com',
    dataHostingLocation: 'eu1',
  };
  return { status: 200, body };
}

function definitions(account: HubspotAccount, name: string | undefined): EmulatorAnswer {
  if (name === undefined) return { status: 200, body: { results: [...account.definitions.values()] } };
  const definition = account.definitions.get(decodeURIComponent(name));
  return definition === undefined
    ? refusal(account, 404, 'OBJECT_NOT_FOUND', 'Property does not exist')
    : { status: 200, body: definition };
}

/** A merged-away id answers with the survivor, under the survivor's id. */
function getOne(account: HubspotAccount, id: string, url: URL): EmulatorAnswer {
  const company = account.companies.follow(id);
  if (company === undefined) return refusal(account, 404, 'OBJECT_NOT_FOUND', 'resource not found');
  return { status: 200, body: render(company, asked(url)) };
}

function list(account: HubspotAccount, url: URL): EmulatorAnswer {
  const limit = Number(url.searchParams.get('limit') ?? 10);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    return refusal(account, 400, 'VALIDATION_ERROR', `limit must be between 1 and ${MAX_PAGE}`);
  const from = Number(url.searchParams.get('after') ?? 0);
  if (!Number.isInteger(from) || from < 0)
    return refusal(account, 400, 'VALIDATION_ERROR', 'the paging cursor is not valid');
  const { companies, next } = account.companies.page(from, limit);
  const properties = asked(url);
  const paging = next === undefined ? {} : { paging: { next: { after: String(next) } } };
  return { status: 200, body: { results: companies.map((company) => render(company, properties)), ...paging } };
}

const asked = (url: URL): string[] => url.searchParams.getAll('properties').flatMap((names) => names.split(','));

function withScope(account: HubspotAccount, anyOf: readonly string[], work: () => EmulatorAnswer): EmulatorAnswer {
  if (anyOf.some((scope) => account.scopes.has(scope))) return work();
  const missingScopes = anyOf.slice(0, 1);
  return refusal(
    account,
    403,
    'MISSING_SCOPES',
    "This app hasn't been granted all required scopes to make this call.",
    {
      errors: [{ message: 'One or more of the following scopes are required.', context: { missingScopes } }],
    },
  );
}

function withBody(
  account: HubspotAccount,
  request: EmulatorRequest,
  work: (body: Record<string, unknown>) => EmulatorAnswer,
): EmulatorAnswer {
  try {
    const json: unknown = JSON.parse(request.body);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return work({ ...json });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return refusal(account, 400, 'VALIDATION_ERROR', 'Invalid input JSON on line 1, column 1');
}

const MESSAGES: Readonly<Record<Policy, string>> = {
  DAILY: 'You have reached your daily limit.',
  SECONDLY: 'You have reached your secondly limit.',
  TEN_SECONDLY_ROLLING: 'You have reached your ten_secondly_rolling limit.',
};

/** The body HubSpot answers with when a limit is reached. */
export function tooMany(account: HubspotAccount, policyName: Policy): EmulatorAnswer {
  const correlationId = account.correlationId();
  return {
    status: 429,
    body: {
      status: 'error',
      message: MESSAGES[policyName],
      errorType: 'RATE_LIMIT',
      correlationId,
      policyName,
      requestId: correlationId,
    },
  };
}
