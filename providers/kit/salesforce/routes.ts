/**
 * The endpoints of an emulated org: tokens first, then session and limits, then the work. Node's own server answers 431
 * to an address and headers of more than 16,384 bytes together.
 */
import type { EmulatorAnswer, EmulatorRequest } from '../emulator/emulator.ts';
import { answerComposite } from './composite.ts';
import { createContentLink, createContentNote, createTask } from './org/activities.ts';
import { describeObject } from './org/describe.ts';
import { createCustomField, createPermission, deleteCustomField } from './org/metadata.ts';
import type { Org } from './org/org.ts';
import { refusal } from './org/refusal.ts';
import { answerLocator, answerQuery } from './query.ts';
import { createAccount, retrieveMany, retrieveOne, updateMany, updateOne } from './records.ts';

const OLDEST_VERSION = 31;
const NEWEST_VERSION = 68;
const DATA = /^((?:\/moved-\d+)?)\/services\/data\/v(\d+)\.0\/(.*)$/;

/** Answers one request; `loginUrl` is the emulator's address. */
export function answerRequest(org: Org, request: EmulatorRequest, loginUrl: string): EmulatorAnswer {
  const { method, url } = request;
  if (method === 'POST' && url.pathname === '/services/oauth2/token') {
    return org.tokens.request(new URLSearchParams(request.body), loginUrl);
  }
  const [, prefix = '', version, path] = DATA.exec(url.pathname) ?? [];
  if (version === undefined || path === undefined) return NOT_FOUND;
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!org.tokens.accepts(token, prefix)) return refusal(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
  const now = org.now();
  const answer = org.limits.take(now) ?? versioned(org, request, Number(version), path);
  const headers = { date: new Date(now).toUTCString(), ...org.limits.headers(now) };
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

function versioned(org: Org, request: EmulatorRequest, version: number, path: string): EmulatorAnswer {
  if (version < OLDEST_VERSION)
    return refusal(410, 'UNSUPPORTED_API_VERSION', 'The API version you specified is retired.');
  if (version > NEWEST_VERSION) return NOT_FOUND;
  return route(org, request, path);
}

/** Paths with a name, by the term of the routes. */
const PLACES = [
  ['{describe}', /^sobjects\/(\w+)\/describe$/],
  ['{id}', /^sobjects\/Account\/(001[0-9A-Za-z]+)$/],
  ['{field}', /^tooling\/sobjects\/CustomField\/(00N[0-9A-Za-z]+)$/],
  ['{locator}', /^query(?:All)?\/(.+)$/],
  ['{object}', /^sobjects\/(\w+)$/],
] as const;

/** The place of a path, and the name in it. */
function placeOf(path: string): { readonly place: string; readonly name: string } {
  for (const [place, pattern] of PLACES) {
    const name = pattern.exec(path)?.[1];
    if (name !== undefined) return { place, name };
  }
  return { place: path, name: '' };
}

function route(org: Org, request: EmulatorRequest, path: string): EmulatorAnswer {
  const { url, headers } = request;
  const { place, name } = placeOf(path);
  const soql = url.searchParams.get('q') ?? '';
  switch (`${request.method} ${place}`) {
    case 'GET {describe}':
      return describeObject(org, name) ?? NOT_FOUND;
    case 'POST composite/sobjects/Account':
      return withJson(request, (json) => retrieveMany(org, json));
    case 'PATCH composite/sobjects':
      return withJson(request, (json) => updateMany(org, json, headers));
    case 'GET {id}':
      return retrieveOne(org, name, url.searchParams.get('fields'));
    case 'PATCH {id}':
      return withJson(request, (json) => updateOne(org, name, json, headers));
    case 'GET query':
      return answerQuery(org, soql);
    case 'GET queryAll':
      return answerQuery(org, soql, { all: true });
    case 'GET tooling/query':
      return answerQuery(org, soql, { tooling: true });
    case 'POST tooling/sobjects/CustomField':
      return withJson(request, (json) => createCustomField(org, json));
    case 'DELETE {field}':
      return deleteCustomField(org, name);
    case 'POST composite':
      return withJson(request, (json) =>
        // A call inside inherits only Accept, Authorization and Content-Type from the call around it.
        answerComposite(org, json, (object, body, own) => create(org, object, body, own)),
      );
    case 'POST {object}':
      return withJson(request, (json) => create(org, name, json, headers));
    case 'GET {locator}':
      return answerLocator(org, name);
    default:
      return NOT_FOUND;
  }
}

function create(org: Org, object: string, json: unknown, headers: EmulatorRequest['headers']): EmulatorAnswer {
  switch (object) {
    case 'Account':
      return createAccount(org, json, headers);
    case 'Task':
      return createTask(org, json);
    case 'ContentNote':
      return createContentNote(org, json);
    case 'ContentDocumentLink':
      return createContentLink(org, json);
    case 'PermissionSet':
    case 'PermissionSetAssignment':
    case 'FieldPermissions':
      return createPermission(org, object, json);
    default:
      return NOT_FOUND;
  }
}

function withJson(request: EmulatorRequest, work: (json: unknown) => EmulatorAnswer): EmulatorAnswer {
  let json: unknown;
  try {
    json = JSON.parse(request.body);
  } catch {
    return refusal(400, 'JSON_PARSER_ERROR', 'Unexpected character at [line:1, column:1]');
  }
  return work(json);
}

const NOT_FOUND = refusal(404, 'NOT_FOUND', 'The requested resource does not exist');
