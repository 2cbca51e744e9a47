/** An emulated API of one's own on loopback: companies as flat JSON, to be exported, updated, read and listed. */
import {
  type CrmEmulator,
  type EmulatorAnswer,
  type EmulatorOptions,
  type EmulatorRequest,
  serveEmulator,
} from '../../emulator.ts';
import type { Property, PropertyValue } from '../../provider.ts';
import { propertiesOf } from '../properties.ts';

export interface HttpEmulatorOptions extends EmulatorOptions {
  /** True for an API that takes companies and tells nothing: neither read nor list. */
  readonly blind?: boolean;
  /** Value of the Authorization header. */
  readonly authValue?: string;
}

type Values = Readonly<Record<string, PropertyValue>>;

const PAGE = 100;
const MAX_TEXT = 10_000;
const KNOWN = propertiesOf({ properties: [] });
/** What a company shows where nothing is in it. */
const BLANK: Values = Object.fromEntries([...KNOWN.keys()].map((name) => [name, null]));

export async function startHttpEmulator(options: HttpEmulatorOptions = {}): Promise<CrmEmulator> {
  const { blind = false, authValue = 'Bearer emulated-token' } = options;
  const live = new Map<string, Values>();
  const removed = new Map<string, Values>();
  let last = 1_000 + Math.floor((options.seed ?? 0) * 1_000);

  const write = (id: string, values: Values): void => {
    const { id: _id, ...properties } = values;
    const merged = Object.entries({ ...live.get(id), ...properties }).filter(([, value]) => value !== null);
    live.set(id, Object.fromEntries(merged));
    emulator.onWrite?.(id, { ...properties });
  };
  const make = (values: Values): string => {
    last += 1;
    const id = String(last);
    write(id, values);
    return id;
  };

  const update = (id: string, values: Values): EmulatorAnswer => {
    if (!live.has(id)) return { status: 404, body: { message: `there is no company ${id}` } };
    const errors = invalid(values);
    if (errors !== undefined) return { status: 422, body: { message: 'not every value is valid', errors } };
    write(id, values);
    return { status: 204 };
  };
  const add = (values: Values): EmulatorAnswer => {
    const errors = invalid(values);
    if (errors !== undefined) return { status: 422, body: { message: 'not every value is valid', errors } };
    const { cvr = null } = values;
    const [holder] = [...live].find(([, company]) => cvr !== null && company['cvr'] === cvr) ?? [];
    if (holder !== undefined) return { status: 409, body: { message: 'the company is here already', id: holder } };
    return { status: 201, body: { id: make(values) } };
  };
  const list = (cursor: string): EmulatorAnswer => {
    const after = [...live].filter(([id]) => Number(id) > Number(cursor));
    const results = after.slice(0, PAGE).map(([id, values]) => ({ ...BLANK, ...values, id }));
    return { status: 200, body: { results, cursor: after.length > PAGE ? results.at(-1)?.id : null } };
  };

  const answer = ({ method, url, headers, body }: EmulatorRequest): EmulatorAnswer => {
    if (headers.authorization !== authValue) return { status: 401, body: { message: 'who are you?' } };
    const [, id] = /^\/companies(?:\/([^/]+))?$/.exec(url.pathname) ?? ['', undefined];
    if (!url.pathname.startsWith('/companies')) return { status: 404, body: '<html>Not found</html>', headers: HTML };
    const isSent = method === 'POST' || method === 'PUT';
    if (isSent) {
      const values = flat(body);
      if (values === undefined) return { status: 400, body: { message: 'the body is no flat JSON' } };
      return id === undefined ? add(values) : update(decodeURIComponent(id), values);
    }
    if (method !== 'GET' || blind) return { status: 405, body: { message: `${method} is not allowed` } };
    if (id === undefined) return list(url.searchParams.get('cursor') ?? '0');
    const company = live.get(decodeURIComponent(id));
    return company === undefined ? { status: 404, body: {} } : { status: 200, body: { ...BLANK, ...company, id } };
  };

  const served = await serveEmulator(answer, options);
  const companies = `${served.url}/companies`;
  const held = (id: string): Values => {
    const values = live.get(id);
    if (values === undefined) throw new Error(`the emulated API has no company ${id}`);
    return values;
  };
  const remove = (id: string): void => {
    removed.set(id, held(id));
    live.delete(id);
  };
  const emulator: CrmEmulator = {
    name: 'http',
    url: served.url,
    settings: {
      updateUrl: `${companies}/{id}`,
      exportUrl: companies,
      ...(!blind && { readUrl: `${companies}/{id}`, listUrl: companies }),
      authValue,
      rate: { calls: 1_000, perSeconds: 1 },
    },
    add: (properties) => {
      const errors = invalid(properties);
      if (errors !== undefined) throw new Error(`the emulated API refuses ${Object.keys(errors).join(', ')}`);
      return make(properties);
    },
    get: (id) => live.get(id),
    edit: (id, properties) => write(id, { ...held(id), ...properties }),
    remove,
    // Such an API knows no merges: one of the two is deleted.
    merge: (primary, other) => {
      held(primary);
      remove(other);
      return primary;
    },
    restore: (id) => {
      const values = removed.get(id);
      if (values !== undefined) live.set(id, values);
      removed.delete(id);
    },
    notes: () => [],
    parent: () => null,
    fault: served.fault,
    calls: served.calls,
    onWrite: undefined,
    close: served.close,
  };
  return emulator;
}

const HTML = { 'content-type': 'text/html' };

/** The body's values; undefined where it is not flat JSON. */
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

/** Property → why it is not taken; undefined where all is well. */
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
