/** A provider for the toy CRM that keeps every rule, to be broken one rule at a time. */
import Type from 'typebox';
import type { Subject } from '../../../../providers/kit/conformance/lab/subject.ts';
import {
  CONTRACT_VERSION,
  type Connection,
  defineProvider,
  type Http,
  type MissingRight,
  type Outcome,
  type ParentRead,
  type PropertyEdit,
  type Provider,
  ProviderError,
  type Read,
} from '../../../../providers/provider.ts';
import { retryAfterMs } from '../../../../providers/retry-after.ts';
import { startToyCrm, TOKEN } from './toy-crm.ts';

/** One exchange with the toy CRM. */
export type Call = <T>(path: string, signal: AbortSignal, body?: object) => Promise<T>;

export interface ToySettings {
  readonly baseUrl: string;
  readonly token: string;
}

/** The exchange as a sound provider makes it. */
const callOver =
  (http: Http, { baseUrl, token }: ToySettings): Call =>
  async (path, signal, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await http({
      method: body === undefined ? 'GET' : 'POST',
      url: baseUrl + path,
      headers,
      signal,
      ...sent,
    });
    const after = retryAfterMs(answer.headers['retry-after'], Date.now()) ?? 5_000;
    if (answer.status === 401) throw new ProviderError('auth', 'the toy refused the token');
    if (answer.status === 429) throw new ProviderError('rate', 'the toy is tired', { retryAfterMs: after });
    if (answer.status >= 500) throw new ProviderError('unavailable', `the toy answered ${answer.status}`);
    if (answer.status >= 400) throw new ProviderError('refused', `the toy answered ${answer.status} to ${path}`);
    try {
      return JSON.parse(answer.body);
    } catch {
      throw new ProviderError('unavailable', `the toy answered ${path} with something that is not JSON`);
    }
  };

async function listed<T>(answer: Promise<{ readonly results?: readonly T[] }>): Promise<readonly T[]> {
  const { results } = await answer;
  if (!Array.isArray(results)) throw new ProviderError('unavailable', 'the toy answered without results');
  return results;
}

/** An answer that has what every good one has. */
async function whole<T extends object>(answer: Promise<T>, member: string): Promise<T> {
  const given = await answer;
  if (!(member in given)) throw new ProviderError('unavailable', `the toy answered without ${member}`);
  return given;
}

/** The connection that keeps every rule. */
function soundConnection(call: Call): Connection {
  return {
    check: (signal) => call('/me', signal),
    properties: (signal) => call('/properties', signal),
    read: async (ids, properties, signal) =>
      ids.length === 0 ? [] : listed<Read>(call('/read', signal, { ids, properties })),
    update: async (patches, signal) =>
      patches.length === 0 ? [] : listed<Outcome>(call('/update', signal, { patches })),
    scan: (properties, cursor, signal) => whole(call('/scan', signal, { properties, cursor }), 'records'),
    changes: (properties, cursor, signal) => whole(call('/changes', signal, { properties, cursor }), 'changeHints'),
    find: (property, value, signal) => whole(call('/find', signal, { properties: [property], value }), 'records'),
    create: (values, signal) => whole(call('/create', signal, { values }), 'kind'),
    defineProperties: (definitions, signal) =>
      listed(call('/define', signal, { properties: definitions.map(({ name }) => name) })),
    removeProperties: (names, signal) => listed(call('/remove', signal, { properties: names })),
    rules: (signal) => call('/rules', signal),
    missingRights: async (rights, signal) =>
      (await listed<MissingRight>(call('/withheld', signal))).filter(({ right }) => rights.includes(right)),
    edits: async (ids, properties, since, signal) => {
      const all = await listed<PropertyEdit>(call('/edits', signal, { ids, properties }));
      return all.filter(({ at }) => at > since).toSorted((a, b) => a.at - b.at);
    },
    notes: {
      find: async (id, marker, _since, signal) => {
        const asked = { ids: [id], value: marker };
        const found = await whole(call<{ readonly id: string | null }>('/find-note', signal, asked), 'id');
        return found.id ?? undefined;
      },
      add: (note, signal) => whole(call('/note', signal, { note }), 'kind'),
    },
    parents: {
      read: (ids, signal) => listed<ParentRead>(call('/parents', signal, { ids })),
      write: ({ id, parent }, signal) => call('/parent', signal, { ids: [id], parent }),
    },
  };
}

/** What is put in the place of sound parts. */
export interface Breakage {
  readonly provider?: Partial<Provider>;
  readonly connection?: (sound: Connection, call: Call) => Partial<Connection>;
  readonly call?: (sound: Call) => Call;
  readonly http?: (sound: Http) => Http;
}

/** The toy provider, broken as told. */
export function toyProvider({ provider = {}, connection, call, http }: Breakage = {}): Provider {
  const sound = defineProvider({
    name: 'toy',
    contract: CONTRACT_VERSION,
    about: 'a toy CRM',
    settings: Type.Object(
      { baseUrl: Type.String(), token: Type.String({ secret: true }) },
      { additionalProperties: false },
    ),
    preset: [{ field: 'name', property: 'name', policy: 'tracked' }],
    definitions: [{ name: 'cvr_number', label: 'CVR number', type: 'string' }],
    limits: () => ({
      batch: { read: 20, update: 20 },
      concurrency: 2,
      budgets: { default: { calls: 100, perMs: 1_000 } },
    }),
    canonicalId: (text) =>
      /^\d+$/.test(text) ? { kind: 'id', id: text } : { kind: 'none', reason: 'an id of the toy is a number' },
    idInAddress: ({ pathname }) => /^\/companies\/(\d+)$/.exec(pathname)?.[1],
    recordAddress: (id) => `https://toy.example/companies/${id}`,
    webhook: () => ({ kind: 'refused', reason: 'it is not signed' }),
    connect: async (settings, lent) => {
      const sound = callOver(http?.(lent.http) ?? lent.http, settings);
      const used = call?.(sound) ?? sound;
      const all = soundConnection(used);
      return { ...all, ...connection?.(all, used) };
    },
  });
  return { ...sound, ...provider };
}

/** The toy under the suite. */
export const toySubject = (provider: Provider, module?: string): Subject => ({
  provider,
  start: startToyCrm,
  ...(module !== undefined && { module }),
  secrets: [TOKEN],
  properties: {
    text: 'name',
    long: 'about',
    number: 'staff',
    choice: 'sector',
    date: 'founded',
    datetime: 'seen',
    boolean: 'active',
    amount: 'turnover',
    fraction: 'share',
    site: 'site',
  },
  refused: { property: 'email', value: 'no address' },
  readOnly: 'made',
  absentId: '99999',
  hangMs: 80,
  calls: { read: 'POST /read$', update: 'POST /update$', create: 'POST /create$', search: 'POST /search$' },
});
