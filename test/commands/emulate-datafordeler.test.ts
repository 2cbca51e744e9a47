import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type DatafordelerEmulator,
  type DatafordelerEmulatorOptions,
  serveDatafordeler,
} from '../../src/commands/emulate/datafordeler/datafordeler.ts';
import { main } from '../../src/main.ts';
import { REAL_SAMPLES } from '../support/outside.ts';

interface Answer {
  readonly data?: Readonly<Record<string, { readonly nodes?: readonly object[]; readonly pageInfo?: PageInfo } | null>>;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}
interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string;
}

async function emulated(options: DatafordelerEmulatorOptions = {}) {
  const emulator = await serveDatafordeler({ companies: 3, slowMs: 0, ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

async function ask({ url, settings }: DatafordelerEmulator, query: string, variables: object = {}): Promise<Answer> {
  const address = `${url}/CVR/v2?apiKey=${settings.apiKey}`;
  const body = JSON.stringify({ query, variables });
  const answer = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer;
}

const codeOf = ({ errors = [] }: Answer): string | undefined => errors[0]?.extensions.code;

describe('the emulated Datafordeler', () => {
  it.each([
    ['an alias', '{ a: CVR_Navn(where: { CVREnhedsId: { eq: "1" } }) { nodes { vaerdi } } }', 'DAF-GQL-0008'],
    [
      'an alias of a column',
      '{ CVR_Navn(where: { CVREnhedsId: { eq: "1" } }) { nodes { a: vaerdi } } }',
      'DAF-GQL-0008',
    ],
    ['no filter', '{ CVR_Navn(first: 1) { nodes { vaerdi } } }', 'DAF-GQL-0009'],
    [
      'two root fields',
      '{ CVR_Navn(where: { CVREnhedsId: { eq: "1" } }) { nodes { vaerdi } } DAF_RegisterImportStatus { lastEventId } }',
      'DAF-GQL-0010',
    ],
    [
      '101 values',
      `{ CVR_Navn(where: { CVREnhedsId: { in: [${'"1",'.repeat(101)}] } }) { nodes { vaerdi } } }`,
      'DAF-GQL-0016',
    ],
    ['a page of 1,001', '{ CVR_Events(first: 1001) { nodes { eventid } } }', 'HC0051'],
    ['introspection', '{ __schema { types { name } } }', 'HC0046'],
    ['a column that is none', '{ CVR_Navn(where: { CVREnhedsId: { eq: "1" } }) { nodes { navn } } }', 'HC0020'],
    [
      'fax numbers by company',
      '{ CVR_Telefaxnummer(where: { CVREnhedsId: { eq: "1" } }) { nodes { vaerdi } } }',
      'HC0020',
    ],
    ['persons', '{ CVR_CVRPerson(where: { id: { eq: "1" } }) { nodes { id } } }', 'AUTH_NOT_AUTHORIZED'],
    ['no GraphQL', 'SELECT 1', 'HC0011'],
  ])('refuses %s with a code, in an answer of 200', async (_, query, code) => {
    expect(codeOf(await ask(await emulated(), query))).toBe(code);
  });

  it('accepts the key only in the address', async () => {
    const { url, settings, oauth, tokenUrl } = await emulated();
    const body = JSON.stringify({ query: '{ DAF_RegisterImportStatus { lastEventId } }' });
    const post = async (address: string, headers = {}) =>
      (await fetch(address, { method: 'POST', headers, body })).status;
    expect(await post(`${url}/CVR/v2`)).toBe(401);
    expect(await post(`${url}/CVR/v2`, { apiKey: settings.apiKey, authorization: `Bearer ${settings.apiKey}` })).toBe(
      401,
    );
    expect(await post(`${url}/CVR/v1?apiKey=${settings.apiKey}`)).toBe(404);
    const asked = new URLSearchParams({ client_id: oauth.clientId, client_secret: oauth.clientSecret });
    const given = (await (await fetch(tokenUrl, { method: 'POST', body: asked })).json()) as { access_token: string };
    expect(await post(`${url}/CVR/v2`, { authorization: `Bearer ${given.access_token}` })).toBe(200);
  });

  it('gives the watermark in Danish time marked as UTC', async () => {
    const { data } = await ask(
      await emulated({ now: () => Date.UTC(2026, 6, 1, 12) }),
      '{ DAF_RegisterImportStatus { lastEventId lastUpdated } }',
    );
    expect(data?.['DAF_RegisterImportStatus']).toMatchObject({ lastUpdated: '2026-07-01T14:00:00.000000Z' });
  });

  it('deletes and inserts every row of a unit with each change', async () => {
    const emulator = await emulated({ companies: 1 });
    const before = emulator.tables.events.length;
    emulator.change();
    const events = emulator.tables.events.slice(before);
    const unit = events.filter(({ object_id }) => object_id === events.at(-1)?.object_id);
    const half = unit.filter(({ eventaction }) => eventaction === 'd').length;
    expect(half).toBeGreaterThan(5);
    expect(unit.map(({ eventaction }) => eventaction).join('')).toMatch(/^d+i+$/);
    const [old, fresh] = [unit[0], unit.at(-1)].map((each) => each?.datafordelerRegisterImportSequenceNumber ?? 0);
    expect(old).toBeLessThan(fresh ?? 0);
  });

  it('gives pages by a cursor, in any order', async () => {
    const emulator = await emulated();
    const query =
      'query($after: String) { CVR_Events(first: 7, after: $after) { pageInfo { hasNextPage endCursor } nodes { eventid } } }';
    let after: string | null = null;
    let seen = 0;
    for (let isMore = true; isMore; ) {
      const { nodes = [], pageInfo }: { nodes?: readonly object[]; pageInfo?: PageInfo } =
        (await ask(emulator, query, { after })).data?.['CVR_Events'] ?? {};
      seen += nodes.length;
      after = pageInfo?.endCursor ?? null;
      isMore = pageInfo?.hasNextPage === true;
    }
    expect(seen).toBe(emulator.tables.events.length);
  });

  it('runs as a command until it is stopped, and says how to reach it', async () => {
    const stopping = new AbortController();
    const shown = Promise.withResolvers<{ url: string; configuration: object }>();
    const stdout = { write: (text: string) => shown.resolve(JSON.parse(text)) };
    const stderr = { write: (text: string) => shown.reject(new Error(text)) };
    const argv = ['--json', 'emulate', 'datafordeler', '--companies', '2'];
    const code = main(argv, { stdout, stderr, env: {}, signal: stopping.signal });
    const { url, configuration } = await shown.promise;
    expect(configuration).toMatchObject({ service: { register: { source: 'datafordeler', graphqlUrl: url } } });
    stopping.abort();
    expect(await code).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });
});

const RECORDED = join(REAL_SAMPLES ?? '', 'datafordeler/graphql');

interface Recording {
  readonly body: { readonly query: string; readonly variables: object };
  readonly response: Answer;
}

describe.skipIf(REAL_SAMPLES === undefined || !existsSync(RECORDED))(
  'recorded answers of Datafordeler of October 2026',
  () => {
    const files = existsSync(RECORDED) ? readdirSync(RECORDED) : [];

    it.each(files)('the emulator answers in the same shape: %s', async (file) => {
      const { body, response }: Recording = JSON.parse(readFileSync(join(RECORDED, file), 'utf8'));
      const answer = await ask(await emulated(), body.query, body.variables);
      expect(codeOf(answer)).toBe(codeOf(response));
      expect(answer.errors?.[0]?.message).toBe(response.errors?.[0]?.message);
      expect(Object.keys(answer.data ?? {})).toEqual(Object.keys(response.data ?? {}));
      const [mine, theirs] = [answer, response].map(({ data = {} }) => Object.values(data)[0]);
      expect(Object.keys(mine ?? {}).toSorted()).toEqual(Object.keys(theirs ?? {}).toSorted());
      for (const row of mine?.nodes ?? []) {
        const columns = Object.keys(theirs?.nodes?.[0] ?? row);
        expect(Object.keys(row).toSorted()).toEqual(columns.toSorted());
      }
    });
  },
);
