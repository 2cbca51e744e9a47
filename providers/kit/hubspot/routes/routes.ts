/** The endpoints of an emulated account: credentials, limits and scopes first, then the work. */
import type { EmulatorAnswer, EmulatorRequest } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal } from '../account/account.ts';
import { batchRead, batchUpdate } from '../account/batch.ts';
import { create, getOne, list } from '../account/companies.ts';
import type { LimitPolicy } from '../account/limits.ts';
import { tokenInfo } from '../account/people.ts';
import { search } from '../account/search.ts';
import { archiveLabels, listAssociations, putAssociation, readAssociations } from './associations.ts';
import { createNote, createNotes, readNotes } from './notes.ts';
import {
  archiveDefinition,
  createDefinition,
  createDefinitions,
  createGroup,
  readDefinitions,
  readGroups,
  readSchema,
  readValidations,
} from './schemas.ts';

const MAX_URL_CHARS = 8_000;

export function answerRequest(account: HubspotAccount, request: EmulatorRequest): EmulatorAnswer {
  const { pathname } = request.url;
  const date = new Date(account.now()).toUTCString();
  if (request.path.length > MAX_URL_CHARS) return { status: 414, body: '<html>414 Request-URI Too Large</html>' };
  if (account.token === undefined || request.headers.authorization !== `Bearer ${account.token}`) {
    return refusal(
      account,
      401,
      'INVALID_AUTHENTICATION',
      'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
    );
  }
  const taken = account.limits.take(account.now(), pathname.endsWith('/search'));
  const answer = taken.refused === undefined ? route(account, request, pathname) : tooMany(account, taken.refused);
  return { ...answer, headers: { date, ...taken.headers, ...answer.headers } };
}

const COMPANIES = ['crm.objects.companies.read', 'crm.objects.companies.write'] as const;
const CONTACTS = ['crm.objects.contacts.read', 'crm.objects.contacts.write'] as const;
const SCHEMAS = ['crm.schemas.companies.read', 'crm.schemas.companies.write'] as const;
const [READ, WRITE] = COMPANIES;
const [NOTES_READ, NOTES_WRITE] = CONTACTS;
const [SCHEMA_READ, SCHEMA_WRITE] = SCHEMAS;
const OWNERS_READ = 'crm.objects.owners.read';

/** The target of a request: `area` of the API, its version, and the rest of the path. */
interface Call {
  readonly line: string;
  readonly version: string;
  readonly ids: readonly string[];
}

/** `POST objects/companies/batch/read`, with `{id}` for numbers, wherever the path has the version. */
function callOf(method: string, pathname: string): Call | undefined {
  const path =
    /^\/crm\/(?<version>v3|v4)\/(?<rest>.*)$/.exec(pathname) ??
    /^\/crm\/(?<area>[a-z-]+)\/(?<version>\d{4}-\d{2})(?:\/(?<rest>.*))?$/.exec(pathname) ??
    /^\/(?<area>account-info|crm-object-schemas)\/(?<version>v3|\d{4}-\d{2})\/(?<rest>.*)$/.exec(pathname);
  if (path?.groups === undefined) return undefined;
  const { area, version = 'v3', rest = '' } = path.groups;
  const parts = [...(area === undefined ? [] : [area]), ...rest.split('/')].filter((part) => part !== '');
  const ids = parts.filter((part) => /^\d+$/.test(part));
  const names = parts.map((part) => (/^\d+$/.test(part) ? '{id}' : part === '0-2' ? 'companies' : part));
  // Version 4 has only associations, which are elsewhere in version 3.
  const isAssociations = names.includes('associations');
  if (isAssociations ? version === 'v3' : version === 'v4') return undefined;
  return { line: `${method} ${names.join('/')}`, version, ids };
}

function route(account: HubspotAccount, request: EmulatorRequest, pathname: string): EmulatorAnswer {
  if (pathname === '/oauth/v2/private-apps/get/access-token-info') return tokenInfo(account.portalId, account.scopes);
  const call = callOf(request.method, pathname);
  if (call === undefined) return refusal(account, 404, 'NOT_FOUND', 'resource not found');
  const { line, version, ids } = call;
  const { url } = request;
  const [id = '', to = ''] = ids;
  const allow = (scopes: readonly string[], work: () => EmulatorAnswer) => withScope(account, scopes, work);
  const withJson = (scopes: readonly string[], work: (body: Record<string, unknown>) => EmulatorAnswer) =>
    allow(scopes, () => withBody(account, request, work));
  switch (line) {
    case 'GET account-info/details':
      return details(account);
    case 'GET owners':
      return allow([OWNERS_READ], () => account.people.list());
    case 'GET objects/companies':
      return allow([READ], () => list(account, url));
    case 'POST objects/companies':
      return withJson([WRITE], (body) => create(account, body, version));
    case 'GET objects/companies/{id}':
      return allow([READ], () => getOne(account, id, url));
    case 'POST objects/companies/batch/read':
      return withJson([READ], (body) => batchRead(account, body));
    case 'POST objects/companies/batch/update':
      return withJson([WRITE], (body) => batchUpdate(account, body, version));
    case 'POST objects/companies/search':
      return withJson([READ], (body) => search(account, body, request.body.length));
    case 'POST objects/notes':
      return withJson([NOTES_WRITE], (body) => createNote(account, body));
    case 'POST objects/notes/batch/create':
      return withJson([NOTES_WRITE], (body) => createNotes(account, body));
    case 'POST objects/notes/batch/read':
      return withJson([NOTES_READ], (body) => readNotes(account, body));
    case 'GET objects/companies/{id}/associations/companies':
    case 'GET objects/companies/{id}/associations/notes':
      return allow([...COMPANIES, ...CONTACTS], () => listAssociations(account, id, line.split('/').at(-1) ?? '', url));
    case 'PUT objects/companies/{id}/associations/companies/{id}':
      return allow([WRITE], () => putAssociation(account, id, to, parse(request.body)));
    case 'POST associations/companies/companies/batch/read':
      return withJson([...COMPANIES, ...CONTACTS], (body) => readAssociations(account, body));
    case 'POST associations/companies/companies/batch/labels/archive':
      return withJson([WRITE], (body) => archiveLabels(account, body, version));
    case 'GET properties/companies/groups':
      return allow([SCHEMA_READ, READ], () => readGroups(account));
    case 'POST properties/companies/groups':
      return withJson([SCHEMA_WRITE], (body) => createGroup(account, body));
    case 'POST properties/companies/batch/create':
      return withJson([SCHEMA_WRITE], (body) => createDefinitions(account, body));
    case 'POST properties/companies':
      return withJson([SCHEMA_WRITE], (body) => createDefinition(account, body));
    case 'GET crm-object-schemas/schemas/companies':
      return allow([SCHEMA_READ], () => readSchema(account));
    case 'GET property-validations/companies':
      return allow([SCHEMA_READ], () => readValidations(account));
  }
  const property = /^(GET|DELETE) properties\/companies(?:\/([^/]+))?$/.exec(line);
  if (property !== null) return definition(account, property[1] === 'DELETE', property[2] ?? '');
  return /^\w+ objects\/companies/.test(line)
    ? refusal(account, 405, 'METHOD_NOT_ALLOWED', `the emulator does not have ${line}`)
    : refusal(account, 404, 'NOT_FOUND', 'resource not found');
}

/** Reads a property, or all of them; or archives one. */
const definition = (account: HubspotAccount, isArchived: boolean, name: string): EmulatorAnswer =>
  isArchived
    ? withScope(account, [SCHEMA_WRITE], () => archiveDefinition(account, decodeURIComponent(name)))
    : withScope(account, [SCHEMA_READ, READ], () => readDefinitions(account, name));

function details(account: HubspotAccount): EmulatorAnswer {
  const { portalId, timeZone } = account;
  const { currency = 'DKK', additionalCurrencies = [] } = account.options;
  const body = {
    portalId,
    accountType: 'STANDARD',
    timeZone,
    companyCurrency: currency,
    additionalCurrencies,
    uiDomain: 'app.hubspot.com',
    dataHostingLocation: 'eu1',
  };
  return { status: 200, body };
}

function withScope(account: HubspotAccount, anyOf: readonly string[], work: () => EmulatorAnswer): EmulatorAnswer {
  if (anyOf.some((scope) => account.scopes.has(scope))) return work();
  const missingScopes = anyOf.slice(0, 1);
  const message = "This app hasn't been granted all required scopes to make this call.";
  const { status, body } = refusal(account, 403, 'MISSING_SCOPES', message);
  const errors = [{ message: 'One or more of the following scopes are required.', context: { missingScopes } }];
  return { status, body: { ...body, errors } };
}

function withBody(
  account: HubspotAccount,
  request: EmulatorRequest,
  work: (body: Record<string, unknown>) => EmulatorAnswer,
): EmulatorAnswer {
  const json = parse(request.body);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return work({ ...json });
  return refusal(account, 400, 'VALIDATION_ERROR', 'Invalid input JSON on line 1, column 1');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MESSAGES: Readonly<Record<LimitPolicy, string>> = {
  DAILY: 'You have reached your daily limit.',
  SECONDLY: 'You have reached your secondly limit.',
  TEN_SECONDLY_ROLLING: 'You have reached your ten_secondly_rolling limit.',
};

/** HubSpot's body for a reached limit. */
function tooMany(account: HubspotAccount, policyName: LimitPolicy): EmulatorAnswer {
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
