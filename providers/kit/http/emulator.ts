/** An emulated API of your own on loopback: companies as flat JSON, to export, update, read and list. */

import { propertiesOf } from '../../http/properties.ts';
import type { Property, PropertyValue } from '../../provider.ts';
import {
  type CrmEmulator,
  type EmulatorAnswer,
  type EmulatorOptions,
  type EmulatorRequest,
  respelled,
  serveEmulator,
} from '../emulator/emulator.ts';

export interface HttpEmulatorOptions extends EmulatorOptions {
  /** The API accepts companies but returns none: it cannot read or list them. */
  readonly blind?: boolean;
  /** The API answers an update with the updated company. */
  readonly shows?: boolean;
  readonly authValue?: string;
}

type Values = Readonly<Record<string, PropertyValue>>;

const PAGE = 100;
const MAX_TEXT = 10_000;
const KNOWN = propertiesOf({ properties: [] });
const BLANK: Values = Object.fromEntries([...KNOWN.keys()].map((name) => [name, null]));

/** The companies of an emulated API, without validation. */
interface Companies {
  readonly live: ReadonlyMap<string, Values>;
  write(id: string, values: Values): void;
  make(values: Values): string;
  held(id: string): Values;
  remove(id: string): void;
  restore(id: string): void;
}

function openCompanies(firstId: number, onWrite: (id: string, values: Values) => void): Companies {
  const live = new Map<string, Values>();
  const removed = new Map<string, Values>();
  let last = firstId;
  const write = (id: string, values: Values): void => {
    const { id: _id, ...properties } = values;
    const merged = Object.entries({ ...live.get(id), ...properties }).filter(([, value]) => value !== null);
    live.set(id, Object.fromEntries(merged));
    onWrite(id, { ...properties });
  };
  const held = (id: string): Values => {
    const values = live.get(id);
    if (values === undefined) throw new Error(`the emulated API has no company ${id}`);
    return values;
  };
  return {
    live,
    write,
    make(values) {
      last += 1;
      write(String(last), values);
      return String(last);
    },
    held,
    remove(id) {
      removed.set(id, held(id));
      live.delete(id);
    },
    restore(id) {
      const values = removed.get(id);
      if (values !== undefined) live.set(id, values);
      removed.delete(id);
    },
  };
}

export async function startHttpEmulator(options: HttpEmulatorOptions = {}): Promise<CrmEmulator> {
  const { blind = false, authValue = 'Bearer emulated-token' } = options;
  const companies = openCompanies(1_000 + Math.floor((options.seed ?? 0) * 1_000), (id, values) =>
    emulator.onWrite?.(id, values),
  );
  const served = await serveEmulator((request) => {
    const id = idIn(request.url);
    if (id !== undefined && request.method !== 'GET') emulator.onArrival?.([id]);
    const answered = answer(companies, request, { ...options, authValue, blind });
    if (id !== undefined && request.method === 'GET') emulator.onRead?.([id]);
    return answered;
  }, options);
  const url = `${served.url}/companies`;
  const emulator: CrmEmulator = {
    name: 'http',
    url: served.url,
    settings: {
      updateUrl: `${url}/{id}`,
      exportUrl: url,
      ...(!blind && { readUrl: `${url}/{id}`, listUrl: url }),
      authValue,
      rate: { calls: 1_000, perSeconds: 1 },
    },
    add: (properties) => {
      const errors = invalid(properties);
      if (errors !== undefined) throw new Error(`the emulated API refuses ${Object.keys(errors).join(', ')}`);
      return companies.make(properties);
    },
    get: (id) => companies.live.get(id),
    edit: (id, properties) => companies.write(id, { ...companies.held(id), ...properties }),
    remove: companies.remove,
    // This API has no merges: it deletes one of the two.
    merge: (primary, other) => {
      companies.held(primary);
      companies.remove(other);
      return primary;
    },
    restore: companies.restore,
    notes: () => [],
    parent: () => null,
    fault: served.fault,
    calls: served.calls,
    onWrite: undefined,
    onRead: undefined,
    onArrival: undefined,
    close: served.close,
  };
  return emulator;
}

function answer(
  companies: Companies,
  request: EmulatorRequest,
  { authValue, blind, ...options }: HttpEmulatorOptions & Required<Pick<HttpEmulatorOptions, 'authValue' | 'blind'>>,
): EmulatorAnswer {
  const { method, url, headers } = request;
  if (headers.authorization !== authValue) return { status: 401, body: { message: 'who are you?' } };
  if (!url.pathname.startsWith('/companies')) return { status: 404, body: '<html>Not found</html>', headers: HTML };
  const id = idIn(url);
  if (method === 'POST' || method === 'PUT') return take(companies, id, request.body, options);
  if (method !== 'GET' || blind) return { status: 405, body: { message: `${method} is not allowed` } };
  return id === undefined ? list(companies, url.searchParams.get('cursor') ?? '0') : show(companies, id);
}

function idIn({ pathname }: URL): string | undefined {
  const encoded = /^\/companies\/([^/]+)$/.exec(pathname)?.[1];
  return encoded === undefined ? undefined : decodeURIComponent(encoded);
}

function take(
  companies: Companies,
  id: string | undefined,
  body: string,
  { respell, shows }: Pick<HttpEmulatorOptions, 'respell' | 'shows'>,
): EmulatorAnswer {
  const values = flat(body);
  if (values === undefined) return { status: 400, body: { message: 'the body is not flat JSON' } };
  if (id !== undefined && !companies.live.has(id))
    return { status: 404, body: { message: `there is no company ${id}` } };
  const errors = invalid(values);
  if (errors !== undefined) return { status: 422, body: { message: 'not every value is valid', errors } };
  const made = respelled(values, respell);
  if (id === undefined) return add(companies, made);
  companies.write(id, made);
  return shows === true ? show(companies, id) : { status: 204 };
}

function add(companies: Companies, values: Values): EmulatorAnswer {
  const { cvr = null } = values;
  const [holder] = [...companies.live].find(([, company]) => cvr !== null && company['cvr'] === cvr) ?? [];
  if (holder !== undefined) return { status: 409, body: { message: 'the company exists already', id: holder } };
  return { status: 201, body: { id: companies.make(values) } };
}

function show({ live }: Companies, id: string): EmulatorAnswer {
  const company = live.get(id);
  return company === undefined ? { status: 404, body: {} } : { status: 200, body: { ...BLANK, ...company, id } };
}

function list({ live }: Companies, cursor: string): EmulatorAnswer {
  const after = [...live].filter(([id]) => Number(id) > Number(cursor));
  const results = after.slice(0, PAGE).map(([id, values]) => ({ ...BLANK, ...values, id }));
  return { status: 200, body: { results, cursor: after.length > PAGE ? results.at(-1)?.id : null } };
}

const HTML = { 'content-type': 'text/html' };

function flat(body: string): Values | undefined {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
    const entries = Object.entries(json).map(([name, value]: [string, unknown]) => [name, scalar(value)] as const);
    return entries.some(([, value]) => value === undefined)
      ? undefined
      : Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  } catch {
    return undefined;
  }
}

const scalar = (value: unknown): PropertyValue | undefined =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;

/** The refused properties with the reasons; undefined if all are valid. */
function invalid(values: Values): Readonly<Record<string, string>> | undefined {
  const faults = Object.entries(values).flatMap(([name, value]) => {
    const fault = name === 'id' ? undefined : faultOf(KNOWN.get(name), value);
    return fault === undefined ? [] : [[name, fault] as const];
  });
  return faults.length === 0 ? undefined : Object.fromEntries(faults);
}

function faultOf(property: Property | undefined, value: PropertyValue): string | undefined {
  if (property === undefined) return 'is not known';
  if (value === null) return undefined;
  if (property.type === 'number') return typeof value === 'number' ? undefined : 'is no number';
  if (property.type === 'boolean') return typeof value === 'boolean' ? undefined : 'is no flag';
  if (typeof value !== 'string') return 'is no text';
  if (value.length > MAX_TEXT) return `is longer than ${MAX_TEXT} characters`;
  return property.type === 'email' && !value.includes('@') ? 'is no address' : undefined;
}
