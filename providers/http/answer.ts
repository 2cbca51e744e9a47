/** What an answer of the API means for the connection or for one company. Pure. */
import { type Created, type HttpResponse, type Outcome, type PropertyValue, ProviderError } from '../provider.ts';
import { retryAfterMs } from '../retry-after.ts';

export interface Answer {
  readonly status: number;
  /** The body if it is JSON. */
  readonly json: unknown;
}

const SECOND_MS = 1_000;
const REASON_CHARS = 300;
const GONE: readonly number[] = [404, 410];
/** The API refuses this company; any other 4xx concerns the connection. */
const REFUSED: readonly number[] = [400, 409, 422];

/** Returns an answer about one company, throws one about the connection. `what` names the setting called. */
export function readAnswer({ status, headers, body }: HttpResponse, what: string, now: number): Answer {
  const wait = retryAfterMs(headers['retry-after'], now);
  const waiting = wait === undefined ? {} : { retryAfterMs: wait };
  const isPage = /^text\/html/i.test(headers['content-type'] ?? '');
  if (status === 401) throw new ProviderError('auth', `${what} was answered 401: put a valid value in authValue`);
  if (status === 429)
    throw new ProviderError('rate', `${what} was answered 429: too many calls`, {
      retryAfterMs: wait ?? 10 * SECOND_MS,
    });
  if (status >= 500 || status === 408)
    throw new ProviderError('unavailable', `${what} was answered ${status}`, waiting);
  if (isPage && status < 300)
    throw new ProviderError('unavailable', `${what} was answered with a web page: it may be under maintenance`);
  const isAboutCompany = status < 300 || GONE.includes(status) || REFUSED.includes(status);
  // A wrong address returns an HTML page with 404, which does not prove that every company is gone.
  if (!isAboutCompany || isPage)
    throw new ProviderError('refused', `${what} was answered ${status}: check the address, method and authHeader`);
  return { status, json: parsed(body) };
}

export const isGone = ({ status }: Answer): boolean => GONE.includes(status);

export function decideUpdate(
  id: string,
  sent: readonly string[],
  answer: Answer,
  stored: Readonly<Record<string, PropertyValue>>,
): Outcome {
  if (isGone(answer)) return { kind: 'gone', id };
  if (answer.status < 300) return { kind: 'written', id, stored: Object.keys(stored).length > 0 ? stored : undefined };
  return { kind: 'rejected', id, reason: reasonOf(answer), properties: blamed(answer, sent) };
}

/** The company's id comes from the answer, else from the message sent. */
export function decideExport(idKey: string, sent: Readonly<Record<string, unknown>>, answer: Answer): Created {
  const answeredId = idIn(answer.json, idKey);
  if (answer.status === 409) return { kind: 'duplicate', reason: reasonOf(answer), id: answeredId };
  if (answer.status >= 300)
    return { kind: 'rejected', reason: reasonOf(answer), properties: blamed(answer, Object.keys(sent)) };
  const id = answeredId ?? idIn(sent, idKey);
  if (id !== undefined) return { kind: 'created', id };
  throw new ProviderError(
    'refused',
    `exportUrl took the company and returned no id: answer with one, or set idKey to cvr`,
  );
}

export function idIn(json: unknown, idKey: string): string | undefined {
  const id = isObject(json) ? json[idKey] : undefined;
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads `errors`, an object of reasons by name or a list of objects that name the property; keeps sent names. */
function blamed({ json }: Answer, sent: readonly string[]): Record<string, string> {
  const errors = isObject(json) ? json['errors'] : undefined;
  const pairs: (readonly [unknown, unknown])[] = isObject(errors)
    ? Object.entries(errors)
    : (Array.isArray(errors) ? errors : []).filter(isObject).map((error) => {
        return [error['property'] ?? error['field'] ?? error['path'], error['message'] ?? error['reason']];
      });
  const named = pairs.flatMap(([name, reason]): (readonly [string, string])[] =>
    typeof name === 'string' && sent.includes(name) ? [[name, short(reason) || 'refused']] : [],
  );
  return Object.fromEntries(named);
}

function reasonOf({ status, json }: Answer): string {
  const body = isObject(json) ? json : {};
  return short(body['message'] ?? body['errorMessage'] ?? body['error']) || `the API answered ${status}`;
}

const short = (text: unknown): string => (typeof text === 'string' ? text.slice(0, REASON_CHARS) : '');

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
