/**
 * The fence around HubSpot's official client: its generated classes build and read the messages,
 * this file moves them, through the Http of the runtime.
 *
 * Their own transport has no deadline, follows redirects and retries writes; nothing of it is used.
 */
import { type Http, type HttpRequest, type HttpResponse, ProviderError } from '../../provider.ts';
import { type AccountClock, faultOf, HubspotRefusal } from './faults.ts';

/** A request as every group of the client builds it. */
export interface Outgoing {
  getUrl(): string;
  getHttpMethod(): string;
  getHeaders(): Record<string, string>;
  getBody(): unknown;
}

/**
 * The address under the API version: `/crm/v3/objects/x` becomes `/crm/objects/2026-09/x`. Under `v3` the
 * associations stay with v4, where the client has them.
 * https://developers.hubspot.com/docs/api-reference/legacy/migration-guide
 */
export function datedUrl(url: string, apiVersion: string): string {
  if (apiVersion === 'v3') return url;
  return url
    .replace(/\/crm\/v3\/(objects|properties|property-validations|owners)(?=[/?]|$)/, `/crm/$1/${apiVersion}`)
    .replace(/\/crm\/v4\/(objects|associations)(?=\/)/, `/crm/$1/${apiVersion}`)
    .replace(/\/(account-info|crm-object-schemas)\/v3\//, `/$1/${apiVersion}/`);
}

/** What one of the client's requests is on the wire. */
export function outgoing(request: Outgoing, apiVersion: string): Omit<HttpRequest, 'signal'> {
  const method = request.getHttpMethod();
  const body = request.getBody();
  if (method !== 'GET' && method !== 'POST' && method !== 'PUT')
    throw new Error(`the HubSpot connection does not use ${method}`);
  if (body !== undefined && typeof body !== 'string') throw new Error('the HubSpot connection sends text only');
  const url = datedUrl(request.getUrl(), apiVersion);
  return { method, url, headers: request.getHeaders(), ...(body === undefined ? {} : { body }), ...budgetOf(url) };
}

/** Search has a limit of its own. */
const budgetOf = (url: string) => (url.endsWith('/search') ? { budget: 'search' } : {});

/** Statuses a single record may be to blame for: the verbs look at these. */
const RECORD_STATUSES: ReadonlySet<number> = new Set([400, 404, 409]);

/** Whether a verb judges a refusal: of a write of records also one for what the call holds. */
const isForVerbs = ({ url }: HttpRequest, refused: HubspotRefusal): boolean =>
  RECORD_STATUSES.has(refused.status) ||
  (/\/batch\/update$/.test(url) && (refused.status === 413 || refused.isForeign));

/** One exchange whose answer is sure to be a JSON object under the status the client lists for it. */
export async function settle(http: Http, request: HttpRequest, clock: () => AccountClock): Promise<HttpResponse> {
  const response = await http(request);
  if (response.status < 200 || response.status > 299) {
    const refused = new HubspotRefusal(response);
    throw isForVerbs(request, refused) ? refused : faultOf(refused, clock());
  }
  const json = response.body === '' && response.status === 204 ? {} : parseObject(response.body);
  if (json === undefined)
    throw new ProviderError('unavailable', `HubSpot answered ${response.status} with something that is not JSON`);
  return judged(request, response, json);
}

type Member = Readonly<Record<string, unknown>>;
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isMember = (value: unknown): value is Member => typeof value === 'object' && value !== null;
const isRecord = (each: unknown): boolean => isMember(each) && isText(each.id) && isMember(each.properties);
const isId = (value: unknown): boolean => isText(value) || typeof value === 'number';

/** What each result of a list must have, where one was asked for: the client takes whatever comes. */
function listed({ method, url }: HttpRequest): ((result: unknown) => boolean) | undefined {
  const isRead = /\/batch\/read$/.test(url);
  if (isRead && url.includes('/associations/'))
    return (each) => isMember(each) && isMember(each.from) && isId(each.from.id) && Array.isArray(each.to);
  // Of a batch the silence about a record is judged by its verb.
  if (isRead || /\/batch\/update$/.test(url)) return () => true;
  if (/\/search$/.test(url)) return isRecord;
  if (method !== 'GET') return undefined;
  if (/\/objects\/(?:[\d-]+\/)?(?:companies|0-2)(?:\?|$)/.test(url)) return isRecord;
  if (/\/\d+\/associations\/\w+(?:\?|$)/.test(url))
    return (each) => isMember(each) && isId(each.toObjectId) && Array.isArray(each.associationTypes);
  if (/\/properties\/(?:[\d-]+\/)?companies(?:\/groups)?(?:\?|$)/.test(url))
    return (each) => isMember(each) && isText(each.name);
  return undefined;
}

/** Throws where a list was asked for, and the answer is none or holds what is nothing of the kind. */
function needList(request: HttpRequest, status: number, results: unknown): void {
  const isWhole = listed(request);
  if (isWhole === undefined) return;
  if (!Array.isArray(results))
    throw new ProviderError('unavailable', `HubSpot answered a list with ${status} but without results`);
  if (!results.every(isWhole))
    throw new ProviderError('unavailable', `HubSpot answered a list with ${status} whose results are incomplete`);
}

/** The client drops a batch's errors from a 200, and throws on any 2xx it does not list: the body decides, not the status. */
function judged(request: HttpRequest, response: HttpResponse, json: Record<string, unknown>): HttpResponse {
  const errors = Array.isArray(json.errors) ? json.errors.map(listContext) : [];
  if (request.url.endsWith('/batch/labels/archive')) {
    // The client has no room for errors here, and dated versions put them into a 200.
    const [error] = errors;
    if (error !== undefined) throw new HubspotRefusal({ ...response, status: 400, body: JSON.stringify(error) });
    return { ...response, status: 204 };
  }
  needList(request, response.status, json.results);
  if (/\/batch\/(read|update)$/.test(request.url)) {
    if (errors.length > 0) return { ...response, status: 207, body: JSON.stringify({ ...json, errors }) };
    return { ...response, status: 200 };
  }
  return { ...response, status: creates(request) ? 201 : 200 };
}

/** Makes something: a record, a property, a group, a label. */
const creates = ({ method, url }: HttpRequest): boolean =>
  method === 'PUT' || (method === 'POST' && (url.endsWith('/batch/create') || !/\/(search|batch\/\w+)$/.test(url)));

/** The client takes a context member apart letter by letter where HubSpot sends a text instead of a list. */
function listContext(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('context' in error)) return error;
  const { context } = error;
  if (typeof context !== 'object' || context === null) return { ...error, context: undefined };
  const lists = Object.entries(context).map(([key, value]) => [key, Array.isArray(value) ? value : [String(value)]]);
  return { ...error, context: Object.fromEntries(lists) };
}

/** A JSON object out of a text, undefined where it is none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && !Array.isArray(json)
      ? Object.fromEntries(Object.entries(json))
      : undefined;
  } catch {
    return undefined;
  }
}
