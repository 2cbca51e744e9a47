import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { conformance, judge } from '../../../../providers/kit/conformance/conformance.ts';
import type { Subject } from '../../../../providers/kit/conformance/lab/subject.ts';
import { type Connection, type Outcome, ProviderError, type Read } from '../../../../providers/provider.ts';
import { ALL } from '../../../support/all.ts';
import { readDoc, tableIn } from '../../../support/docs.ts';
import { BREAKAGES } from './breakages.ts';
import { type Breakage, toyProvider, toySubject } from './toy.ts';
import { TOKEN } from './toy-crm.ts';

const broken = async (subject: Subject, only?: readonly string[]): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { name, kind } of judge(subject, undefined, only)) if (kind === 'broken') names.push(name);
  return names;
};

/** Every update with the version of its records; `judge` says what an update becomes that the toy did not take for it. */
const conditionally =
  (judge: (outcome: Outcome) => Outcome): NonNullable<Breakage['http']> =>
  (sound) =>
  async (request) => {
    if (!request.url.endsWith('/update')) return sound(request);
    const ids: readonly string[] = JSON.parse(request.body ?? '').patches.map(({ id }: { id: string }) => id);
    const url = request.url.replace('/update', '/versions');
    const versions = await sound({ ...request, url, body: JSON.stringify({ ids }) });
    if (!versions.body.startsWith('{"version"')) return versions;
    const headers = { ...request.headers, 'if-match': JSON.parse(versions.body).version };
    const answer = await sound({ ...request, headers });
    if (answer.status !== 412) return answer;
    const results = ids.map((id) => judge({ kind: 'retry', id, reason: 'edited in between' }));
    return { ...answer, status: 200, body: JSON.stringify({ results }) };
  };

const raw = (answer: unknown) => async () => answer as never;
const fixture = (name: string): string => new URL(`./imports/${name}.ts`, import.meta.url).href;

describe('the conformance suite', () => {
  // One of the broken providers prints, as it should not.
  beforeEach(() => void vi.spyOn(globalThis.console, 'warn').mockImplementation(() => {}));
  afterEach(() => void vi.restoreAllMocks());

  it('finds nothing wrong with a sound provider that has every ability', async () => {
    const verdicts = [];
    for await (const result of judge(toySubject(toyProvider(), fixture('quiet')))) verdicts.push(result);
    expect(verdicts.filter(({ kind }) => kind !== 'kept')).toEqual([]);
    expect(new Set(verdicts.map(({ name }) => name)).size).toBe(verdicts.length);
  });

  // That no other rule speaks up takes the whole suite for each: by night.
  it.each(Object.entries(BREAKAGES))('catches a provider that breaks %s by that rule alone', async (rule, breakage) => {
    expect(await broken(toySubject(toyProvider(breakage)), ALL ? undefined : [rule])).toEqual([rule]);
  });

  it('is listed in the documents rule by rule', () => {
    const rules = conformance(toySubject(toyProvider())).map(({ name, about }) => [`\`${name}\``, about]);
    expect(tableIn(readDoc('providers/README.md'), 'Rule', 'Requires').map((row) => Object.values(row))).toEqual(rules);
  });

  it('is proven rule by rule', () => {
    const rules = conformance(toySubject(toyProvider())).map(({ name }) => name);
    expect([...Object.keys(BREAKAGES), 'opens-nothing-on-import'].sort()).toEqual([...rules].sort());
  });

  it.each([
    ['leaves a timer', 'timer', /Timeout/],
    ['throws', 'throws', /no licence/],
  ])('catches a module that %s on import', async (_what, name, seen) => {
    const checks = conformance(toySubject(toyProvider(), fixture(name)));
    await expect(checks.find((check) => check.name === 'opens-nothing-on-import')?.run()).rejects.toThrow(seen);
  });

  it.each<readonly [string, Breakage, string, string]>([
    [
      'no connection',
      { provider: { connect: raw(undefined) } },
      'whole-connection',
      'connect gave nothing as the connection: it is an object with check',
    ],
    [
      'notes without verbs',
      { connection: () => ({ notes: {} as never }) },
      'whole-connection',
      'the connection with nothing as notes.find: it is a function',
    ],
    [
      'no limits',
      { provider: { limits: () => undefined as never } },
      'whole-provider',
      'limits gave nothing as limits: they are an object',
    ],
    [
      'an error',
      { provider: { connect: () => Promise.reject(new TypeError('no key')) } },
      'whole-connection',
      "threw something other than a ProviderError: 'no key'",
    ],
  ])('reports once what is wrong with a provider that opens with %s', async (_what, breakage, rule, seen) => {
    const subject = toySubject(toyProvider(breakage));
    const details: (string | undefined)[] = [];
    const others = new Map<string, string | undefined>();
    for await (const { name, kind, detail } of judge(subject))
      if (kind === 'broken') details.push(name, detail);
      else others.set(name, `${kind} ${detail}`);
    expect(details).toEqual([rule, expect.stringContaining(seen)]);
    expect(others.get('status-429')).toMatch(/^skipped there is no connection to try it on: see the broken rule above/);
    // A rule that is tried by itself must not pass for one that is kept.
    for await (const { kind } of judge(subject, undefined, ['status-429'])) expect(kind).toBe('broken');
  });

  it('catches a provider that reports an existing right as missing', async () => {
    const cautious = toyProvider({
      connection: () => ({ missingRights: async () => [{ right: 'update', reason: 'perhaps' }] }),
    });
    expect(await broken(toySubject(cautious))).toEqual(['missing-rights']);
  });

  it('tries merges and parents of a provider that takes one record a call', async () => {
    const limits = { batch: { read: 1, update: 1 }, concurrency: 2, budgets: { default: { calls: 9, perMs: 9 } } };
    const one = (breakage: Breakage = {}) =>
      toySubject(toyProvider({ ...breakage, provider: { limits: () => limits } }));
    expect(await broken(one())).toEqual([]);
    expect(await broken(one(BREAKAGES['moved']))).toEqual(['moved']);
    expect(await broken(one(BREAKAGES['parents']))).toEqual(['parents']);
  });

  it('catches reads in the wrong order even if a few records are right, or only one is written a call', async () => {
    const budgets = { default: { calls: 9, perMs: 9 } };
    const limits = () => ({ batch: { read: 20, update: 1 }, concurrency: 2, budgets });
    // A page of ten, then the rest: as a provider that asks in parts and joins them as they come.
    const inParts: Breakage['connection'] = (sound) => ({
      read: async (ids, names, signal) => {
        const all = await sound.read(ids, names, signal);
        return [...all.slice(10), ...all.slice(0, 10)];
      },
    });
    expect(await broken(toySubject(toyProvider({ provider: { limits }, connection: inParts })))).toEqual([
      'order-of-reads',
    ]);
  });

  it.each([
    [
      'writes a record beside its batch',
      (sound: Connection): Partial<Connection> => ({
        update: async (patches, signal) => {
          const outcomes = await sound.update(patches, signal);
          const ids = patches.map(({ id }) => id);
          const next = String(Math.max(...ids.map(Number)) + 1);
          const isAllWell = outcomes.length > 0 && outcomes.every(({ kind }) => kind === 'written');
          if (isAllWell && !ids.includes(next))
            await sound.update([{ id: next, properties: patches[0]?.properties ?? {} }], signal);
          return outcomes;
        },
      }),
    ],
    [
      "reads records with each other's values",
      (sound: Connection): Partial<Connection> => ({
        read: async (ids, names, signal) => {
          const reads = await sound.read(ids.toSorted(), names, signal);
          return ids.flatMap((id, at): readonly Read[] => {
            const read = reads[at];
            return read === undefined ? [] : [{ ...read, id }];
          });
        },
      }),
    ],
  ])('catches a provider that %s', async (_what, connection) => {
    const checks = conformance(toySubject(toyProvider({ connection })));
    await expect(checks.find(({ name }) => name === 'own-values')?.run()).rejects.toThrow(/own-values/);
  });

  it.each([
    ['ids', { read: async (ids: readonly string[]) => void (ids as string[]).reverse() }],
    [
      'names',
      { read: async (_ids: readonly string[], names: readonly string[]) => void (names as string[]).splice(0) },
    ],
  ])('catches a read that changes its %s in place', async (what, { read }) => {
    const changing = toyProvider({
      connection: (sound) => ({
        read: async (ids, names, signal) => {
          const reads = await sound.read(ids, names, signal);
          await read(ids, names);
          return reads;
        },
      }),
    });
    const checks = conformance(toySubject(changing));
    await expect(checks.find(({ name }) => name === 'leaves-arguments-alone')?.run()).rejects.toThrow(
      `the ${what} after the verbs`,
    );
  });

  it('catches an error that shows a secret encoded as in a header of user and password', async () => {
    const shows = toyProvider({
      http: (sound) => async (request) => {
        const answer = await sound(request);
        const header = `Basic ${Buffer.from(`user:${TOKEN}`).toString('base64')}`;
        if (answer.status === 400) throw new ProviderError('refused', `the toy refused ${header}`);
        return answer;
      },
    });
    expect(await broken(toySubject(shows))).toEqual(['no-secret-shown']);
  });

  it('names the rule, the finding and its importance', async () => {
    const checks = conformance(toySubject(toyProvider(BREAKAGES['order-of-outcomes'])));
    await expect(checks.find(({ name }) => name === 'order-of-outcomes')?.run()).rejects.toThrow(
      /^order-of-outcomes: .*expected.*\n {2}The rule: .*\n {2}Why it matters: /,
    );
  });

  it('catches a find that is sure of a lagging index', async () => {
    const asked = new Set<string>();
    const late = toyProvider({
      connection: ({ find }) => ({
        ...(find !== undefined && {
          find: async (property, value, signal) => {
            const search = await find(property, value, signal);
            const isNew = !asked.has(value);
            asked.add(value);
            return isNew ? { ...search, records: [] } : search;
          },
        }),
      }),
    });
    const checks = conformance(toySubject(late));
    await expect(checks.find(({ name }) => name === 'finds')?.run()).rejects.toThrow(/says that it is sure/);
  });

  it('catches changes whose pages count positions', async () => {
    const counted = toyProvider({
      connection: ({ changes }) => ({
        ...(changes !== undefined && {
          changes: async (names, cursor, signal) => {
            const [since, start = '0'] = cursor?.split(':') ?? [];
            const all = await changes(names, since, signal);
            const end = Number(start) + 50;
            const more = all.changeHints.length > end;
            const changeHints = all.changeHints.slice(Number(start), end);
            return { changeHints, more, cursor: more ? `${since}:${end}` : all.cursor };
          },
        }),
      }),
    });
    const checks = conformance(toySubject(counted));
    await expect(checks.find(({ name }) => name === 'changes')?.run()).rejects.toThrow(/changes left out/);
  });

  it('names the file and line of a bug', async () => {
    const scan = async () => {
      throw new TypeError('companies is not iterable');
    };
    const checks = conformance(toySubject(toyProvider({ connection: () => ({ scan }) })));
    await expect(checks.find(({ name }) => name === 'scans-all')?.run()).rejects.toThrow(
      /'companies is not iterable' at conformance\/conformance\.test\.ts:\d+\n/,
    );
  });

  it('allows an update to read versions first, as for conditional writes', async () => {
    expect(await broken(toySubject(toyProvider({ http: conditionally((edited) => edited) })))).toEqual([]);
  });

  it('catches a conditional write that treats an edit in between as its own success', async () => {
    const http = conditionally(({ id }) => ({ kind: 'written', id }));
    const checks = conformance(toySubject(toyProvider({ http })));
    const rule = checks.find(({ name }) => name === 'precondition-guards');
    await expect(rule?.run()).rejects.toThrow("the outcome of its patch: expected 'retry', got 'written'");
  });

  it('catches a scan by the search of an unsure find, whatever the subject says', async () => {
    const lagging: Breakage['connection'] = (sound, call) => ({
      find: async (property, value, signal) => {
        await call('/search', signal, { properties: [property] });
        return { records: (await sound.find?.(property, value, signal))?.records ?? [], sure: false };
      },
      scan: (properties, cursor, signal) => call('/search', signal, { properties, cursor }),
    });
    const subject = toySubject(toyProvider({ connection: lagging }));
    const { search: _, ...calls } = subject.calls;
    const rule = conformance({ ...subject, calls }).find(({ name }) => name === 'scans-without-search');
    await expect(rule?.run()).rejects.toThrow("the scan called 'POST /search', which is a search");
  });

  it('names the setting whose members are open', async () => {
    const auth = Type.Union([Type.Object({ user: Type.String() }), Type.Null()]);
    const settings = Type.Object(
      { baseUrl: Type.String(), auth: Type.Optional(auth) },
      { additionalProperties: false },
    );
    const checks = conformance(toySubject(toyProvider({ provider: { settings } })));
    const rule = checks.find(({ name }) => name === 'closed-settings');
    await expect(rule?.run()).rejects.toThrow('the setting auth accepts members');
  });

  it('skips what the CRM lacks, and says why', async () => {
    const subject = { ...toySubject(toyProvider()), lacks: { merge: 'the toy never merges' } };
    const skipped = conformance(subject).filter(({ skip }) => skip !== false);
    expect(skipped.map(({ name, skip }) => [name, skip])).toEqual([['moved', 'the toy never merges']]);
  });

  it('does not try abilities that a connection lacks', async () => {
    const plain = toyProvider();
    const five = {
      ...plain,
      connect: async (...args: Parameters<typeof plain.connect>) => {
        const whole = await plain.connect(...args);
        return {
          check: whole.check,
          properties: whole.properties,
          read: whole.read,
          update: whole.update,
          scan: whole.scan,
        };
      },
    };
    const absent: string[] = [];
    for await (const { name, kind } of judge(toySubject(five))) if (kind === 'absent') absent.push(name);
    expect(absent).toEqual([
      'opens-nothing-on-import',
      'create-names-what-it-refuses',
      'note-lost-answer',
      'finds',
      'finds-with-values',
      'creates',
      'create-lost-answer',
      'changes',
      'edits',
      'notes',
      'parents',
      'defines-properties',
      'removes-properties',
      'lists-rules',
      'missing-rights',
    ]);
  });
});
