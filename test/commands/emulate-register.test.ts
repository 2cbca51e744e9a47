import { describe, expect, it, onTestFinished } from 'vitest';
import { type RegisterEmulatorOptions, serveRegister } from '../../src/commands/emulate/register.ts';
import { main } from '../../src/main.ts';

interface Answer {
  readonly hits?: {
    readonly total: unknown;
    readonly hits: readonly {
      readonly sort?: readonly unknown[];
      readonly _source: {
        readonly Vrvirksomhed: { readonly cvrNummer: number; readonly navne: readonly { navn: string }[] };
      };
    }[];
  };
  readonly error?: { readonly type: string; readonly reason: string };
}

async function registerWith(options: RegisterEmulatorOptions = {}) {
  const emulator = await serveRegister({ companies: 12, ...options });
  onTestFinished(() => emulator.close());
  const { username, password } = emulator.settings;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const ask = async (
    body: unknown,
    path = 'virksomhed/_search',
    headers: Record<string, string> = { authorization },
  ) => {
    const answer = await fetch(`${emulator.url}/cvr-permanent/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    // What the emulator answers is checked below.
    return { status: answer.status, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Answer };
  };
  return { emulator, ask };
}

const SORT = [{ 'Vrvirksomhed.sidstIndlaest': 'asc' }, { 'Vrvirksomhed.cvrNummer': 'asc' }];

describe('the emulated register', () => {
  it('asks for a user name and a password', async () => {
    const { ask } = await registerWith();
    expect((await ask({}, 'virksomhed/_search', {})).status).toBe(401);
    expect((await ask({}, 'virksomhed/_search', { authorization: 'Basic eDp5' })).status).toBe(401);
    expect((await ask({})).status).toBe(200);
  });

  it('sorts times as ms and numbers as texts, and pages with search_after', async () => {
    const { ask } = await registerWith();
    const numbers: number[] = [];
    let after: readonly unknown[] | undefined;
    for (;;) {
      const { body } = await ask({ size: 5, sort: SORT, ...(after !== undefined && { search_after: after }) });
      const { hits = [] } = body.hits ?? {};
      if (hits.length === 0) break;
      numbers.push(...hits.map(({ _source }) => _source.Vrvirksomhed.cvrNummer));
      after = hits.at(-1)?.sort;
      expect(after).toEqual([expect.any(Number), expect.any(String)]);
    }
    expect(new Set(numbers).size).toBe(12);
    expect(numbers).toHaveLength(12);
  });

  it.each([
    ['beyond the window', { from: 2_900, size: 101 }, 'query_phase_execution_exception'],
    ['with a query it does not know', { query: { filtered: {} } }, 'parsing_exception'],
    ['with a key it does not know', { filter: {} }, 'parsing_exception'],
    ['sorting a text', { sort: [{ 'Vrvirksomhed.navne.navn': 'asc' }] }, 'illegal_argument_exception'],
    ['with too few values of search_after', { sort: SORT, search_after: [1] }, undefined],
    ['with a number for a text in search_after', { sort: SORT, search_after: [1, 2] }, undefined],
    [
      'with a date that is none',
      { query: { range: { 'Vrvirksomhed.sidstIndlaest': { gte: 'x' } } } },
      'parse_exception',
    ],
    ['with a size that is none', { size: -1 }, 'parsing_exception'],
  ])('refuses to be asked %s', async (_, body, type) => {
    const { ask } = await registerWith();
    const answer = await ask(body);
    expect(answer.status).toBe(400);
    if (type !== undefined) expect(answer.body.error?.type).toBe(type);
  });

  it('knows three indices', async () => {
    const { ask } = await registerWith();
    expect((await ask({}, 'produktionsenhed/_search')).body.hits?.total).toBeGreaterThan(0);
    expect((await ask({}, 'deltager/_search')).body.hits?.total).toBe(0);
    expect((await ask({}, 'andet/_search')).status).toBe(404);
  });

  it('finds numbers by term, and no text; a phrase finds texts', async () => {
    const { ask } = await registerWith();
    const [first] = (await ask({ size: 1 })).body.hits?.hits ?? [];
    const { cvrNummer = 0, navne = [] } = first?._source.Vrvirksomhed ?? {};
    const name = navne[0]?.navn ?? '';
    const total = async (query: object) => (await ask({ query })).body.hits?.total;
    expect(await total({ term: { 'Vrvirksomhed.cvrNummer': cvrNummer } })).toBe(1);
    expect(await total({ terms: { 'Vrvirksomhed.cvrNummer': [String(cvrNummer), '1'] } })).toBe(1);
    expect(await total({ term: { 'Vrvirksomhed.navne.navn': name } })).toBe(0);
    expect(await total({ match_phrase: { 'Vrvirksomhed.navne.navn': name } })).toBeGreaterThan(0);
    expect(
      await total({
        bool: { must: [{ match_all: {} }], must_not: [{ term: { 'Vrvirksomhed.cvrNummer': cvrNummer } }] },
      }),
    ).toBe(11);
  });

  it('changes a company on request, and counts like Elasticsearch 7 on request', async () => {
    const { emulator, ask } = await registerWith({ totals: 'object' });
    const since = Date.now();
    for (let made = 0; made < 5; made++) emulator.change(since + made);
    const recent = { range: { 'Vrvirksomhed.sidstIndlaest': { gte: new Date(since).toISOString() } } };
    expect((await ask({ query: recent })).body.hits?.total).toMatchObject({
      value: expect.any(Number),
      relation: 'eq',
    });
    expect((await ask({ query: recent })).body.hits?.hits.length).toBeGreaterThan(0);
    expect(() => emulator.put({ nothing: 1 })).toThrow('not a document');
  });

  it('runs as a command until it is stopped, and says how to reach it', async () => {
    const stopping = new AbortController();
    const shown = Promise.withResolvers<{ url: string; configuration: object }>();
    const stdout = { write: (text: string) => shown.resolve(JSON.parse(text)) };
    const stderr = { write: (text: string) => shown.reject(new Error(text)) };
    const argv = ['--json', 'emulate', 'register', '--companies', '2'];
    const code = main(argv, { stdout, stderr, env: {}, signal: stopping.signal });
    const { url, configuration } = await shown.promise;
    expect(configuration).toMatchObject({ service: { register: { source: 'cvr', baseUrl: url } } });
    expect((await fetch(url)).status).toBe(401);
    stopping.abort();
    expect(await code).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });
});
