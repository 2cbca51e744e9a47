/** A CRM for the tests of the suite itself: it speaks the contract's own words over HTTP, and has every ability. */

import type { FakeCrm } from '../../../../providers/kit/conformance/lab/subject.ts';
import {
  type EmulatorAnswer,
  type EmulatorRequest,
  serveEmulator,
} from '../../../../providers/kit/emulator/emulator.ts';
import type { PropertyValue, Right } from '../../../../providers/provider.ts';

export const TOKEN = 'toy-secret-token';
const PAGE = 50;
/** Who writes through the API. */
const APP = 'the app';
const TYPES: Readonly<Record<string, string>> = {
  name: 'string',
  about: 'multiline',
  staff: 'number',
  email: 'email',
  sector: 'enumeration',
  founded: 'date',
  seen: 'datetime',
  active: 'boolean',
  turnover: 'number',
  currency: 'string',
  share: 'number',
  site: 'url',
  made: 'datetime',
};
/** What the toy says of some of them beside their type. */
const MARKS: Readonly<Record<string, object>> = {
  turnover: { money: true, currencyIn: 'currency' },
  share: { fraction: true },
  site: { ownSite: true },
  made: { writable: false, readOnly: 'the toy sets it' },
};
const SECTORS = [
  { value: '1', label: 'Farming' },
  { value: '2', label: 'Trade' },
];

type Values = Record<string, PropertyValue>;
/** A body as the toy provider sends it. */
interface Asked {
  readonly ids: readonly string[];
  readonly properties: readonly string[];
  readonly patches: readonly { readonly id: string; readonly properties: Values }[];
  readonly values: Values;
  readonly value: string;
  readonly cursor?: string;
  readonly note: { readonly recordId: string; readonly text: string; readonly marker: string };
  readonly parent: string | null;
}

interface Row {
  readonly history: {
    readonly property: string;
    readonly value: PropertyValue;
    readonly at: number;
    readonly by: string;
  }[];
  values: Values;
  at: number;
  parent: string | null;
  readonly notes: { readonly text: string; readonly marker: string }[];
}

export async function startToyCrm(): Promise<FakeCrm> {
  const rows = new Map<string, Row>();
  const survivors = new Map<string, string>();
  const defined = new Set<string>();
  const losses: { readonly at: number; readonly id: string }[] = [];
  let last = 1_000;
  let clock = 0;
  const tick = () => {
    clock += 1;
    return clock;
  };
  const make = (values: Values): string => {
    last += 1;
    const blank = Object.fromEntries(Object.keys(TYPES).map((name) => [name, null]));
    rows.set(String(last), { values: { ...blank, ...values }, at: tick(), parent: null, notes: [], history: [] });
    return String(last);
  };
  const lost = (id: string) => {
    const to = survivors.get(id);
    return to === undefined ? { kind: 'gone', id } : { kind: 'moved', id, to };
  };
  const lose = (id: string) => {
    rows.delete(id);
    losses.push({ at: tick(), id });
  };
  const picked = (row: Row, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, row.values[name] ?? null]));
  const write = (id: string, properties: Values, by = APP) => {
    const row = rows.get(id);
    if (row === undefined) return lost(id);
    if (properties['email'] === 'no address') {
      const reason = 'is no address';
      return { kind: 'rejected', id, reason, properties: { email: reason } };
    }
    for (const [property, value] of Object.entries(properties))
      row.history.push({ property, value, at: Date.now(), by });
    const replaced = picked(row, Object.keys(properties));
    // In place, as an author's fake may do it: whoever looked before sees the change.
    Object.assign(row.values, properties);
    row.at = tick();
    return { kind: 'written', id, replaced, stored: picked(row, Object.keys(properties)) };
  };

  const versionOf = (ids: readonly string[]) => `"${ids.map((id) => rows.get(id)?.at ?? 0).join('-')}"`;
  const withheld: Right[] = [];
  const routes: Readonly<Record<string, (asked: Asked) => unknown>> = {
    'GET /me': () => ({ id: '7', name: 'Toy', notes: [] }),
    'GET /properties': () =>
      Object.entries(TYPES).map(([name, type]) => ({
        name,
        label: name,
        type,
        writable: true,
        ...(name === 'sector' && { options: SECTORS }),
        ...MARKS[name],
      })),
    'POST /read': ({ ids, properties }) => ({
      results: ids.map((id) => {
        const row = rows.get(id);
        return row === undefined ? lost(id) : { kind: 'found', id, properties: picked(row, properties) };
      }),
    }),
    'POST /versions': ({ ids }) => ({ version: versionOf(ids) }),
    'POST /update': ({ patches }) => ({ results: patches.map(({ id, properties }) => write(id, properties)) }),
    'POST /scan': ({ properties, cursor = '0' }) => {
      const after = [...rows].filter(([id]) => Number(id) > Number(cursor));
      const page = after.slice(0, PAGE);
      const next = after.length > PAGE ? { cursor: page.at(-1)?.[0] } : {};
      return { records: page.map(([id, row]) => ({ id, properties: picked(row, properties) })), ...next };
    },
    // The same in pages, as a search has them: it would end after 10,000.
    'POST /search': (asked) => routes['POST /scan']?.(asked),
    'POST /find': ({ properties: [property = ''], value }) => {
      const found = [...rows].filter(([, row]) => String(row.values[property]) === value);
      return { records: found.map(([id, row]) => ({ id, properties: row.values })), sure: true };
    },
    'POST /create': ({ values }) =>
      values['email'] === 'no address'
        ? { kind: 'rejected', reason: 'a bad value', properties: { email: 'is no address' } }
        : { kind: 'created', id: make(values) },
    'POST /changes': ({ properties, cursor }) => {
      const since = cursor === undefined ? clock : Number(cursor);
      const seen = [...rows].filter(([, row]) => row.at > since).sort(([, a], [, b]) => a.at - b.at);
      const changeHints = seen.map(([id, row]) => ({ kind: 'seen', id, properties: picked(row, properties) }));
      const lately = losses.filter(({ at }) => at > since).map(({ id }) => lost(id));
      return { changeHints: [...changeHints, ...lately], cursor: String(clock), more: false };
    },
    'POST /edits': ({ ids, properties }) => ({
      results: ids.flatMap((id) =>
        (rows.get(id)?.history ?? [])
          .filter(({ property }) => properties.includes(property))
          .map((edit) => ({ id, ...edit, own: edit.by === APP })),
      ),
    }),
    'POST /note': ({ note }) => {
      const row = rows.get(note.recordId);
      if (row === undefined) return { kind: 'gone' };
      return { kind: 'written', id: `${note.recordId}/${row.notes.push({ text: note.text, marker: note.marker })}` };
    },
    'POST /find-note': ({ ids: [id = ''], value }) => {
      const at = rows.get(id)?.notes.findIndex(({ marker }) => marker === value) ?? -1;
      return { id: at < 0 ? null : `${id}/${at + 1}` };
    },
    'POST /parents': ({ ids }) => ({
      results: ids.map((id) => {
        const row = rows.get(id);
        return row === undefined ? lost(id) : { kind: 'found', id, parent: row.parent };
      }),
    }),
    'POST /parent': ({ ids: [id = ''], parent }) => {
      const row = rows.get(id);
      if (row === undefined) return lost(id);
      row.parent = parent;
      return { kind: 'written', id };
    },
    'POST /define': ({ properties }) => ({
      results: properties.map((name) => {
        const kind = defined.has(name) ? 'exists' : 'created';
        defined.add(name);
        return { name, kind };
      }),
    }),
    'POST /remove': ({ properties }) => ({
      results: properties.map((name) => ({ name, kind: defined.delete(name) ? 'removed' : 'absent' })),
    }),
    'GET /withheld': () => ({ results: withheld.map((right) => ({ right, reason: `ask for ${right}` })) }),
    'GET /rules': () => [{ kind: 'required', name: 'name', about: 'a company has a name' }],
  };

  const answer = ({ method, url, headers, body }: EmulatorRequest): EmulatorAnswer => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401 };
    const route = routes[`${method} ${url.pathname}`];
    if (route === undefined) return { status: 404 };
    const asked = body === '' ? {} : JSON.parse(body);
    const version = headers['if-match'] ?? '*';
    const isCurrent = version === '*' || version === versionOf(asked.patches.map(({ id }: { id: string }) => id));
    return isCurrent ? { status: 200, body: route(asked) } : { status: 412 };
  };
  const served = await serveEmulator(answer);
  return {
    settings: { baseUrl: served.url, token: TOKEN },
    add: make,
    get: (id) => rows.get(id)?.values,
    remove: lose,
    edit: (id, properties, by = 'somebody') => void write(id, { ...properties }, by),
    merge: (primary, other) => {
      survivors.set(other, primary);
      lose(other);
      return primary;
    },
    notes: (id) => rows.get(id)?.notes.map(({ text }) => text) ?? [],
    parent: (id) => rows.get(id)?.parent ?? null,
    withhold: (right) => void withheld.push(right),
    fault: served.fault,
    close: served.close,
  };
}
