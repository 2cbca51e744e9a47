/** HubSpot's official client over the runtime's Http; groups that are seldom needed load on first use. */

import type * as associations from '@hubspot/api-client/lib/codegen/crm/associations/v4/index.js';
import type {
  BasicApi,
  BatchApi,
  FilterOperatorEnum,
  SearchApi,
} from '@hubspot/api-client/lib/codegen/crm/companies/index.js';
import type * as notes from '@hubspot/api-client/lib/codegen/crm/objects/notes/index.js';
import type {
  CoreApi,
  GroupsApi,
  BatchApi as PropertyBatchApi,
} from '@hubspot/api-client/lib/codegen/crm/properties/index.js';
import type { Http, HttpRequest } from '../../provider.ts';
import { datedUrl, exchangeJson, type Outgoing, outgoing, parseObject } from './exchange.ts';
import type { AccountClock } from './faults.ts';
import type { HubspotSettings } from './hubspot-settings.ts';

/** The client's classes for one verb, bound to its signal, because they take no signal argument. Cheap to make. */
export interface Apis {
  readonly companies: BasicApi;
  readonly batch: BatchApi;
  readonly search: SearchApi;
  readonly Operator: typeof FilterOperatorEnum;
  readonly properties: CoreApi;
  readonly groups: GroupsApi;
  readonly propertyBatch: PropertyBatchApi;
  /** Loaded on first use (about 40 ms, 3 MB), as are the associations. */
  notes(): Promise<NotesGroup>;
  associations(): Promise<AssociationsGroup>;
  /** A GET that the client has no class for. */
  get(
    path: string,
  ): Promise<{ readonly body: Record<string, unknown>; readonly headers: Readonly<Record<string, string>> }>;
  /** A POST for which the client's class omits a part of the body. */
  post(path: string, body: object): Promise<Record<string, unknown>>;
  remove(path: string): Promise<void>;
  /** HubSpot's time (ms since 1970, whole seconds) in the newest answer; undefined if no answer had one. */
  serverTime(): number | undefined;
}

export interface NotesGroup {
  readonly basic: notes.BasicApi;
  readonly batch: notes.BatchApi;
  readonly Category: typeof notes.AssociationSpecAssociationCategoryEnum;
}

/** The associations, and the label categories as this group spells them. */
export interface AssociationsGroup {
  readonly basic: associations.BasicApi;
  readonly batch: associations.BatchApi;
  readonly Category: typeof associations.AssociationSpecAssociationCategoryEnum;
}

/** Loads the two groups of the client that every connection needs (about 80 ms); makes no call. */
export async function loadClient(
  settings: HubspotSettings,
  http: Http,
  clock: () => AccountClock,
): Promise<(signal: AbortSignal) => Apis> {
  const companies = await import('@hubspot/api-client/lib/codegen/crm/companies/index.js');
  const properties = await import('@hubspot/api-client/lib/codegen/crm/properties/index.js');
  const { accessToken, baseUrl, apiVersion } = settings;
  const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' };

  return (signal) => {
    let serverTime: number | undefined;
    const exchange = async (request: Omit<HttpRequest, 'signal'>) => {
      const answer = await exchangeJson(http, { ...request, signal }, clock);
      const date = Date.parse(answer.headers.date ?? '');
      if (Number.isFinite(date)) serverTime = date;
      return answer;
    };
    const send = (request: Outgoing) => exchange(outgoing(request, apiVersion));
    const configure = <Server, Library, Request extends Outgoing, Response, Config>(
      group: Group<Server, Library, Request, Response, Config>,
    ): Config =>
      group.createConfiguration({
        baseServer: new group.ServerConfiguration(baseUrl, {}),
        authMethods: { oauth2: { accessToken } },
        httpApi: group.wrapHttpLibrary({
          async send(request) {
            const answer = await send(request);
            return new group.ResponseContext(answer.status, { ...JSON_HEADERS }, bodyOf(answer.body));
          },
        }),
      });
    const companiesConfig = configure(companies);
    const propertiesConfig = configure(properties);
    return {
      companies: new companies.BasicApi(companiesConfig),
      batch: new companies.BatchApi(companiesConfig),
      search: new companies.SearchApi(companiesConfig),
      Operator: companies.FilterOperatorEnum,
      properties: new properties.CoreApi(propertiesConfig),
      groups: new properties.GroupsApi(propertiesConfig),
      propertyBatch: new properties.BatchApi(propertiesConfig),
      async notes() {
        const group = await import('@hubspot/api-client/lib/codegen/crm/objects/notes/index.js');
        const config = configure(group);
        const Category = group.AssociationSpecAssociationCategoryEnum;
        return { basic: new group.BasicApi(config), batch: new group.BatchApi(config), Category };
      },
      async associations() {
        const group = await import('@hubspot/api-client/lib/codegen/crm/associations/v4/index.js');
        const config = configure(group);
        const Category = group.AssociationSpecAssociationCategoryEnum;
        return { basic: new group.BasicApi(config), batch: new group.BatchApi(config), Category };
      },
      async get(path) {
        const answer = await exchange({ method: 'GET', url: datedUrl(`${baseUrl}${path}`, apiVersion), headers });
        return { body: parseObject(answer.body) ?? {}, headers: answer.headers };
      },
      async post(path, body) {
        const url = datedUrl(`${baseUrl}${path}`, apiVersion);
        const sent = { headers: { ...headers, ...JSON_HEADERS }, body: JSON.stringify(body) };
        return parseObject((await exchange({ method: 'POST', url, ...sent })).body) ?? {};
      },
      async remove(path) {
        await exchange({ method: 'DELETE', url: datedUrl(`${baseUrl}${path}`, apiVersion), headers });
      },
      serverTime: () => serverTime,
    };
  };
}

/** The classes that every group has under the same names: alike, but not of the same types. */
interface Group<Server, Library, Request extends Outgoing, Response, Config> {
  readonly ServerConfiguration: new (url: string, variables: Record<string, string>) => Server;
  readonly ResponseContext: new (status: number, headers: Record<string, string>, body: Body) => Response;
  wrapHttpLibrary(library: { send(request: Request): Promise<Response> }): Library;
  createConfiguration(parameters: {
    baseServer: Server;
    httpApi: Library;
    authMethods: { oauth2: { accessToken: string } };
  }): Config;
}

interface Body {
  text(): Promise<string>;
  binary(): Promise<Buffer>;
}

const JSON_HEADERS = { 'content-type': 'application/json' };

const bodyOf = (text: string): Body => ({ text: async () => text, binary: async () => Buffer.from(text) });
