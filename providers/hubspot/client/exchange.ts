/**
 * The HTTP exchange under HubSpot's official client: the generated classes build and read the messages, and this file
 * sends them through the Http of the runtime. The client's own transport has no deadline, follows redirects and retries
 * writes; nothing of it is used.
 */
import { type Http, type HttpRequest, type HttpResponse, ProviderError } from '../../provider.ts';
import { type AccountClock, faultOf, HubspotRefusal } from './faults.ts';

export interface Outgoing {
  getUrl(): string;
  getHttpMethod(): string;
  getHeaders(): Record<string, string>;
  getBody(): unknown;
}

/**
 * The address under the API version: `/crm/v3/objects/x` becomes `/crm/objects/2026-09/x`. Under `v3` the associations
 * stay with v4, as in the client. https://developers.hubspot.com/docs/api-reference/legacy/migration-guide
 */
export function datedUrl(url: string, apiVersion: string): string {
  if (apiVersion === 'v3') return url;
  return url
    .replace(/\/crm\/v3\/(objects|properties|property-validations|owners)(?=[/?]|$)/, `/crm/$1/${apiVersion}`)
    .replace(/\/crm\/v4\/(objects|associations)(?=\/)/, `/crm/$1/${apiVersion}`)
    .replace(/\/(account-info|crm-object-schemas)\/v3\//, `/$1/${apiVersion}/`);
}

export function outgoing(request: Outgoing, apiVersion: string): Omit<HttpRequest, 'signal'> {
  const method = request.getHttpMethod();
  const body = request.getBody();
  if (method !== 'GET' && method !== 'POST' && method !== 'PUT')
    throw new Error(`the HubSpot connection does not use ${method}`);
  if (body !== undefined && typeof body !== 'string') throw new Error('the HubSpot connection sends text only');
  const url = datedUrl(request.getUrl(), apiVersion);
  return { method, url, headers: request.getHeaders(), body, budget: budgetOf(url) };
}

/** Search has its own limit. */
const budgetOf = (url: string) => (url.endsWith('/search') ? 'search' : undefined);

/** Statuses that may concern a single record: the verbs handle them. */
const RECORD_STATUSES: ReadonlySet<number> = new Set([400, 404, 409]);

/** Whether a verb handles the refusal. A write of records also handles one that concerns the content of the call. */
const isForVerbs = ({ url }: HttpRequest, refused: HubspotRefusal): boolean =>
  RECORD_STATUSES.has(refused.status) ||
  (/\/batch\/update$/.test(url) && (refused.status === 413 || refused.isForeign));

/** Makes one call and ensures that the answer is a JSON object, under the status that the client lists for it. */
export async function exchangeJson(http: Http, request: HttpRequest, clock: () => AccountClock): Promise<HttpResponse> {
  const response = await http(request);
  if (response.status < 200 || response.status > 299) {
    const refused = new HubspotRefusal(response);
    throw isForVerbs(request, refused) ? refused : faultOf(refused, clock());
  }
  const json = response.body === '' && response.status === 204 ? {} : parseObject(response.body);
  if (json === undefined)
    throw new ProviderError('unavailable', `HubSpot answered ${response.status} with something that is not JSON`);
  return withListedStatus(request, response, json);
}

type Member = Readonly<Record<string, unknown>>;
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isMember = (value: unknown): value is Member => typeof value === 'object' && value !== null;
const isRecord = (each: unknown): boolean => isMember(each) && isText(each.id) && isMember(each.properties);
const isId = (value: unknown): boolean => isText(value) || typeof value === 'number';

/** The check of each result in a list; undefined for a call without a list. The client itself accepts anything. */
function listed({ method, url }: HttpRequest): ((result: unknown) => boolean) | undefined {
  const isRead = /\/batch\/read$/.test(url);
  if (isRead && url.includes('/associations/'))
    return (each) => isMember(each) && isMember(each.from) && isId(each.from.id) && Array.isArray(each.to);
  // The verb handles records that a batch leaves out.
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

/** Throws if the call asks for a list and the answer has none, or an incomplete one. */
function needList(request: HttpRequest, status: number, results: unknown): void {
  const isWhole = listed(request);
  if (isWhole === undefined) return;
  if (!Array.isArray(results))
    throw new ProviderError('unavailable', `HubSpot answered a list with ${status} but without results`);
  if (!results.every(isWhole))
    throw new ProviderError('unavailable', `HubSpot answered a list with ${status} whose results are incomplete`);
}

/** Sets the status by the body: the client drops a batch's errors from a 200, and throws on an unlisted 2xx. */
function withListedStatus(request: HttpRequest, response: HttpResponse, json: Record<string, unknown>): HttpResponse {
  const errors = Array.isArray(json.errors) ? json.errors.map(listContext) : [];
  if (request.url.endsWith('/batch/labels/archive')) {
    // The client cannot return errors here, and dated versions put them into a 200.
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

/** Whether the call creates a record, a property, a group or a label. */
const creates = ({ method, url }: HttpRequest): boolean =>
  method === 'PUT' || (method === 'POST' && (url.endsWith('/batch/create') || !/\/(search|batch\/\w+)$/.test(url)));

/** The client splits a context member letter by letter if HubSpot sends a text instead of a list. */
function listContext(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('context' in error)) return error;
  const { context } = error;
  if (typeof context !== 'object' || context === null) return { ...error, context: undefined };
  const lists = Object.entries(context).map(([key, value]) => [key, Array.isArray(value) ? value : [String(value)]]);
  return { ...error, context: Object.fromEntries(lists) };
}

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
