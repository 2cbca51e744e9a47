/** Salesforce's unsuccessful answers: their codes, and the faults of the connection that they mean. */
import { type HttpResponse, type Observation, ProviderError } from '../../provider.ts';
import { retryAfterMs } from '../../retry-after.ts';
import { isAccountId, toLongId } from './ids.ts';
import { objectOf, objectsOf, textOf } from './json.ts';

/** One error; `code` is `errorCode` at the top of an answer, `statusCode` of one record, `error` of a token request. */
export interface ApiError {
  readonly code: string;
  /** In the user's language: show it, do not parse it. */
  readonly message: string;
  readonly fields: readonly string[];
  readonly duplicate?: FoundDuplicate;
}

/** An answer with a status of 400 or more. Holds no headers, and no body but Salesforce's own. */
export class SalesforceRefusal extends Error {
  override readonly name = 'SalesforceRefusal';
  readonly status: number;
  /** Empty if the body was not Salesforce's JSON. */
  readonly errors: readonly ApiError[];
  readonly retryAfterMs: number | undefined;

  /** `now` in ms: Retry-After may be a date. */
  constructor(response: HttpResponse, now: number) {
    const errors = readErrors(response.body);
    super(errors.length === 0 ? `Salesforce answered ${response.status}` : errors.map(say).join('; '));
    this.status = response.status;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs(response.headers['retry-after'], now);
  }
}

const MESSAGE_CHARS = 600;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** The daily allowance is a rolling one: some of it comes back within minutes. */
const DAILY_PAUSE_MS = 15 * MINUTE_MS;

/** Codes that mean "not now", with any status. */
const BUSY: ReadonlySet<string> = new Set([
  'SERVER_UNAVAILABLE',
  'QUERY_TIMEOUT',
  'REQUEST_RUNNING_TOO_LONG',
  'UNABLE_TO_LOCK_ROW',
  'UNKNOWN_EXCEPTION',
]);

/** Error codes that concern the whole connection. */
const CONNECTION: ReadonlySet<string> = new Set([
  'API_DISABLED_FOR_ORG',
  'API_CURRENTLY_DISABLED',
  'UNSUPPORTED_API_VERSION',
  'FUNCTIONALITY_NOT_ENABLED',
  'INVALID_TYPE',
]);

/** The errors in a body or in one record's result; anything else yields none. */
export function errorsOf(json: unknown): readonly ApiError[] {
  const list = Array.isArray(json) ? json : [json];
  return list.flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null) return [];
    const members: Record<string, unknown> = { ...item };
    const { statusCode, errorCode, error, message, error_description, fields } = members;
    const code = statusCode ?? errorCode ?? error;
    if (typeof code !== 'string') return [];
    const text = message ?? error_description;
    const names = Array.isArray(fields) ? fields.filter((name) => typeof name === 'string') : [];
    const found = duplicateIn(members);
    const duplicate = found === undefined ? {} : { duplicate: found };
    return [
      { code, message: typeof text === 'string' ? text.slice(0, MESSAGE_CHARS) : '', fields: names, ...duplicate },
    ];
  });
}

export const say = (error: ApiError): string =>
  error.message === '' ? error.code : `${error.message} (${error.code})`;

/** The statuses of firewalls and proxies that refuse to pass a call on. */
const FOREIGN: ReadonlySet<number> = new Set([403, 413]);

/** Whether something on the way to Salesforce refused the call: Salesforce states a code in each error. */
export const isForeign = ({ status, errors }: SalesforceRefusal): boolean => FOREIGN.has(status) && errors.length === 0;

export const notSalesforce = (status: number): string =>
  `a firewall or a proxy on the way to Salesforce refused the call (${status}): Salesforce did not answer it`;

/** Whether the refusal may concern a record of the call rather than the connection. */
export const isAboutRecords = ({ status, errors }: SalesforceRefusal): boolean =>
  (status === 400 || status === 404 || status === 413) &&
  errors.length > 0 &&
  errors.every(({ code }) => !BUSY.has(code) && !CONNECTION.has(code) && code !== 'REQUEST_LIMIT_EXCEEDED');

/** Whether the user may not do this, or the org lacks it: not a fault of the connection. */
export const isNotForUser = ({ status, errors }: SalesforceRefusal): boolean =>
  (status === 400 || status === 403 || status === 404) &&
  errors.length > 0 &&
  errors.every(({ code }) => !BUSY.has(code) && code !== 'REQUEST_LIMIT_EXCEEDED');

/** The fault of the connection that a refused answer means; pure. */
export function faultOf(answer: SalesforceRefusal): ProviderError {
  const { status, errors } = answer;
  const limit = errors.find(({ code }) => code === 'REQUEST_LIMIT_EXCEEDED');
  if (limit !== undefined) return limitFault(limit, answer);
  if (status === 429)
    return rate('Salesforce accepts no more calls for now', answer.retryAfterMs ?? 10 * SECOND_MS, answer);
  if (status === 401) return sessionFault(answer);
  if (isForeign(answer)) return refused(notSalesforce(status), answer);
  if (status === 414 || status === 431)
    return refused('Salesforce refused a request as too long; read fewer properties', answer);
  if (status >= 500 || status === 420 || errors.length === 0 || errors.some(({ code }) => BUSY.has(code))) {
    const wait = answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs };
    return new ProviderError('unavailable', `Salesforce cannot answer now (status ${status}${codes(errors)})`, {
      ...wait,
      cause: answer,
    });
  }
  return refused(`Salesforce refused the call: ${answer.message}${advice(answer)}`, answer);
}

/** The fault if Salesforce refuses a new session. */
export const sessionFault = (cause: unknown): ProviderError =>
  new ProviderError(
    'auth',
    `Salesforce refuses the session${cause instanceof SalesforceRefusal ? codes(cause.errors) : ''}; check that the user is active, may use the API and the app, and that its password and session policies allow API sessions`,
    { cause },
  );

/** The fault of a successful answer with unexpected content. */
export const unexpectedAnswer = (what: string): ProviderError =>
  new ProviderError('unavailable', `Salesforce answered ${what} with something else; it may be under maintenance`);

/** Pauses at a share of the org's rolling 24 h allowance, which all software shares; the number lags. */
export function observe(
  response: HttpResponse,
  { dailyShare }: { readonly dailyShare: number },
): Observation | undefined {
  const usage = /(?:^|[\s,;])api-usage=(\d+)\/(\d+)/.exec(response.headers['sforce-limit-info'] ?? '');
  const [used, allowed] = [Number(usage?.[1]), Number(usage?.[2])];
  if (!(allowed > 0) || used < allowed * dailyShare) return undefined;
  const reason = `the org has used ${used} of its ${allowed} API calls in 24 hours, over the share of ${Math.round(dailyShare * 100)} % (dailyShare)`;
  return { pauseMs: DAILY_PAUSE_MS, reason };
}

/** Only the text distinguishes the two limits; Salesforce does not translate it. */
function limitFault(limit: ApiError, answer: SalesforceRefusal): ProviderError {
  if (/TotalRequests/i.test(limit.message)) {
    return rate('The org has used up its API calls of 24 hours', answer.retryAfterMs ?? DAILY_PAUSE_MS, answer);
  }
  const wait = /Concurrent/i.test(limit.message) ? 5 * SECOND_MS : MINUTE_MS;
  return rate(`Salesforce accepts no more calls for now: ${limit.message}`, answer.retryAfterMs ?? wait, answer);
}

const rate = (message: string, retryAfterMs: number, cause: unknown): ProviderError =>
  new ProviderError('rate', message, { retryAfterMs, cause });

const refused = (message: string, cause: unknown): ProviderError => new ProviderError('refused', message, { cause });

function advice({ status, errors }: SalesforceRefusal): string {
  const has = (code: string) => errors.some((error) => error.code === code);
  if (has('API_DISABLED_FOR_ORG') || has('API_CURRENTLY_DISABLED'))
    return '; this edition or user has no API access: ask an administrator for the permission API Enabled';
  if (has('UNSUPPORTED_API_VERSION') || status === 410) return '; set apiVersion to a version the org supports';
  if (has('INVALID_TYPE')) return '; the user needs access to Account';
  if (has('INVALID_FIELD')) return '; run check to see which mapped property is missing or hidden from the user';
  return '';
}

const codes = (errors: readonly ApiError[]): string =>
  errors.length === 0 ? '' : `: ${errors.map(({ code }) => code).join(', ')}`;

function readErrors(body: string): readonly ApiError[] {
  try {
    return errorsOf(JSON.parse(body));
  } catch {
    return [];
  }
}

/** The rule, and the ids of the records that it takes for the same company. */
interface FoundDuplicate {
  readonly rule: string | undefined;
  readonly ids: readonly string[];
}

/** Reads the members of an error; real bodies spell `duplicateResut`. Undefined if no duplicate rule raised it. */
function duplicateIn(error: Readonly<Record<string, unknown>>): FoundDuplicate | undefined {
  const result = objectOf(error.duplicateResut ?? error.duplicateResult);
  if (result === undefined) return undefined;
  const ids = objectsOf(result.matchResults).flatMap(({ matchRecords }) =>
    objectsOf(matchRecords).flatMap(({ record }) => {
      const id = textOf(objectOf(record)?.Id);
      return id !== undefined && isAccountId(id) ? [toLongId(id)] : [];
    }),
  );
  return { rule: textOf(result.duplicateRule), ids };
}
