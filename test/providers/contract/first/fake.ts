/** Ledger on this machine, for the suite, as its author wrote it for contract 2.0.0. It is never edited. */
import {
  defineSubject,
  type EmulatorAnswer,
  type EmulatorRequest,
  type FakeCrm,
  type PropertyValue,
  serveEmulator,
} from '../../../../providers/testing.ts';
import { ledger } from './provider.ts';

const KEY = 'a-key-of-ledger';
const PAGE = 100;
const COLUMNS = { title: 'string', story: 'multiline', people: 'number', mail: 'email', opened: 'date', size: 'other' };

type Values = Readonly<Record<string, PropertyValue>>;
interface Asked {
  readonly refs: readonly string[];
  readonly entries: readonly { readonly ref: string; readonly data: Values }[];
  readonly data: Values;
  readonly key: string;
  readonly keys: readonly string[];
  readonly value: string;
  readonly after: string | null;
  readonly since: number;
  readonly ref: string;
  readonly marker: string;
  readonly text: string;
  readonly parent: string | null;
}
interface Edit {
  readonly ref: string;
  readonly key: string;
  readonly value: PropertyValue;
  readonly at: number;
  readonly who: string;
}

async function start(): Promise<FakeCrm> {
  const rows = new Map<string, Values>();
  const survivors = new Map<string, string>();
  const parents = new Map<string, string>();
  const notes: { readonly ref: string; readonly marker: string; readonly text: string }[] = [];
  const touched: string[] = [];
  const edits: Edit[] = [];
  const columns = new Set<string>();
  const denied: string[] = [];
  let last = 100;

  const put = (ref: string, data: Values, who: string) => {
    rows.set(ref, { ...rows.get(ref), ...data });
    touched.push(ref);
    for (const [key, value] of Object.entries(data)) edits.push({ ref, key, value, at: Date.now(), who });
  };
  const add = (data: Values, who: string): string => {
    last += 1;
    put(`L-${last}`, data, who);
    return `L-${last}`;
  };
  const lost = (ref: string) => {
    const into = survivors.get(ref);
    return into === undefined ? { ref, erased: true } : { ref, into };
  };
  const one = (ref: string) => (rows.has(ref) ? { ref, data: rows.get(ref) } : lost(ref));
  const problemIn = ({ mail }: Values) =>
    mail === undefined || mail === null || String(mail).includes('@') ? undefined : { mail: 'is no address' };
  const update = ({ ref, data }: { readonly ref: string; readonly data: Values }) => {
    const before = rows.get(ref);
    const problems = problemIn(data);
    if (before === undefined) return lost(ref);
    if (problems !== undefined) return { ref, problems };
    put(ref, data, 'Ledger API');
    return { ref, before, data: rows.get(ref) };
  };
  const drop = (ref: string) => {
    rows.delete(ref);
    touched.push(ref);
  };
  const above = (ref: string) =>
    rows.has(ref) ? { ref, parent: parents.get(ref) ?? null } : { ref, parent: null, erased: true };

  const routes: Readonly<Record<string, (asked: Asked) => object>> = {
    '/account': () => ({ account: { number: 7, owner: 'Fake account' } }),
    '/columns': () => ({
      columns: Object.entries(COLUMNS).map(([key, kind]) => ({ key, kind, locked: key === 'size' })),
    }),
    '/entries/read': ({ refs }) => ({ entries: refs.map(one) }),
    '/entries/update': ({ entries }) => ({ entries: entries.map(update) }),
    '/entries/list': ({ after }) => {
      const number = (ref: string) => Number(ref.slice('L-'.length));
      const rest = [...rows.keys()].filter((ref) => after === '' || number(ref) > number(after ?? ''));
      return { entries: rest.slice(0, PAGE).map(one) };
    },
    '/events': ({ after }) => {
      const since = after === null ? touched.length : Number(after);
      const place = { ref: '', data: { place: touched.length } };
      return { events: [...[...new Set(touched.slice(since))].map(one), place] };
    },
    '/entries/find': ({ key, value }) => {
      const holders = [...rows].filter(([, data]) => String(data[key] ?? '') === value);
      return { entries: holders.slice(0, 10).map(([ref, data]) => ({ ref, data })) };
    },
    '/entries/add': ({ data }) => {
      const problems = problemIn(data);
      return { entry: problems === undefined ? { ref: add(data, 'Ledger API') } : { ref: '', problems } };
    },
    '/columns/add': ({ keys }) => ({
      made: keys.map((key) => {
        const isNew = !columns.has(key);
        columns.add(key);
        return { key, isNew };
      }),
    }),
    '/rules': () => ({ rules: [{ title: 'title', text: 'a company has a title' }] }),
    '/denied': () => ({ denied }),
    '/edits': ({ refs, keys, since }) => ({
      edits: edits.filter(({ ref, key, at }) => refs.includes(ref) && keys.includes(key) && at > since),
    }),
    '/notes/add': ({ ref, marker, text }) =>
      rows.has(ref) ? { note: `N-${notes.push({ ref, marker, text })}` } : { note: null },
    '/notes/find': ({ ref, marker }) => {
      const at = notes.findIndex((note) => note.ref === ref && note.marker === marker);
      return { note: at < 0 ? null : `N-${at + 1}` };
    },
    '/parents/read': ({ refs }) => ({ above: refs.map(above) }),
    '/parents/write': ({ refs, parent }) => {
      for (const ref of refs)
        if (parent === null) parents.delete(ref);
        else parents.set(ref, parent);
      return { above: refs.map(above) };
    },
  };
  const answer = ({ headers, url, body }: EmulatorRequest): EmulatorAnswer => {
    if (headers['x-key'] !== KEY) return { status: 401 };
    const route = routes[url.pathname];
    return route === undefined ? { status: 404 } : { status: 200, body: route(JSON.parse(body)) };
  };

  const served = await serveEmulator(answer);
  return {
    settings: { baseUrl: served.url, key: KEY },
    add: (data) => add(data, 'Anna Holm'),
    get: (ref) => rows.get(ref),
    remove: drop,
    edit: (ref, data, by = 'Anna Holm') => put(ref, data, by),
    merge(primary, other) {
      survivors.set(other, primary);
      drop(other);
      return primary;
    },
    notes: (id) => notes.filter(({ ref }) => ref === id).map(({ text }) => text),
    parent: (ref) => parents.get(ref) ?? null,
    withhold: (right) => void denied.push(right),
    fault: served.fault,
    close: served.close,
  };
}

export const subject = defineSubject({
  provider: ledger,
  module: new URL('./provider.ts', import.meta.url).href,
  start,
  secrets: [KEY],
  properties: { text: 'title', long: 'story', number: 'people', date: 'opened' },
  refused: { property: 'mail', value: 'no address' },
  readOnly: 'size',
  absentId: 'L-99999',
  hangMs: 80,
  calls: { read: 'POST /entries/read', update: 'POST /entries/update', create: 'POST /entries/add' },
});
