/** One way to break each rule, as authors do it; the rest of the provider stays sound. */
import Type from 'typebox';
import { type Outcome, type Page, type PropertyValue, ProviderError } from '../../../../providers/provider.ts';
import {
  answering,
  connection,
  isReset,
  judging,
  mapped,
  patching,
  recovering,
  refuse,
  refuseReset,
  saying,
  unmarked,
} from './breaking.ts';
import type { Breakage } from './toy.ts';
import { TOKEN } from './toy-crm.ts';

/** Rule → what breaks it and nothing else. */
export const BREAKAGES: Readonly<Record<string, Breakage>> = {
  'whole-provider': { provider: { about: ' ' } },
  'whole-connection': connection(() => ({ scan: undefined as never })),
  'webhook-distrusts': { provider: { webhook: ({ body }) => JSON.parse(new TextDecoder().decode(body)) } },
  'tells-the-account': connection((sound) => ({
    check: async (signal) => ({ ...(await sound.check(signal)), id: '' }),
  })),
  'describes-properties': connection((sound) => ({
    properties: async (signal) => (await sound.properties(signal)).map((each) => ({ ...each, writable: false })),
  })),
  'empty-batch': connection((sound, call) => ({
    update: async (patches, signal) =>
      patches.length === 0 ? call('/update', signal, { patches: [] }).then(() => []) : sound.update(patches, signal),
  })),
  'marks-secrets': {
    provider: {
      settings: Type.Object({ baseUrl: Type.String(), token: Type.String() }, { additionalProperties: false }),
    },
  },
  'closed-settings': {
    provider: { settings: Type.Object({ baseUrl: Type.String(), token: Type.String({ secret: true }) }) },
  },
  'read-only-properties': connection((sound) => ({
    properties: async (signal) => (await sound.properties(signal)).map((each) => ({ ...each, writable: true })),
  })),
  'check-is-cheap': connection((sound, call) => ({
    check: async (signal) => {
      for (let at = 0; at < 10; at += 1) await call('/rules', signal);
      return sound.check(signal);
    },
  })),
  'scans-without-search': connection((_sound, call) => ({
    scan: async (properties, cursor, signal) => {
      const page = await call<Partial<Page>>('/search', signal, { properties, cursor });
      if (page.records === undefined) throw new ProviderError('unavailable', 'the toy answered without records');
      return { ...page, records: page.records };
    },
  })),
  'no-secret-in-addresses': {
    http: (sound) => (request) => sound({ ...request, url: `${request.url}?access=${TOKEN}` }),
  },
  'precondition-guards': {
    http: (sound) => (request) =>
      sound(
        request.url.endsWith('/update') ? { ...request, headers: { ...request.headers, 'If-Match': '*' } } : request,
      ),
  },
  'conflict-is-not-written': answering(({ status }) => status === 409 || status === 412),
  'order-of-reads': connection((sound) => ({
    read: async (ids, names, signal) => (await sound.read(ids, names, signal)).toReversed(),
  })),
  'order-of-outcomes': connection((sound) => ({
    update: async (patches, signal) => (await sound.update(patches, signal)).toReversed(),
  })),
  'leaves-arguments-alone': connection((sound) => ({
    update: async (patches, signal) => {
      const outcomes = await sound.update(patches, signal);
      for (const patch of patches) Object.assign(patch, { id: Number(patch.id) });
      return outcomes;
    },
  })),
  'own-values': connection((sound) => ({
    update: async (patches, signal) => {
      const ids = patches.map(({ id }) => id).toSorted();
      const zipped = ids.map((id, at) => ({ id, properties: patches[at]?.properties ?? {} }));
      const outcomes = await sound.update(zipped, signal);
      return patches.flatMap(({ id }) => outcomes.find((outcome) => outcome.id === id) ?? []);
    },
  })),
  'left-out-is-not-done': connection((sound) => ({
    update: async (patches, signal) => {
      const outcomes = await sound.update(patches, signal);
      return patches.map(({ id }) => outcomes.find((outcome) => outcome.id === id) ?? { kind: 'written', id });
    },
  })),
  'tells-what-stands': judging((outcome) =>
    outcome.kind === 'written' ? { ...outcome, ...(outcome.stored && { replaced: outcome.stored }) } : outcome,
  ),
  // An endpoint of its own for the head count, as some CRMs have one for a part of the record.
  'patch-is-one-write': connection((sound) => ({
    update: async (patches, signal) => {
      const outcomes: Outcome[] = [];
      for (const { id, properties } of patches) {
        const { staff, ...others } = properties;
        const isDivided = staff !== undefined && Object.keys(others).length > 0;
        const parts = isDivided ? [others, { staff }] : [properties];
        let last: readonly Outcome[] = [];
        for (const part of parts) last = await sound.update([{ id, properties: part }], signal);
        outcomes.push(...last);
      }
      return outcomes;
    },
  })),
  amounts: unmarked('turnover', ['money', 'currencyIn']),
  fractions: patching((values) =>
    mapped(values, (value, name) => (name === 'share' && typeof value === 'number' ? value * 100 : value)),
  ),
  'record-address': { provider: { recordAddress: () => 'https://toy.example/companies/1' } },
  'own-site': unmarked('site', ['ownSite']),
  'full-batch': connection((sound) => ({
    update: async (patches, signal) => sound.update(patches.slice(0, 19), signal),
  })),
  'partial-failure': judging((outcome) => (outcome.kind === 'rejected' ? { ...outcome, properties: {} } : outcome)),
  'refused-call': connection((sound) => ({
    update: async (patches, signal) => {
      const outcomes = await sound.update(patches, signal);
      return outcomes.every(({ kind }) => kind !== 'rejected')
        ? outcomes
        : outcomes.map((each) =>
            each.kind === 'written' ? { kind: 'call-refused', id: each.id, reason: 'no' } : each,
          );
    },
  })),
  gone: judging((outcome) =>
    outcome.kind === 'gone' && outcome.id !== '99999'
      ? { kind: 'retry', id: outcome.id, reason: 'not found' }
      : outcome,
  ),
  'never-creates': connection((sound, call) => ({
    update: async (patches, signal) => {
      const outcomes = await sound.update(patches, signal);
      const isNew = outcomes.some(({ kind, id }) => kind === 'gone' && id === '99999');
      if (isNew) await call('/create', signal, { values: patches[0]?.properties });
      return outcomes;
    },
  })),
  'canonical-ids': { provider: { canonicalId: (text) => ({ kind: 'id', id: text.padStart(8, '0') }) } },
  moved: connection((sound) => ({
    update: async (patches, signal) => {
      const outcomes = await sound.update(patches, signal);
      for (const outcome of outcomes)
        if (outcome.kind === 'moved')
          await sound.update([{ id: outcome.to, properties: patches[0]?.properties ?? {} }], signal);
      return outcomes;
    },
  })),
  'scans-all': connection((sound) => ({
    scan: async (names, cursor, signal) => {
      const page = await sound.scan(names, cursor, signal);
      return { ...page, records: page.records.flatMap((each, at) => (at === 49 ? [each, each] : [each])) };
    },
  })),
  'scans-live-values': connection((sound) => ({
    scan: async (names, cursor, signal) => {
      const page = await sound.scan(names, cursor, signal);
      const records = page.records.map(({ id }, at) => ({ id, properties: page.records.at(at - 1)?.properties ?? {} }));
      return { ...page, records };
    },
  })),
  'scans-while-records-change': connection((sound) => ({
    scan: async (names, cursor, signal) => {
      const all = [];
      let from: string | undefined;
      do {
        const page = await sound.scan(names, from, signal);
        all.push(...page.records);
        from = page.cursor;
      } while (from !== undefined);
      const at = Number(cursor ?? 0);
      return { records: all.slice(at, at + 50), ...(at + 50 < all.length && { cursor: String(at + 50) }) };
    },
  })),
  'reads-what-is-asked': connection((sound) => ({
    read: async (ids, names, signal) =>
      (await sound.read(ids, names, signal)).map((read) =>
        read.kind === 'found' ? { ...read, properties: mapped(read.properties, (value) => value ?? '') } : read,
      ),
  })),
  'unicode-and-long-text': patching((values) =>
    mapped(values, (value) => (typeof value === 'string' ? Buffer.from(value, 'latin1').toString('latin1') : value)),
  ),
  // As where every text of a form is trimmed.
  'keeps-blanks': patching((values) => mapped(values, (value) => (typeof value === 'string' ? value.trim() : value))),
  // Losses as accountants write them.
  numbers: patching((values) =>
    mapped(values, (value) => (typeof value === 'number' && value < 0 ? `(${-value})` : value)),
  ),
  'choices-dates-and-flags': connection((sound) => ({
    read: async (ids, names, signal) => {
      const label = (value: PropertyValue, name: string) => (name === 'sector' && value !== null ? 'Farming' : value);
      const reads = await sound.read(ids, names, signal);
      return reads.map((read) =>
        read.kind === 'found' ? { ...read, properties: mapped(read.properties, label) } : read,
      );
    },
  })),
  'clears-with-null': patching((values) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
  ),
  // As where some fields are nested, and what is sent replaces the nest.
  'leaves-absent-alone': patching((values) => ('staff' in values ? { about: null, ...values } : values)),
  'status-401': recovering(
    ({ fault }) => fault === 'auth',
    () => {
      throw new ProviderError('unavailable', 'the toy did not let us in');
    },
  ),
  'status-403': recovering(saying(/403/), () => {
    throw new ProviderError('unavailable', 'the toy would not');
  }),
  'status-429': recovering(
    (error) => error.fault === 'rate' && error.retryAfterMs === 5_000,
    () => {
      throw new ProviderError('rate', 'the toy is tired');
    },
  ),
  'status-429-retry-after': recovering(
    (error) => error.fault === 'rate' && (error.retryAfterMs ?? 0) > 10_000,
    () => {
      throw new ProviderError('rate', 'the toy is tired', { retryAfterMs: 5_000 });
    },
  ),
  'status-5xx': {
    call: (sound) => async (path, signal, body) => {
      try {
        return await sound(path, signal, body);
      } catch (error) {
        if (path === '/update' && error instanceof ProviderError && /answered 502/.test(error.message))
          return sound(path, signal, body);
        throw error;
      }
    },
  },
  'html-success': answering(({ status, body }) => status === 200 && body.startsWith('<')),
  'empty-success': answering(({ status, body }) => status === 200 && body === ''),
  'success-without-results': answering(({ status, body }) => status === 200 && body === '{}'),
  'cut-body': recovering(saying(/cut off/), refuse),
  reset: connection((sound) => ({
    read: (ids, names, signal) => sound.read(ids, names, signal).catch(refuseReset),
    update: (patches, signal) => sound.update(patches, signal).catch(refuseReset),
  })),
  hang: recovering(saying(/too late/), refuse),
  'lost-answer': connection((sound) => {
    const lost = new Set<string>();
    return {
      update: async (patches, signal) => {
        const key = JSON.stringify(patches);
        if (lost.has(key))
          return patches.map(({ id }) => ({ kind: 'rejected', id, reason: 'sent twice', properties: {} }));
        return sound.update(patches, signal).catch((error: unknown) => {
          if (error instanceof ProviderError && /no whole answer/.test(error.message)) lost.add(key);
          throw error;
        });
      },
    };
  }),
  abort: { call: (sound) => (path, _signal, body) => sound(path, new AbortController().signal, body) },
  'no-secret-shown': {
    http: (sound) => async (request) => {
      const answer = await sound(request);
      if (answer.status === 400) throw new ProviderError('refused', `the toy said ${answer.body}`);
      return answer;
    },
  },
  'logs-nothing': connection((sound) => ({
    check: (signal) => {
      const { console: shell } = globalThis;
      shell.warn('checking');
      return sound.check(signal);
    },
  })),
  'nothing-made-up': connection((sound) => ({
    find: async (property, value, signal) => {
      const none = (error: unknown) => {
        if (error instanceof ProviderError && error.fault !== 'unavailable') throw error;
        return undefined;
      };
      return (await sound.find?.(property, value, signal).catch(none)) ?? { records: [], sure: true };
    },
  })),
  'create-names-what-it-refuses': connection((sound) => ({
    create: async (values, signal) => {
      const made = await sound.create?.(values, signal);
      if (made?.kind !== 'created') throw new ProviderError('refused', 'the toy would not');
      return made;
    },
  })),
  'note-lost-answer': connection(({ notes }) => ({
    ...(notes !== undefined && {
      notes: {
        ...notes,
        add: (note, signal) =>
          notes
            .add(note, signal)
            .catch((error: unknown) => (isReset(error) ? notes.add(note, signal) : Promise.reject(error))),
      },
    }),
  })),
  finds: connection((sound) => ({
    find: async (property, value, signal) => {
      const { records } = await sound.scan([property], undefined, signal);
      return { records: records.filter(({ properties }) => String(properties[property]).includes(value)), sure: true };
    },
  })),
  'finds-with-values': connection((sound) => ({
    find: async (property, value, signal) => {
      const { records = [], sure = true } = (await sound.find?.(property, value, signal)) ?? {};
      return { records: records.map(({ id }) => ({ id, properties: {} })), sure };
    },
  })),
  creates: connection(({ create }) => ({
    ...(create !== undefined && { create: (values, signal) => create({ ...values, name: null }, signal) }),
  })),
  'create-lost-answer': connection(({ create }) => ({
    ...(create !== undefined && {
      create: (values, signal) =>
        create(values, signal).catch((error: unknown) =>
          isReset(error) ? create(values, signal) : Promise.reject(error),
        ),
    }),
  })),
  changes: connection((sound) => ({
    changes: async (names, cursor, signal) => {
      const changes = (await sound.changes?.(names, cursor, signal)) ?? { changeHints: [], cursor: '', more: false };
      return { ...changes, changeHints: changes.changeHints.filter(({ kind }) => kind !== 'gone') };
    },
  })),
  edits: connection((sound) => ({
    edits: async (ids, names, since, signal) =>
      ((await sound.edits?.(ids, names, since, signal)) ?? []).map((edit) => ({ ...edit, own: true })),
  })),
  notes: connection(({ notes }) => ({
    ...(notes !== undefined && {
      notes: { ...notes, find: async (id, ...rest) => (await notes.find(id, ...rest)) ?? `${id}/1` },
    }),
  })),
  parents: connection((sound) => ({
    ...(sound.parents !== undefined && {
      parents: {
        ...sound.parents,
        write: async (change, signal) =>
          change.parent === null
            ? { kind: 'written', id: change.id }
            : ((await sound.parents?.write(change, signal)) ?? { kind: 'gone', id: change.id }),
      },
    }),
  })),
  'defines-properties': connection(() => ({
    defineProperties: async (definitions) => definitions.map(({ name }) => ({ name, kind: 'created' })),
  })),
  'removes-properties': connection(() => ({
    removeProperties: async (names) => names.map((name) => ({ name, kind: 'removed' })),
  })),
  'lists-rules': connection(() => ({ rules: async () => [{ kind: 'required', name: '', about: 'the name' }] })),
  'missing-rights': connection(() => ({ missingRights: async () => [] })),
};
