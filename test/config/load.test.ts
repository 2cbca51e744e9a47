import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-file.ts';
import { RETENTION } from '../../src/runtime/housekeeping/retention.ts';
import { check, checked, connectorWith, hubspotEntry, problemsOf } from '../support/config.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

const write = async (name: string, text: string): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
};
const providers = (entries: object) => connectorWith({ providers: entries });

describe('a configuration', () => {
  it('with only the required settings gets every default', async () => {
    const { config } = await checked(connectorWith());
    expect(config).toMatchObject({ server: { host: '127.0.0.1', port: 8080 }, store: 'data/cvrsync.db' });
    expect(config).not.toHaveProperty('service');
    expect(config.retention).toEqual(RETENTION);
    expect(config.connector).toMatchObject({
      webhook: { path: '/webhook', auth: [{ method: 'None' }] },
      emailEvent: 'email',
      limits: { backlogCap: 100_000, leaseSeconds: 30 },
    });
    const [hubspot] = config.connector?.providers ?? [];
    expect(hubspot).toMatchObject({ name: 'hubspot', policy: 'tracked', match: undefined, notes: [], autoLink: false });
    // What writes more than properties of the company itself is off until somebody switches it on.
    expect(hubspot).toMatchObject({ persons: false, parent: false, pollMinutes: 10, reconcileHours: 24 });
    expect(hubspot?.provider.name).toBe('hubspot');
    expect(hubspot?.settings).toMatchObject({ accessToken: 'token-of-hubspot', baseUrl: 'https://api.hubapi.com' });
    expect(hubspot?.settings).not.toHaveProperty('use');
    expect(hubspot?.mask?.('HubSpot refused token-of-hubspot')).toBe('HubSpot refused ***');
    expect(hubspot?.mapping).toContainEqual({ field: 'name', property: 'name', policy: 'tracked' });
  });

  it('accepts one source of the register, or a list of two', async () => {
    const sources = [
      { source: 'cvr', username: 'u', password: 'a-password' },
      { source: 'datafordeler', apiKey: 'a-key' },
    ];
    const { config } = await checked({ service: { register: sources } });
    expect(config.service?.register).toMatchObject([
      { source: 'cvr', pollSeconds: 30 },
      { source: 'datafordeler', pollSeconds: 60, filesUrl: 'https://api.datafordeler.dk/FileDownloads' },
    ]);
  });

  it.each([
    [
      { source: ['cvr', 'datafordeler'], apiKey: 'k' },
      'source is one of several: write a list, register: [{ source: cvr, … }, { source: datafordeler, … }]',
    ],
    [
      { source: 'datafordeler, file' },
      'source is one of several: write a list, register: [{ source: datafordeler, … }, { source: file, … }]',
    ],
    [['cvr', 'datafordeler'], '0 should be { source: cvr, … }'],
    [
      [
        { source: 'file', path: 'a' },
        { source: 'file', path: 'b' },
      ],
      '1.source stands there twice: name each source once',
    ],
  ])('says how to write several sources instead of %j', async (register, message) => {
    const [first] = await problemsOf({ service: { register } });
    expect(first).toBe(`service.register.${message}`);
  });

  it('of a service with only the required settings gets every default', async () => {
    const { config } = await checked({ service: { register: { source: 'file', path: 'register' } } });
    expect(config.service).toMatchObject({
      register: { source: 'file', path: 'register', pollSeconds: 5 },
      webhooks: { allowPrivateAddresses: false, allow: [], concurrency: 16 },
      news: { registryProvider: 'VIRK' },
      reports: { enabled: false },
      gazette: { enabled: false },
      press: { feeds: [] },
      requestsPerMinute: 500,
    });
    expect(config.service).not.toHaveProperty('smtp');
  });

  it('with an empty section has its defaults', async () => {
    const { config } = await checked({ ...connectorWith({ limits: null }), server: null });
    expect([config.server.port, config.connector?.limits.leaseSeconds]).toEqual([8080, 30]);
  });

  it('accepts two secrets at once, to rotate them, and no third', async () => {
    const auth = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ method: 'Header', key: 'X-Key', value: `s-${i}` }));
    const { config } = await checked(connectorWith({ webhook: { auth: auth(2) } }));
    expect(config.connector?.webhook.auth).toHaveLength(2);
    expect(await problemsOf(connectorWith({ webhook: { auth: auth(3) } }))).toEqual([
      'connector.webhook.auth should be a list of 1 to 2',
    ]);
  });

  it('separates one CRM under two names', async () => {
    const { config } = await checked(providers({ sales: hubspotEntry(), support: hubspotEntry({ policy: 'never' }) }));
    expect(config.connector?.providers.map(({ name, policy }) => [name, policy])).toEqual([
      ['sales', 'tracked'],
      ['support', 'never'],
    ]);
  });

  it('reads numbers and flags that the environment can only give as texts', async () => {
    const env = { PORT: '9000', AUTO: 'true' };
    const given = {
      server: { port: `\${PORT}` },
      ...providers({ hubspot: hubspotEntry({ autoLink: `\${AUTO}`, match: { property: 'cvr' } }) }),
    };
    const { config } = await checked(given, env);
    expect([config.server.port, config.connector?.providers[0]?.autoLink]).toEqual([9000, true]);
  });
});

describe('the admin listener', () => {
  it('is on loopback, on port 8081, or on a free port if the server is on one', async () => {
    const port = async (value: object) => (await checked({ ...connectorWith(), ...value })).config.admin;
    expect(await port({})).toMatchObject({
      host: '127.0.0.1',
      port: 8081,
      exposed: false,
      openMetrics: false,
      trustProxy: [],
    });
    expect(await port({ server: { port: 0 } })).toMatchObject({ port: 0 });
    expect(await port({ server: { port: 0 }, admin: { port: 9000 } })).toMatchObject({ port: 9000 });
  });
});

describe('problems', () => {
  it('are listed all at once, each with its path', async () => {
    const problems = await problemsOf({
      sever: {},
      server: { port: 'many' },
      admin: { token: `\${ADMIN}` },
      connector: {
        webhook: { path: 'webhook' },
        upstream: { baseUrl: 'service.example.com', accesKey: 'k' },
        providers: { hubspot: { use: 'hubspot', fields: { phnoe: 'phone' }, policy: 'allways', notes: ['newRaport'] } },
      },
    });
    expect(problems.map((line) => line.split(' ', 1)[0])).toEqual([
      'admin.token',
      'connector.providers.hubspot.accessToken',
      'connector.providers.hubspot.fields.phnoe',
      'connector.providers.hubspot.notes.0',
      'connector.providers.hubspot.policy',
      'connector.upstream.accesKey',
      'connector.upstream.accessKey',
      'connector.upstream.baseUrl',
      'connector.webhook.auth',
      'connector.webhook.path',
      'server.port',
      'sever',
    ]);
    expect(problems).toContain('connector.providers.hubspot.fields.phnoe is not known; did you mean phone?');
    expect(problems).toContain('connector.upstream.accesKey is not known; did you mean accessKey?');
    expect(problems).toContain(
      'connector.providers.hubspot.policy should be one of tracked, always, if-blank, never; did you mean always?',
    );
    expect(problems).toContain('connector.providers.hubspot.notes.0 is not a known name; did you mean newReport?');
  });

  it.each([
    ['no file content', undefined, 'is fine: everything has a default'],
    ['a list', [], ' should be a section with server, admin, store, storeConnections, roles, connector'],
    ['no provider', providers({}), 'connector.providers is empty'],
    [
      'a time zone that nobody has',
      { ...providers({ hubspot: hubspotEntry() }), timeZone: 'Europe/Kopenhagen' },
      'timeZone is not a time zone: give its name as in Europe/Copenhagen; did you mean Europe/Copenhagen?',
    ],
    ['a name that is no path segment', providers({ 'a/b': hubspotEntry() }), 'connector.providers.a/b is not a name'],
    ['an entry without use', providers({ crm: {} }), 'connector.providers.crm.use is missing'],
    [
      'an unknown method',
      connectorWith({ webhook: { auth: { method: 'Haeder' } } }),
      'connector.webhook.auth.method should be one of None, Header, BasicAuth, Signature; did you mean Header?',
    ],
    [
      'a half method',
      connectorWith({ webhook: { auth: { method: 'Header', key: 'X' } } }),
      'connector.webhook.auth.value is missing',
    ],
    ['a text for a section', { connector: 'hubspot' }, 'connector should be a section with webhook'],
    [
      'autoLink without match',
      providers({ hubspot: hubspotEntry({ autoLink: true }) }),
      'connector.providers.hubspot.match is missing',
    ],
    [
      'persons that may not be named',
      providers({ hubspot: hubspotEntry({ fields: { board: { property: 'bestyrelse', join: '; ' } } }) }),
      'connector.providers.hubspot.fields.board bestyrelse would name persons: set persons: true for this connection, or board: false',
    ],
    [
      'a list that is never known in full',
      providers({ hubspot: hubspotEntry({ fields: { productionUnits: 'enheder' } }) }),
      'connector.providers.hubspot.fields.productionUnits enheder would never be written, since events name one member at a time and no payload names them all: set productionUnits: false',
    ],
    [
      'persons that may be named',
      providers({ hubspot: hubspotEntry({ persons: true, fields: { board: 'bestyrelse' } }) }),
      'is fine',
    ],
    [
      'persons that are only shown',
      providers({ hubspot: hubspotEntry({ fields: { owners: { property: 'ejere', policy: 'never' } } }) }),
      'is fine',
    ],
    ['__proto__', JSON.parse('{"__proto__": {"port": 1}}'), '__proto__ is not known'],
  ])('name the place: %s', async (_what, value, line) => {
    const problems = await problemsOf(value);
    if (line.startsWith('is fine')) expect(problems).toEqual([]);
    else expect(problems).toEqual([expect.stringContaining(line)]);
  });

  it('list every field of persons at once, each with its path', async () => {
    const fields = { owners: 'ejere', trueOwners: 'reelle', management: ['direktion', 'ledelse'], name: 'name' };
    const problems = await problemsOf(providers({ hubspot: hubspotEntry({ fields }) }));
    expect(problems.map((line) => line.split(' would')[0])).toEqual([
      'connector.providers.hubspot.fields.management direktion',
      'connector.providers.hubspot.fields.management ledelse',
      'connector.providers.hubspot.fields.owners ejere',
      'connector.providers.hubspot.fields.trueOwners reelle',
      'connector.providers.hubspot.fields.trueOwners reelle',
    ]);
  });

  it('never quote a value, which might be a secret', async () => {
    const secret = 'sesame open';
    const problems = await problemsOf({
      server: { port: secret },
      admin: { token: 'sesame' },
      store: { path: secret },
      connector: {
        webhook: { auth: { method: 'Signature', secret } },
        upstream: { baseUrl: secret, accessKey: { key: secret } },
        providers: { hubspot: hubspotEntry({ accessToken: [secret], policy: secret }) },
      },
    });
    expect(problems.length).toBeGreaterThan(6);
    expect(problems.join()).not.toContain('sesame');
  });
});

describe('a file', () => {
  it('in YAML or JSON is read from the given path', async () => {
    const json = await write('a.json', JSON.stringify(connectorWith()));
    const yaml = await write('a.yaml', 'server: { port: 81 }\n');
    expect(await loadConfig({ file: json, env: {} })).toMatchObject({ ok: true, file: json });
    expect(await loadConfig({ env: { CVRSYNC_CONFIG: yaml } })).toMatchObject({
      ok: true,
      config: { server: { port: 81 } },
    });
    expect(await loadConfig({ file: json, env: { CVRSYNC_CONFIG: yaml } })).toMatchObject({ file: json });
  });

  it('that is missing is reported with what to do', async () => {
    const load = await loadConfig({ file: join(folder, 'none.yaml'), env: {} });
    expect(load).toMatchObject({
      ok: false,
      errors: [{ path: '', message: expect.stringContaining('cvrsync init') }],
    });
  });

  it('that is not YAML is reported with line and column, without its text', async () => {
    const file = await write('bad.yaml', 'server:\n  port: 1\n  adminToken: "sesame\nstore: x\n');
    const load = await loadConfig({ file, env: {} });
    expect(load).toMatchObject({ ok: false, errors: [{ path: '', line: 3, column: 15 }] });
    expect(JSON.stringify(load)).not.toContain('sesame');
  });

  it('with a key twice is refused', async () => {
    const file = await write('twice.yaml', 'server: { port: 1 }\nserver: { port: 2 }\n');
    expect(await loadConfig({ file, env: {} })).toMatchObject({
      ok: false,
      errors: [{ path: '', line: 2, column: 1 }],
    });
  });

  it('keeps codes with leading zeros and secrets of digits as they were written', async () => {
    const file = await write(
      'codes.yaml',
      `connector:
  webhook: { auth: { method: Header, key: X-Key, value: 0123456 } }
  providers:
    hubspot:
      use: hubspot
      accessToken: 1e5
      values: { industryCode: { 011100: FARMING, "62*": SOFTWARE, 620100: 7 } }
`,
    );
    const load = await loadConfig({ file, env: {} });
    expect(load).toMatchObject({ ok: true, config: { connector: { webhook: { auth: [{ value: '0123456' }] } } } });
    const [hubspot] = load.ok ? (load.config.connector?.providers ?? []) : [];
    expect(hubspot?.settings).toMatchObject({ accessToken: '1e5' });
    expect(hubspot?.values.industryCode).toEqual({ '011100': 'FARMING', '62*': 'SOFTWARE', '620100': 7 });
  });

  it('loads a provider from a path beside it, and reports what is wrong with one', async () => {
    const body = (contract: string, settings = "{ type: 'object', '~kind': 'Object', properties: {}, required: [] }") =>
      `export const crm = { name: 'crm', contract: '${contract}', about: '', settings: ${settings}, preset: [], limits: () => ({}), connect: async () => ({}) };`;
    await write('own.mjs', body('2.0.0'));
    await write('old.mjs', body('0.9.0'));
    await write('half.mjs', body('2.0.0', 'undefined'));
    await write('none.mjs', 'export const nothing = 1;');
    await write('broken.mjs', 'export const crm = ;');
    const use = async (name: string) => {
      const file = await write('use.json', JSON.stringify(providers({ crm: { use: name } })));
      const load = await loadConfig({ file, env: {} });
      return load.ok
        ? load.config.connector?.providers[0]?.provider.name
        : load.errors.map((each) => each.message).join();
    };
    expect(await use('./own.mjs')).toBe('crm');
    expect(await use(join(folder, 'own.mjs'))).toBe('crm');
    expect(await use('./old.mjs')).toContain('version 0.9.0 of the provider contract');
    expect(await use('./half.mjs')).toContain('not a whole provider');
    expect(await use('./none.mjs')).toContain('exports no provider');
    expect(await use('./broken.mjs')).toContain('cannot be loaded');
    expect(await use('./absent.mjs')).toContain('cannot be loaded');
    expect(await use('hubspto')).toContain('neither built in nor installed; did you mean hubspot?');
  });
});

it('check names the file it was given', async () => {
  expect(await check({ connector: 1 })).toMatchObject({ ok: false, file: '/nonexistent/cvrsync.yaml' });
});
