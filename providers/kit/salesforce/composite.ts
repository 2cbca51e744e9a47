/**
 * `/composite` of an emulated org: a series of calls, each of which may refer to what an earlier one created; all or
 * none, or each on its own.
 */

import { toLongId } from '../../salesforce/client/ids.ts';
import { objectOf, objectsOf, textOf } from '../../salesforce/client/json.ts';
import type { EmulatorAnswer, EmulatorRequest } from '../emulator/emulator.ts';
import type { Org } from './org/org.ts';
import { refusal } from './org/refusal.ts';
import type { StoredRow } from './org/tables.ts';
import { retrieveMany, updateMany } from './records.ts';

const MAX_CALLS = 25;
const MAX_COLLECTIONS = 5;
const OBJECTS_UNDONE = ['Task', 'ContentNote', 'ContentDocumentLink'];
/** Headers that a call inside inherits from the call around it. */
const INHERITED = ['accept', 'authorization', 'content-type'];

interface Subrequest {
  readonly method: string;
  /** The path below the API version. */
  readonly path: string;
  readonly referenceId: string;
  readonly headers: EmulatorRequest['headers'];
  readonly body: unknown;
}

type Create = (object: string, body: unknown, headers: EmulatorRequest['headers']) => EmulatorAnswer;

/** Answers a composite call; `create` creates one record of an object. */
export function answerComposite(org: Org, json: unknown, create: Create): EmulatorAnswer {
  const { compositeRequest, allOrNone = false, collateSubrequests = true } = objectOf(json) ?? {};
  const requests = Array.isArray(compositeRequest) ? compositeRequest.map(readSubrequest) : [];
  const fault = faultIn(requests);
  if (fault !== undefined) return refusal(400, 'INVALID_INPUT', fault);
  const known = requests.filter((request) => request !== undefined);
  const before = new Map(OBJECTS_UNDONE.map((object) => [object, new Set(org.tables.rows(object))]));
  org.arrived(known.flatMap(updatedIds));
  const answers = quietly(org, () => answerAll(org, inTurn(known, collateSubrequests === true), create));
  const failed = allOrNone === true && [...answers.values()].some(({ status }) => status >= 400);
  if (failed) undo(org, before);
  const responses = known.map(({ referenceId }) => responseOf(referenceId, answers.get(referenceId) ?? HALTED, failed));
  return { status: 200, body: { compositeResponse: responses } };
}

function readSubrequest(json: unknown): Subrequest | undefined {
  const { method, url, referenceId, body, httpHeaders } = objectOf(json) ?? {};
  const path = /^\/services\/data\/v\d+\.0\/(.+)$/.exec(textOf(url) ?? '')?.[1];
  const reference = /^\w+$/.exec(textOf(referenceId) ?? '')?.[0];
  if (typeof method !== 'string' || path === undefined || reference === undefined) return undefined;
  const headers = Object.fromEntries(
    Object.entries(objectOf(httpHeaders) ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  return { method, path, referenceId: reference, headers, body };
}

function faultIn(requests: readonly (Subrequest | undefined)[]): string | undefined {
  if (requests.length === 0 || requests.length > MAX_CALLS) return `a composite call takes 1 to ${MAX_CALLS} calls`;
  if (requests.filter((request) => request?.path.startsWith('composite/') === true).length > MAX_COLLECTIONS)
    return `a composite call takes up to ${MAX_COLLECTIONS} collections`;
  const names = requests.map((request) => request?.referenceId);
  if (new Set(names).size < names.length) return 'two calls have one reference id';
  const wrong = requests.find((request) => INHERITED.some((name) => request?.headers[name] !== undefined));
  return wrong === undefined
    ? undefined
    : 'a call inside takes Accept, Authorization and Content-Type from the outside';
}

/** Unless collation is off, calls of one method run together, in no promised order. */
const inTurn = (requests: readonly Subrequest[], collated: boolean): readonly Subrequest[] =>
  collated ? [...Map.groupBy(requests, ({ method }) => method).values()].flat() : requests;

function answerAll(org: Org, requests: readonly Subrequest[], create: Create): ReadonlyMap<string, EmulatorAnswer> {
  const made = new Map<string, string>();
  const answers = new Map<string, EmulatorAnswer>();
  for (const request of requests) {
    const answer = answerOne(org, request, made, create);
    const { id } = objectOf(answer.body) ?? {};
    answers.set(request.referenceId, answer);
    if (typeof id === 'string') made.set(request.referenceId, id);
  }
  return answers;
}

function answerOne(
  org: Org,
  { method, path, headers, body }: Subrequest,
  made: ReadonlyMap<string, string>,
  create: Create,
): EmulatorAnswer {
  const object = /^sobjects\/(\w+)$/.exec(path)?.[1];
  if (method === 'POST' && object !== undefined) return create(object, resolve(body, made), headers);
  if (method === 'POST' && path === RETRIEVE) return retrieveMany(org, body);
  if (method === 'PATCH' && path === UPDATE) return updateMany(org, body, headers);
  return refusal(404, 'NOT_FOUND', 'The requested resource does not exist');
}

const RETRIEVE = 'composite/sobjects/Account';
const UPDATE = 'composite/sobjects';

const updatedIds = ({ method, path, body }: Subrequest): readonly string[] =>
  method === 'PATCH' && path === UPDATE
    ? objectsOf(objectOf(body)?.records).map(({ id, Id }) => toLongId(textOf(id ?? Id) ?? ''))
    : [];

/** Runs the inner calls without hooks, because people do not act between them: `onArrival` edits before the first. */
function quietly<T>(org: Org, work: () => T): T {
  const { read, arrived } = org;
  Object.assign(org, { read: () => {}, arrived: () => {} });
  try {
    return work();
  } finally {
    Object.assign(org, { read, arrived });
  }
}

/** A request that did not fail itself counts as halted. */
function responseOf(referenceId: string, answer: EmulatorAnswer, failed: boolean) {
  const shown = failed && answer.status < 400 ? HALTED : answer;
  return { body: shown.body, httpHeaders: {}, httpStatusCode: shown.status, referenceId };
}

const resolve = (body: unknown, made: ReadonlyMap<string, string>): object =>
  Object.fromEntries(
    Object.entries(objectOf(body) ?? {}).map(([name, value]) => {
      const reference = /^@\{(\w+)\.id\}$/.exec(String(value))?.[1];
      return [name, reference === undefined ? value : (made.get(reference) ?? value)];
    }),
  );

function undo(org: Org, before: ReadonlyMap<string, ReadonlySet<StoredRow>>): void {
  for (const [object, kept] of before) org.tables.remove(org.tables.rows(object).filter((row) => !kept.has(row)));
}

const HALTED = refusal(
  400,
  'PROCESSING_HALTED',
  'The transaction was rolled back since another operation in the same transaction failed.',
);
