/** A connection to an API of one's own: one company a call, flat JSON. */
import {
  type Account,
  type Connection,
  type Outcome,
  type Page,
  type Property,
  type ProviderContext,
  ProviderError,
  type Read,
} from '../provider.ts';
import { type Answer, idIn, isGone, isObject, judgeExport, judgeUpdate, readAnswer } from './answer.ts';
import { fromJson, propertiesOf, toJson } from './properties.ts';
import type { HttpSettings } from './settings.ts';

/** Builds the connection; it remembers which names its addresses show. */
export async function connectHttp(settings: HttpSettings, { http, now }: ProviderContext): Promise<Connection> {
  const { updateUrl, exportUrl, readUrl, listUrl, method, authHeader, authValue, idKey } = settings;
  const known = propertiesOf(settings);
  const headers = { accept: 'application/json', ...(authValue !== undefined && { [authHeader]: authValue }) };

  const get = async (url: string, what: string, signal: AbortSignal): Promise<Answer> =>
    readAnswer(await http({ method: 'GET', url, headers, signal }), what, now());
  const send = async (url: string, what: string, body: object, signal: AbortSignal): Promise<Answer> => {
    const json = { ...headers, 'content-type': 'application/json' };
    return readAnswer(await http({ method, url, headers: json, body: JSON.stringify(body), signal }), what, now());
  };
  // An API may leave out what is blank; but what it shows of no company cannot be read here.
  const shown = { list: new Set<string>(), read: new Set<string>() };
  const see = (where: keyof typeof shown, company: Readonly<Record<string, unknown>>): void => {
    for (const name of Object.keys(company)) if (known.has(name)) shown[where].add(name);
  };
  const values = (where: keyof typeof shown, company: Readonly<Record<string, unknown>>, names: readonly string[]) =>
    Object.fromEntries(
      names.filter((name) => shown[where].has(name)).map((name) => [name, fromJson(company[name], known.get(name))]),
    );
  const wire = (properties: Parameters<NonNullable<Connection['create']>>[0]) =>
    Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, toJson(value, known.get(name))]));

  const readOne = async (id: string, names: readonly string[], signal: AbortSignal): Promise<Read> => {
    if (readUrl === undefined) return { kind: 'found', id, properties: {} };
    const answer = await get(withId(readUrl, id), 'readUrl', signal);
    if (isGone(answer)) return { kind: 'gone', id };
    if (answer.status >= 300) return { kind: 'retry', id, reason: `readUrl was answered ${answer.status}` };
    if (!isObject(answer.json)) throw new ProviderError('unavailable', 'readUrl was answered with no JSON object');
    const answeredId = idIn(answer.json, idKey);
    if (answeredId !== undefined && bare(answeredId) !== bare(id))
      return {
        kind: 'retry',
        id,
        reason: `readUrl was answered with another company, whose ${idKey} is ${answeredId}`,
      };
    // Taken for a company that cannot be read, it would be written over whatever a person wrote there.
    if (answeredId === undefined && !Object.keys(answer.json).some((name) => known.has(name)))
      throw new ProviderError(
        'refused',
        `readUrl was answered with JSON that holds neither ${idKey} nor any property: answer with flat JSON, or name its properties in properties`,
      );
    see('read', answer.json);
    return { kind: 'found', id, properties: values('read', answer.json, names) };
  };

  return {
    check: (signal) => checkApi(settings, (url) => get(url, 'listUrl', signal)),
    properties: async (): Promise<readonly Property[]> =>
      [...known.values()].map((one) => (readUrl === undefined ? { ...one, unreadable: true } : one)),
    read: (ids, names, signal) =>
      oneByOne(
        ids,
        (id) => readOne(id, names, signal),
        (id, reason) => ({ kind: 'retry', id, reason }),
        signal,
      ),
    update: (patches, signal) =>
      oneByOne(
        patches,
        async ({ id, properties }): Promise<Outcome> => {
          const body = { ...wire(properties), [idKey]: toJson(id, known.get(idKey)) };
          const answer = await send(withId(updateUrl, id), 'updateUrl', body, signal);
          return judgeUpdate(id, Object.keys(properties), answer);
        },
        ({ id }, reason) => ({ kind: 'retry', id, reason }),
        signal,
      ),
    scan: async (names, cursor, signal): Promise<Page> => {
      if (listUrl === undefined)
        throw new ProviderError(
          'refused',
          'the companies of this API cannot be listed: put an address in listUrl, or set reconcileHours to 0',
        );
      const url = new URL(listUrl);
      if (cursor !== undefined) url.searchParams.set(settings.cursorParameter, cursor);
      const { json, status } = await get(url.href, 'listUrl', signal);
      const page = readPage(json);
      if (page === undefined || status >= 300)
        throw new ProviderError('unavailable', `listUrl was answered ${status} without a list of companies`);
      if (page.cursor !== undefined && page.cursor === cursor)
        throw new ProviderError('refused', 'listUrl gives the same cursor again: the list would never end');
      for (const company of page.companies) see('list', company);
      const records = page.companies.map((company) => {
        const id = idIn(company, idKey);
        // Left out, it would look as if it were not there.
        if (id === undefined)
          throw new ProviderError(
            'refused',
            `listUrl gives a company without ${idKey}: put the name of its id in idKey`,
          );
        return { id, properties: values('list', company, names) };
      });
      return page.cursor === undefined ? { records } : { records, cursor: page.cursor };
    },
    ...(exportUrl !== undefined && {
      create: async (properties: Parameters<NonNullable<Connection['create']>>[0], signal: AbortSignal) => {
        const body = wire(properties);
        return judgeExport(idKey, body, await send(exportUrl, 'exportUrl', body, signal));
      },
    }),
  };
}

/**
 * One call for each, in order. What was done before a fault is not lost: the fault is thrown by the first call only,
 * later it is told to the rest as a reason to come again.
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

/** A number that an API gives as a number has lost its leading zeros. */
const bare = (id: string): string => id.replace(/^0+/, '') || id.slice(-1);

const withId = (url: string, id: string): string => url.replaceAll('{id}', encodeURIComponent(id));

async function checkApi({ updateUrl, listUrl }: HttpSettings, get: (url: string) => Promise<Answer>): Promise<Account> {
  const { host, origin, pathname } = new URL(updateUrl);
  // Without what follows the path: a key may stand there, and be another one tomorrow.
  const account = { id: origin + pathname, name: `the API at ${host}` };
  if (listUrl === undefined)
    return { ...account, notes: ['not tried: without listUrl cvrsync cannot test a call; the first change will'] };
  const { status } = await get(listUrl);
  if (status >= 300) throw new ProviderError('refused', `listUrl was answered ${status}: check the address`);
  return { ...account, notes: [] };
}

/** A bare list, or an object that holds one beside the cursor of the next page. */
function readPage(
  json: unknown,
): { readonly companies: readonly Readonly<Record<string, unknown>>[]; readonly cursor?: string } | undefined {
  if (Array.isArray(json)) return { companies: json.filter(isObject) };
  if (!isObject(json)) return undefined;
  const list = ['results', 'items', 'data', 'companies'].map((key) => json[key]).find(Array.isArray);
  if (list === undefined) return undefined;
  const next = ['cursor', 'next', 'nextCursor', 'continuationToken'].map((key) => json[key]);
  const cursor = next.find((each) => (typeof each === 'string' && each !== '') || typeof each === 'number');
  const companies = list.filter(isObject);
  return cursor === undefined ? { companies } : { companies, cursor: String(cursor) };
}
