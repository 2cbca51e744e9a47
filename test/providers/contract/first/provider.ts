/** A provider for contract 2.0.0, with every ability. It is never edited: what breaks it breaks the providers of others. */
import Type, { type Static } from 'typebox';
import {
  type ChangeHint,
  type Connection,
  defineProvider,
  type Notes,
  type Outcome,
  type Parents,
  type Property,
  type PropertyValue,
  type ProviderContext,
  ProviderError,
  type Read,
  retryAfterMs,
} from '../../../../providers/author.ts';

const Settings = Type.Object(
  {
    baseUrl: Type.String({ pattern: '^https?://', description: 'Address of the API.' }),
    key: Type.String({ minLength: 1, secret: true, description: 'API key.' }),
  },
  { additionalProperties: false },
);

type Values = Readonly<Record<string, PropertyValue>>;
/** A company as Ledger answers for it. */
interface Entry {
  readonly ref: string;
  readonly data?: Values;
  readonly before?: Values;
  readonly problems?: Readonly<Record<string, string>>;
  readonly into?: string;
  readonly erased?: boolean;
}
interface Answer {
  readonly account: { readonly number: number; readonly owner: string };
  readonly columns: readonly { readonly key: string; readonly kind: Property['type']; readonly locked: boolean }[];
  readonly entries: readonly Entry[];
  readonly next: string | null;
  readonly events: readonly { readonly ref: string; readonly data?: Values; readonly into?: string }[];
  readonly edits: readonly {
    readonly ref: string;
    readonly key: string;
    readonly value: PropertyValue;
    readonly at: number;
    readonly who: string;
  }[];
  readonly made: readonly { readonly key: string; readonly isNew: boolean }[];
  readonly denied: readonly ('read' | 'update' | 'create')[];
  readonly rules: readonly { readonly title: string; readonly text: string }[];
  readonly entry: Entry;
  readonly note: string | null;
  readonly above: readonly { readonly ref: string; readonly parent: string | null; readonly erased?: boolean }[];
}
type Ask = <K extends keyof Answer>(path: string, member: K, signal: AbortSignal, body?: object) => Promise<Answer[K]>;

const APP = 'Ledger API';

function asking({ http, now }: ProviderContext, { baseUrl, key }: Static<typeof Settings>): Ask {
  return async (path, member, signal, body = {}) => {
    const headers = { 'x-key': key, 'content-type': 'application/json' };
    const request = { method: 'POST', url: baseUrl + path, headers, signal, body: JSON.stringify(body) } as const;
    const answer = await http(request);
    if (answer.status === 401) throw new ProviderError('auth', 'Ledger refused the key');
    if (answer.status === 429) {
      const wait = retryAfterMs(answer.headers['retry-after'], now()) ?? 5_000;
      throw new ProviderError('rate', 'Ledger accepts no more calls now', { retryAfterMs: wait });
    }
    if (answer.status >= 500) throw new ProviderError('unavailable', `Ledger answered ${answer.status}`);
    if (answer.status >= 400) throw new ProviderError('refused', `Ledger answered ${answer.status}`);
    const given = parsed(answer.body)?.[member];
    if (given === undefined) throw new ProviderError('unavailable', `Ledger answered without ${member}`);
    return given;
  };
}

function parsed(text: string): Answer | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const lost = ({ ref, into }: { readonly ref: string; readonly into?: string }) =>
  into === undefined ? ({ kind: 'gone', id: ref } as const) : ({ kind: 'moved', id: ref, to: into } as const);

const pick = (data: Values, keys: readonly string[]): Values =>
  Object.fromEntries(keys.map((key) => [key, data[key] ?? null]));

const LEFT_OUT = 'Ledger left it out of its answer';

function readOf(id: string, keys: readonly string[], entry: Entry | undefined): Read {
  if (entry === undefined) return { kind: 'retry', id, reason: LEFT_OUT };
  return entry.data === undefined ? lost(entry) : { kind: 'found', id, properties: pick(entry.data, keys) };
}

function outcomeOf(id: string, keys: readonly string[], entry: Entry | undefined): Outcome {
  if (entry === undefined) return { kind: 'retry', id, reason: LEFT_OUT };
  if (entry.problems !== undefined)
    return { kind: 'rejected', id, reason: 'Ledger refused a value', properties: entry.problems };
  if (entry.data === undefined) return lost(entry);
  return { kind: 'written', id, stored: pick(entry.data, keys), replaced: pick(entry.before ?? {}, keys) };
}

const notesOver = (ask: Ask): Notes => ({
  find: async (recordId, marker, since, signal) =>
    (await ask('/notes/find', 'note', signal, { ref: recordId, marker, since })) ?? undefined,
  add: async ({ recordId, at, subject, text, marker }, signal) => {
    const id = await ask('/notes/add', 'note', signal, { ref: recordId, at, text: `${subject}\n${text}`, marker });
    return id === null ? { kind: 'gone' } : { kind: 'written', id };
  },
});

const parentsOver = (ask: Ask): Parents => ({
  read: async (ids, signal) => {
    const above = await ask('/parents/read', 'above', signal, { refs: ids });
    return above.map(({ ref, parent, erased }) =>
      erased === true ? { kind: 'gone', id: ref } : { kind: 'found', id: ref, parent },
    );
  },
  write: async ({ id, parent }, signal) => {
    const [row] = await ask('/parents/write', 'above', signal, { refs: [id], parent });
    return row === undefined || row.erased === true ? { kind: 'gone', id } : { kind: 'written', id };
  },
});

function connectionOver(ask: Ask): Connection {
  const entryOf = (entries: readonly Entry[], id: string) => entries.find(({ ref }) => ref === id);
  const recordsOf = (entries: readonly Entry[], keys: readonly string[]) =>
    entries.map(({ ref, data = {} }) => ({ id: ref, properties: pick(data, keys) }));
  return {
    check: async (signal) => {
      const { number, owner } = await ask('/account', 'account', signal);
      return { id: String(number), name: owner, notes: [], currency: 'DKK' };
    },
    properties: async (signal) =>
      (await ask('/columns', 'columns', signal)).map(({ key, kind, locked }) => ({
        ...{ name: key, label: key, type: kind, writable: !locked },
        ...(locked && { readOnly: 'Ledger calculates it' }),
      })),
    read: async (ids, keys, signal) => {
      const entries = ids.length === 0 ? [] : await ask('/entries/read', 'entries', signal, { refs: ids });
      return ids.map((id) => readOf(id, keys, entryOf(entries, id)));
    },
    update: async (patches, signal) => {
      const asked = patches.map(({ id, properties }) => ({ ref: id, data: properties }));
      const entries = asked.length === 0 ? [] : await ask('/entries/update', 'entries', signal, { entries: asked });
      return patches.map(({ id, properties }) => outcomeOf(id, Object.keys(properties), entryOf(entries, id)));
    },
    scan: async (keys, cursor, signal) => {
      const entries = await ask('/entries/list', 'entries', signal, { after: cursor ?? '' });
      const last = entries.at(-1)?.ref;
      return { records: recordsOf(entries, keys), ...(last !== undefined && { cursor: last }) };
    },
    changes: async (keys, cursor, signal) => {
      const body = { after: cursor ?? null };
      const events = await ask('/events', 'events', signal, body);
      const changeHints = events.flatMap(({ ref, data, into }): readonly ChangeHint[] => {
        if (ref === '') return [];
        if (data !== undefined) return [{ kind: 'seen', id: ref, properties: pick(data, keys) }];
        return [lost({ ref, ...(into !== undefined && { into }) })];
      });
      // The last event of each answer is the place where it ends.
      return { changeHints, cursor: String(events.at(-1)?.data?.['place'] ?? cursor), more: false };
    },
    find: async (key, value, signal) => {
      const entries = await ask('/entries/find', 'entries', signal, { key, value });
      return { records: recordsOf(entries, [key]), sure: true };
    },
    create: async (properties, signal) => {
      const entry = await ask('/entries/add', 'entry', signal, { data: properties });
      const { ref, problems } = entry;
      if (problems !== undefined) return { kind: 'rejected', reason: 'Ledger refused a value', properties: problems };
      return { kind: 'created', id: ref };
    },
    defineProperties: async (definitions, signal) => {
      const made = await ask('/columns/add', 'made', signal, { keys: definitions.map(({ name }) => name) });
      return made.map(({ key, isNew }) => ({ name: key, kind: isNew ? 'created' : 'exists' }));
    },
    rules: async (signal) =>
      (await ask('/rules', 'rules', signal)).map(({ title, text }) => ({ kind: 'required', name: title, about: text })),
    missingRights: async (rights, signal) =>
      (await ask('/denied', 'denied', signal))
        .filter((right) => rights.includes(right))
        .map((right) => ({ right, reason: `allow ${right} for the key` })),
    edits: async (ids, keys, since, signal) => {
      const edits = await ask('/edits', 'edits', signal, { refs: ids, keys, since });
      return edits.map(({ ref, key, value, at, who }) => ({
        ...{ id: ref, property: key, value, at, by: who, own: who === APP },
      }));
    },
    notes: notesOver(ask),
    parents: parentsOver(ask),
  };
}

export const ledger = defineProvider({
  name: 'ledger',
  contract: '2.0.0',
  about: 'Ledger: the companies of one account',
  settings: Settings,
  preset: [{ field: 'name', property: 'title', policy: 'tracked' }],
  definitions: [{ name: 'cvr', label: 'CVR number', type: 'string', unique: true }],
  limits: () => ({
    batch: { read: 25, update: 25 },
    concurrency: 2,
    budgets: { default: { calls: 20, perMs: 1_000 } },
  }),
  observe: ({ headers }) => (headers['x-left'] === undefined ? undefined : { remaining: Number(headers['x-left']) }),
  canonicalId: (text) =>
    /^L-\d+$/.test(text) ? { kind: 'id', id: text } : { kind: 'none', reason: 'an id of Ledger is L- and a number' },
  idInAddress: ({ pathname }) => /\/entry\/(L-\d+)$/.exec(pathname)?.[1],
  webhook: ({ headers }) =>
    headers['x-signature'] === undefined
      ? { kind: 'refused', reason: 'it is not signed' }
      : { kind: 'unreadable', reason: 'it names no company' },
  connect: async (settings, context) => connectionOver(asking(context, settings)),
});
