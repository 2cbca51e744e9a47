import { Value } from 'typebox/value';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectHttp } from '../../../providers/http/connection.ts';
import { HttpSettings } from '../../../providers/http/http-settings.ts';
import { openTestHttp } from '../../../providers/kit/conformance/lab/http.ts';
import { type EmulatorAnswer, type EmulatorRequest, serveEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { startHttpEmulator } from '../../../providers/kit/http/emulator.ts';
import { type Connection, ProviderError } from '../../../providers/provider.ts';

const live = () => new AbortController().signal;
const keep = { get: async () => undefined, set: async () => {} };

const connectTo = (settings: Record<string, unknown>): Promise<Connection> =>
  connectHttp(Value.Parse(HttpSettings, Value.Default(HttpSettings, settings)), {
    http: openTestHttp().http,
    keep,
    now: Date.now,
  });

/** An API that answers as told; what it was sent. */
async function api(answer: (request: EmulatorRequest) => EmulatorAnswer, settings: Record<string, unknown> = {}) {
  const asked: EmulatorRequest[] = [];
  const served = await serveEmulator((request) => {
    asked.push(request);
    return answer(request);
  });
  onTestFinished(() => served.close());
  const urls = { updateUrl: `${served.url}/update`, exportUrl: `${served.url}/export`, listUrl: `${served.url}/list` };
  return { asked, connection: await connectTo({ ...urls, ...settings }) };
}

const fault = async (work: Promise<unknown>) => {
  const error = await work.catch((thrown: unknown) => thrown);
  return error instanceof ProviderError ? [error.fault, error.message] : [error];
};

describe('an update', () => {
  it('is flat JSON with the id, by the method the settings name', async () => {
    const { asked, connection } = await api(() => ({ status: 200 }), {
      method: 'PUT',
      authHeader: 'X-Api-Key',
      authValue: 'k',
      idKey: 'crmId',
    });
    expect(await connection.update([{ id: 'a/1', properties: { name: 'Ny ApS', phone: null } }], live())).toEqual([
      { kind: 'written', id: 'a/1' },
    ]);
    expect([asked[0]?.method, asked[0]?.headers['x-api-key'], JSON.parse(asked[0]?.body ?? '')]).toEqual([
      'PUT',
      'k',
      { crmId: 'a/1', name: 'Ny ApS', phone: null },
    ]);
  });

  it.each([
    ['what the API answers with as the company', true, { stored: { name: 'NY', phone: null } }],
    ['nothing where it answers with nothing', false, {}],
  ])('reports as stored %s', async (_, shows, stated) => {
    const emulator = await startHttpEmulator({ shows, respell: { name: (text) => text.toUpperCase() } });
    onTestFinished(() => emulator.close());
    const id = emulator.add({ name: 'Birk', phone: '33112244' });
    const open = await connectTo({ ...emulator.settings });
    const patch = { id, properties: { name: 'Ny', phone: null } };
    expect(await open.update([patch], live())).toEqual([{ kind: 'written', id, ...stated }]);
  });

  it.each([
    ['of another company', { id: '8', name: 'X' }],
    ['without what was sent', { id: '7', status: 'ok' }],
  ])('reports nothing as stored after an answer %s', async (_, body) => {
    const { connection } = await api(() => ({ status: 200, body }));
    expect(await connection.update([{ id: '7', properties: { name: 'Ny' } }], live())).toEqual([
      { kind: 'written', id: '7' },
    ]);
  });

  it('puts the id into the address if the address has a place for it', async () => {
    const emulator = await startHttpEmulator();
    onTestFinished(() => emulator.close());
    const id = emulator.add({ name: 'Birk' });
    const open = await connectTo({ ...emulator.settings });
    await open.update([{ id, properties: { name: 'Ny' } }], live());
    expect(emulator.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST /companies/${id}`]);
  });

  it.each([
    [200, 'written'],
    [201, 'written'],
    [204, 'written'],
    [404, 'gone'],
    [410, 'gone'],
    [409, 'rejected'],
    [422, 'rejected'],
  ])('that is answered %i is %s', async (status, kind) => {
    const { connection } = await api(() => ({ status, body: { message: 'told so' } }));
    expect(await connection.update([{ id: '1', properties: { name: 'x' } }], live())).toMatchObject([
      { kind, id: '1' },
    ]);
  });

  it('does not treat an HTML page with 404 as a company that is gone', async () => {
    const { connection } = await api(() => ({ status: 404, body: '<html>', headers: { 'content-type': 'text/html' } }));
    expect(await fault(connection.update([{ id: '1', properties: { name: 'x' } }], live()))).toEqual([
      'refused',
      'updateUrl was answered 404: check the address, method and authHeader',
    ]);
  });

  it.each([
    [{ errors: { phone: 'is too long', other: 'x' } }, { phone: 'is too long' }],
    [{ errors: [{ field: 'phone', message: 'no' }, { path: 'zip' }] }, { phone: 'no' }],
    [{ errors: 'all' }, {}],
  ])('names what is refused, out of %j', async (body, properties) => {
    const { connection } = await api(() => ({ status: 422, body }));
    const [outcome] = await connection.update([{ id: '1', properties: { phone: '1', name: 'x' } }], live());
    expect(outcome).toMatchObject({ kind: 'rejected', properties });
  });

  it('keeps what was done before a fault, and leaves the rest for later', async () => {
    let calls = 0;
    const { connection } = await api(() => ({ status: ++calls === 1 ? 200 : 503 }));
    const patches = ['1', '2', '3'].map((id) => ({ id, properties: { name: 'x' } }));
    expect((await connection.update(patches, live())).map(({ kind }) => kind)).toEqual(['written', 'retry', 'retry']);
    expect(calls).toBe(2);
  });
});

describe('an export', () => {
  it.each([
    [
      { status: 201, body: { id: 77 } },
      { kind: 'created', id: '77' },
    ],
    [
      { status: 409, body: { message: 'here already', id: '5' } },
      { kind: 'duplicate', id: '5', reason: 'here already' },
    ],
    [{ status: 409 }, { kind: 'duplicate', reason: 'the API answered 409' }],
    [
      { status: 422, body: { message: 'no', errors: { name: 'empty' } } },
      { kind: 'rejected', properties: { name: 'empty' } },
    ],
  ])('that is answered %j is %j', async (answer, outcome) => {
    const { connection } = await api(() => answer);
    expect(await connection.create?.({ name: 'Ny', cvr: '12345678' }, live())).toMatchObject(outcome);
  });

  it('uses the number as id if the API identifies companies by it', async () => {
    const { asked, connection } = await api(() => ({ status: 204 }), {
      idKey: 'cvr',
      properties: [{ name: 'cvr', type: 'number' }],
    });
    expect(await connection.create?.({ name: 'Ny', cvr: '12345678' }, live())).toEqual({
      kind: 'created',
      id: '12345678',
    });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ name: 'Ny', cvr: 12345678 });
  });

  it('is not offered without an address', async () => {
    const { connection } = await api(() => ({ status: 200 }), { exportUrl: undefined });
    expect(connection.create).toBeUndefined();
  });
});

describe('a list', () => {
  it.each([
    ['a bare list', [{ id: 1, name: 'A' }]],
    ['results', { results: [{ id: '1', name: 'A' }], cursor: null }],
    ['items', { items: [{ id: '1', name: 'A' }], continuationToken: '' }],
  ])('is read from %s', async (_what, body) => {
    const { connection } = await api(() => ({ status: 200, body }));
    expect(await connection.scan(['name'], undefined, live())).toEqual({
      records: [{ id: '1', properties: { name: 'A' } }],
    });
  });

  it('that would never end is refused', async () => {
    const { connection } = await api(() => ({ status: 200, body: { results: [], cursor: 'c' } }));
    expect((await connection.scan(['name'], undefined, live())).cursor).toBe('c');
    expect((await fault(connection.scan(['name'], 'c', live())))[0]).toBe('refused');
  });

  it('that the API does not have is refused with advice', async () => {
    const { connection } = await api(() => ({ status: 200 }), { listUrl: undefined });
    expect(await fault(connection.scan(['name'], undefined, live()))).toEqual([
      'refused',
      'the companies of this API cannot be listed: put an address in listUrl, or set reconcileHours to 0',
    ]);
  });
});

it('a company that cannot be read counts as found, without properties', async () => {
  const { asked, connection } = await api(() => ({ status: 500 }));
  expect(await connection.read(['1'], ['name'], live())).toEqual([{ kind: 'found', id: '1', properties: {} }]);
  expect(asked).toEqual([]);
  expect((await connection.properties(live())).every(({ unreadable }) => unreadable === true)).toBe(true);
});

it('an account is identified by its address without the query, which may hold a key', async () => {
  const open = await connectTo({ updateUrl: 'https://user:word@crm.example/update/{id}?code=a-key' });
  expect((await open.check(live())).id).toBe('https://crm.example/update/%7Bid%7D');
});

it('a property that the API shows of no company is not treated as blank', async () => {
  const [whole, part] = [{ id: 1, name: null, city: 'Ribe' }, { id: 2 }];
  const { connection } = await api(() => ({ status: 200, body: [whole, part] }));
  const { records } = await connection.scan(['cvr', 'name', 'city', 'phone'], undefined, live());
  expect(records).toEqual([
    { id: '1', properties: { name: null, city: 'Ribe' } },
    // An API may leave out what is blank.
    { id: '2', properties: { name: null, city: null } },
  ]);
});

it('shown properties are remembered by address, because a read may show more than a list', async () => {
  const served = await serveEmulator(({ path }) => ({
    status: 200,
    body:
      path === '/list'
        ? [{ id: 1, cvr: '10150817' }]
        : { id: Number(path.at(-1)), ...(path === '/read/1' && { name: 'Birk' }) },
  }));
  onTestFinished(() => served.close());
  const { url } = served;
  const open = await connectTo({ updateUrl: `${url}/update`, listUrl: `${url}/list`, readUrl: `${url}/read/{id}` });
  await open.scan(['cvr'], undefined, live());
  expect(await open.read(['2', '1', '2'], ['cvr', 'name'], live())).toEqual([
    { kind: 'found', id: '2', properties: {}, unreadable: ['cvr', 'name'] },
    { kind: 'found', id: '1', properties: { name: 'Birk' }, unreadable: ['cvr'] },
    { kind: 'found', id: '2', properties: { name: null }, unreadable: ['cvr'] },
  ]);
});
