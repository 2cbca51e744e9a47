import {
  type Account,
  type Connection,
  type Outcome,
  type Page,
  type Patch,
  type Property,
  type PropertyValue,
  type ProviderContext,
  ProviderError,
  type Read,
} from '../provider.ts';
import { type Answer, decideExport, decideUpdate, idIn, isGone, isObject, readAnswer } from './answer.ts';
import type { HttpSettings } from './http-settings.ts';
import { fromJson, propertiesOf, toJson } from './properties.ts';

type Company = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, PropertyValue>>;

interface Api {
  readonly settings: HttpSettings;
  readonly known: ReadonlyMap<string, Property>;
  readonly shown: { readonly list: ShownNames; readonly read: ShownNames };
  get(url: string, what: string, signal: AbortSignal): Promise<Answer>;
  send(url: string, what: string, body: object, signal: AbortSignal): Promise<Answer>;
}

/** A connection to an API of your own: one company a call, flat JSON. It remembers which names its addresses show. */
export async function connectHttp(settings: HttpSettings, context: ProviderContext): Promise<Connection> {
  const { readUrl, exportUrl } = settings;
  const api = openApi(settings, context);
  return {
    check: (signal) => checkApi(settings, (url) => api.get(url, 'listUrl', signal)),
    properties: async (): Promise<readonly Property[]> =>
      [...api.known.values()].map((one) => (readUrl === undefined ? { ...one, unreadable: true } : one)),
    read: (ids, names, signal) =>
      oneByOne(
        ids,
        (id) => readOne(api, id, names, signal),
        (id, reason) => ({ kind: 'retry', id, reason }),
        signal,
      ),
    update: (patches, signal) =>
      oneByOne(
        patches,
        (patch) => updateOne(api, patch, signal),
        ({ id }, reason) => ({ kind: 'retry', id, reason }),
        signal,
      ),
    scan: (names, cursor, signal) => scanPage(api, names, cursor, signal),
    ...(exportUrl !== undefined && {
      create: async (properties: Values, signal: AbortSignal) => {
        const body = wire(api, properties);
        return decideExport(settings.idKey, body, await api.send(exportUrl, 'exportUrl', body, signal));
      },
    }),
  };
}

function openApi(settings: HttpSettings, { http, now }: ProviderContext): Api {
  const { method, authHeader, authValue } = settings;
  const known = propertiesOf(settings);
  const headers = { accept: 'application/json', ...(authValue !== undefined && { [authHeader]: authValue }) };
  return {
    settings,
    known,
    shown: { list: openShownNames(known), read: openShownNames(known) },
    get: async (url, what, signal) => readAnswer(await http({ method: 'GET', url, headers, signal }), what, now()),
    async send(url, what, body, signal) {
      const json = { ...headers, 'content-type': 'application/json' };
      return readAnswer(await http({ method, url, headers: json, body: JSON.stringify(body), signal }), what, now());
    },
  };
}

/**
 * The names that one address has shown so far. An API may leave out blank values; but a name that it shows for no
 * company cannot be read there.
 */
interface ShownNames {
  see(company: Company): void;
  values(company: Company, names: readonly string[]): Values;
  hidden(names: readonly string[]): readonly string[];
}

function openShownNames(known: ReadonlyMap<string, Property>): ShownNames {
  const shown = new Set<string>();
  return {
    see(company) {
      for (const name of Object.keys(company)) if (known.has(name)) shown.add(name);
    },
    values: (company, names) =>
      Object.fromEntries(
        names.filter((name) => shown.has(name)).map((name) => [name, fromJson(company[name], known.get(name))]),
      ),
    hidden: (names) => names.filter((name) => !shown.has(name)),
  };
}

const wire = ({ known }: Api, properties: Values) =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, toJson(value, known.get(name))]));

async function readOne(api: Api, id: string, names: readonly string[], signal: AbortSignal): Promise<Read> {
  const { readUrl, idKey } = api.settings;
  if (readUrl === undefined) return { kind: 'found', id, properties: {} };
  const answer = await api.get(withId(readUrl, id), 'readUrl', signal);
  if (isGone(answer)) return { kind: 'gone', id };
  if (answer.status >= 300) return { kind: 'retry', id, reason: `readUrl was answered ${answer.status}` };
  if (!isObject(answer.json)) throw new ProviderError('unavailable', 'readUrl was answered with no JSON object');
  const answeredId = idIn(answer.json, idKey);
  if (answeredId !== undefined && bare(answeredId) !== bare(id))
    return { kind: 'retry', id, reason: `readUrl was answered with another company, whose ${idKey} is ${answeredId}` };
  // cvrsync would take the company for unreadable and overwrite what people wrote.
  if (answeredId === undefined && !Object.keys(answer.json).some((name) => api.known.has(name)))
    throw new ProviderError(
      'refused',
      `readUrl was answered with JSON that holds neither ${idKey} nor any property: answer with flat JSON, or name its properties in properties`,
    );
  const { read } = api.shown;
  read.see(answer.json);
  const unreadable = read.hidden(names);
  const properties = read.values(answer.json, names);
  return { kind: 'found', id, properties, unreadable: unreadable.length > 0 ? unreadable : undefined };
}

async function updateOne(api: Api, { id, properties }: Patch, signal: AbortSignal): Promise<Outcome> {
  const { updateUrl, idKey } = api.settings;
  const body = { ...wire(api, properties), [idKey]: toJson(id, api.known.get(idKey)) };
  const answer = await api.send(withId(updateUrl, id), 'updateUrl', body, signal);
  return decideUpdate(id, Object.keys(properties), answer, storedIn(api, answer, id, Object.keys(properties)));
}

/** The company in the answer to an update, if the answer holds its id and every property sent. */
function storedIn({ settings, known }: Api, { json }: Answer, id: string, sent: readonly string[]): Values {
  if (!isObject(json) || bare(idIn(json, settings.idKey) ?? '') !== bare(id)) return {};
  if (!sent.every((name) => Object.hasOwn(json, name))) return {};
  return Object.fromEntries(sent.map((name) => [name, fromJson(json[name], known.get(name))]));
}

async function scanPage(
  { settings, shown, get }: Api,
  names: readonly string[],
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page> {
  const { listUrl, cursorParameter, idKey } = settings;
  if (listUrl === undefined)
    throw new ProviderError(
      'refused',
      'the companies of this API cannot be listed: put an address in listUrl, or set reconcileHours to 0',
    );
  const url = new URL(listUrl);
  if (cursor !== undefined) url.searchParams.set(cursorParameter, cursor);
  const { json, status } = await get(url.href, 'listUrl', signal);
  const page = readPage(json);
  if (page === undefined || status >= 300)
    throw new ProviderError('unavailable', `listUrl was answered ${status} without a list of companies`);
  if (page.cursor !== undefined && page.cursor === cursor)
    throw new ProviderError('refused', 'listUrl gives the same cursor again: the list would never end');
  for (const company of page.companies) shown.list.see(company);
  const records = page.companies.map((company) => {
    const id = idIn(company, idKey);
    // Without an id the company would look as if it did not exist.
    if (id === undefined)
      throw new ProviderError('refused', `listUrl gives a company without ${idKey}: put the name of its id in idKey`);
    return { id, properties: shown.list.values(company, names) };
  });
  return page.cursor === undefined ? { records } : { records, cursor: page.cursor };
}

/**
 * Makes one call for each, in order. A fault in the first call is thrown; after that the results so far are kept, and
 * the rest get the fault as a reason to retry.
 */
async function oneByOne<T, R>(
  all: readonly T[],
  work: (one: T) => Promise<R>,
  later: (one: T, reason: string) => R,
  signal: AbortSignal,
): Promise<readonly R[]> {
  const done: R[] = [];
  for (const one of all) {
    signal.throwIfAborted();
    try {
      done.push(await work(one));
    } catch (error) {
      if (done.length === 0 || !(error instanceof ProviderError)) throw error;
      return [...done, ...all.slice(done.length).map((left) => later(left, error.message))];
    }
  }
  return done;
}

/** An API that gives the number as a JSON number drops its leading zeros. */
const bare = (id: string): string => id.replace(/^0+/, '') || id.slice(-1);

const withId = (url: string, id: string): string => url.replaceAll('{id}', encodeURIComponent(id));

async function checkApi({ updateUrl, listUrl }: HttpSettings, get: (url: string) => Promise<Answer>): Promise<Account> {
  const { host, origin, pathname } = new URL(updateUrl);
  // The query may hold a key, which may change: the account's id leaves it out.
  const account = { id: origin + pathname, name: `the API at ${host}` };
  if (listUrl === undefined)
    return { ...account, notes: ['not tried: without listUrl cvrsync cannot test a call; the first change will'] };
  const { status } = await get(listUrl);
  if (status >= 300) throw new ProviderError('refused', `listUrl was answered ${status}: check the address`);
  return { ...account, notes: [] };
}

/** A bare list, or an object with a list and the cursor of the next page. */
function readPage(json: unknown): { readonly companies: readonly Company[]; readonly cursor?: string } | undefined {
  if (Array.isArray(json)) return { companies: json.filter(isObject) };
  if (!isObject(json)) return undefined;
  const list = ['results', 'items', 'data', 'companies'].map((key) => json[key]).find(Array.isArray);
  if (list === undefined) return undefined;
  const next = ['cursor', 'next', 'nextCursor', 'continuationToken'].map((key) => json[key]);
  const cursor = next.find((each) => (typeof each === 'string' && each !== '') || typeof each === 'number');
  const companies = list.filter(isObject);
  return cursor === undefined ? { companies } : { companies, cursor: String(cursor) };
}
