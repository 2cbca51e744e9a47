/**
 * The fence around HubSpot's official client: its generated classes build and read the messages,
 * this file moves them, through the Http the runtime lends.
 *
 * Their own transport has no deadline, follows redirects and retries writes; nothing of it is used.
 */
import type { BasicApi, BatchApi } from '@hubspot/api-client/lib/codegen/crm/companies/index.js';
import type { CoreApi } from '@hubspot/api-client/lib/codegen/crm/properties/index.js';
import { type Http, type HttpRequest, type HttpResponse, ProviderError } from '../provider.ts';
import { type AccountClock, faultOf, RefusedAnswer } from './faults.ts';
import type { HubspotSettings } from './settings.ts';

/** The client's classes for one verb, bound to its signal: they have no signal argument. Cheap to make. */
export interface Apis {
  readonly companies: BasicApi;
  readonly batch: BatchApi;
  readonly properties: CoreApi;
  /** A GET the client has no class for; gives the parsed body and the headers. */
  get(
    path: string,
  ): Promise<{ readonly body: Record<string, unknown>; readonly headers: Readonly<Record<string, string>> }>;
}

/** Loads the two groups of the client that are needed (about 80 ms); makes no call. */
export async function loadClient(
  settings: HubspotSettings,
  http: Http,
  clock: () => AccountClock,
): Promise<(signal: AbortSignal) => Apis> {
  const companies = await import('@hubspot/api-client/lib/codegen/crm/companies/index.js');
  const properties = await import('@hubspot/api-client/lib/codegen/crm/properties/index.js');
  const { accessToken, baseUrl, apiVersion } = settings;

  return (signal) => {
    const exchange = (request: Omit<HttpRequest, 'signal'>) => settle(http, { ...request, signal }, clock);
    const authMethods = { oauth2: { accessToken } };
    // The groups' classes are alike but not the same type: each gets its own wrapping.
    const companiesConfig = companies.createConfiguration({
      baseServer: new companies.ServerConfiguration(baseUrl, {}),
      authMethods,
      httpApi: companies.wrapHttpLibrary({
        async send(request) {
          const answer = await exchange(outgoing(request, apiVersion));
          return new companies.ResponseContext(answer.status, JSON_HEADERS, bodyOf(answer.body));
        },
      }),
    });
    const propertiesConfig = properties.createConfiguration({
      baseServer: new properties.ServerConfiguration(baseUrl, {}),
      authMethods,
      httpApi: properties.wrapHttpLibrary({
        async send(request) {
          const answer = await exchange(outgoing(request, apiVersion));
          return new properties.ResponseContext(answer.status, JSON_HEADERS, bodyOf(answer.body));
        },
      }),
    });
    return {
      companies: new companies.BasicApi(companiesConfig),
      batch: new companies.BatchApi(companiesConfig),
      properties: new properties.CoreApi(propertiesConfig),
      async get(path) {
        const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' };
        const answer = await exchange({ method: 'GET', url: datedUrl(`${baseUrl}${path}`, apiVersion), headers });
        return { body: parseObject(answer.body) ?? {}, headers: answer.headers };
      },
    };
  };
}

/**
 * The address under the API version: `/crm/v3/objects/x` becomes `/crm/objects/2026-09/x`.
 * https://developers.hubspot.com/docs/api-reference/legacy/migration-guide
 */
export function datedUrl(url: string, apiVersion: string): string {
  if (apiVersion === 'v3') return url;
  return url
    .replace(/\/crm\/v3\/(objects|properties)\//, `/crm/$1/${apiVersion}/`)
    .replace(/\/crm\/v3\/(objects|properties)(?=\?|$)/, `/crm/$1/${apiVersion}`)
    .replace('/account-info/v3/', `/account-info/${apiVersion}/`);
}

/** Statuses a single record may be to blame for: the verbs look at these. */
const RECORD_STATUSES: ReadonlySet<number> = new Set([400, 404, 409]);

const JSON_HEADERS = { 'content-type': 'application/json' };

interface Outgoing {
  getUrl(): string;
  getHttpMethod(): string;
  getHeaders(): Record<string, string>;
  getBody(): unknown;
}

function outgoing(request: Outgoing, apiVersion: string): Omit<HttpRequest, 'signal'> {
  const method = request.getHttpMethod();
  const body = request.getBody();
  if (method !== 'GET' && method !== 'POST') throw new Error(`the HubSpot connection does not use ${method}`);
  if (body !== undefined && typeof body !== 'string') throw new Error('the HubSpot connection sends text only');
  const url = datedUrl(request.getUrl(), apiVersion);
  return { method, url, headers: request.getHeaders(), ...(body === undefined ? {} : { body }) };
}

/** One exchange whose answer is sure to be a JSON object under the status the client lists for it. */
async function settle(http: Http, request: HttpRequest, clock: () => AccountClock): Promise<HttpResponse> {
  const response = await http(request);
  if (response.status < 200 || response.status > 299) {
    const refused = new RefusedAnswer(response);
    throw RECORD_STATUSES.has(response.status) ? refused : faultOf(refused, clock());
  }
  const json = parseObject(response.body);
  if (json === undefined)
    throw new ProviderError('unavailable', `HubSpot answered ${response.status} with something that is not JSON`);
  return judged(request, response, json);
}

/** The client drops a batch's errors from a 200, and throws on any 2xx it does not list: the body decides, not the status. */
function judged(request: HttpRequest, response: HttpResponse, json: Record<string, unknown>): HttpResponse {
  const isBatch = /\/batch\/(read|update)$/.test(request.url);
  if (isBatch && !Array.isArray(json.results)) {
    throw new ProviderError('unavailable', `HubSpot answered a batch with ${response.status} but without results`);
  }
  if (!isBatch || !Array.isArray(json.errors) || json.errors.length === 0) return { ...response, status: 200 };
  return { ...response, status: 207, body: JSON.stringify({ ...json, errors: json.errors.map(listContext) }) };
}

/** The client takes a context member apart letter by letter where HubSpot sends a text instead of a list. */
function listContext(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('context' in error)) return error;
  const { context } = error;
  if (typeof context !== 'object' || context === null) return { ...error, context: undefined };
  const lists = Object.entries(context).map(([key, value]) => [key, Array.isArray(value) ? value : [String(value)]]);
  return { ...error, context: Object.fromEntries(lists) };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && !Array.isArray(json)
      ? Object.fromEntries(Object.entries(json))
      : undefined;
  } catch {
    return undefined;
  }
}

const bodyOf = (text: string) => ({ text: async () => text, binary: async () => Buffer.from(text) });
