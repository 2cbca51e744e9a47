import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { connectorWith, hubspotEntry } from '../support/config.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('config init', () => {
  it('writes the file, names the values to set, and never replaces a file without --force', async () => {
    const file = join(folder, 'new.yaml');
    const first = await runCli(['--config', file, 'config', 'init', 'hubspot']);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toContain('Set WEBHOOK_SECRET, MONITORING_ACCESS_KEY, HUBSPOT_ACCESS_TOKEN');
    await writeFile(file, 'mine');
    const second = await runCli(['config', 'init', '--config', file]);
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('--force')]);
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect((await runCli(['config', 'init', '--force', '--config', file])).code).toBe(0);
    expect(await readFile(file, 'utf8')).toContain('salesforce:');
  });

  it('names every variable of the file, also two on one line, and the address of the dashboard', async () => {
    const file = join(folder, 'both.yaml');
    const { stdout } = await runCli(['--config', file, 'config', 'init']);
    expect(stdout).toContain(
      'Set WEBHOOK_SECRET, MONITORING_ACCESS_KEY, HUBSPOT_ACCESS_TOKEN, SF_CLIENT_ID, SF_CLIENT_SECRET, then run',
    );
    expect(await readFile(file, 'utf8')).toMatch(/^ *# .*the dashboard/mu);
  });

  it('prints to a pipe instead', async () => {
    const { stdout } = await runCli(['config', 'init', 'salesforce', '--print']);
    expect(stdout).toContain('use: salesforce');
    // The flow of client credentials takes the org's My Domain alone.
    expect(stdout).toContain('loginUrl: https://NAME.my.salesforce.com');
    expect(stdout).not.toContain('use: hubspot');
  });

  it('offers only built-in providers', async () => {
    expect(await runCli(['config', 'init', 'hubspto'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean hubspot?'),
    });
  });
});

describe('config schema', () => {
  it('prints one JSON document', async () => {
    const { code, stdout } = await runCli(['config', 'schema']);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ title: 'cvrsync configuration' })]);
  });
});

describe('config show', () => {
  const write = async (value: object): Promise<string> => {
    const file = join(folder, 'show.json');
    await writeFile(file, JSON.stringify(value));
    return file;
  };

  it('prints the effective configuration without secrets', async () => {
    const secrets = { auth: { method: 'Header', key: 'X-Key', value: 'webhook-sesame' } };
    const oidc = {
      issuer: 'https://login.example.com',
      clientId: 'c',
      clientSecret: 'oidc-sesame',
      roles: { admin: ['a'] },
    };
    const admin = { publicUrl: 'https://cvrsync.example.com', oidc };
    const providers = { crm: hubspotEntry({ accessToken: 'token-sesame' }) };
    const file = await write({ ...connectorWith({ webhook: secrets, providers }), admin });
    const { code, stdout } = await runCli(['--json', 'config', 'show'], { CVRSYNC_CONFIG: file });
    expect(code).toBe(0);
    expect(stdout).not.toContain('sesame');
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      config: { server: { port: 8080 }, connector: { webhook: { path: '/webhook', auth: [{ value: '***' }] } } },
      providers: [{ name: 'crm', use: 'hubspot', policy: 'tracked', settings: { accessToken: '***', concurrency: 8 } }],
    });
  });

  it.each(['register', 'false', 'null'])(
    'stays a document with its keys where a secret is the word %s',
    async (word) => {
      const register = { source: 'cvr', baseUrl: 'http://127.0.0.1:9', username: 'u', password: word };
      const file = await write({ service: { register } });
      for (const json of [['--json'], []]) {
        const { stdout } = await runCli([...json, 'config', 'show'], { CVRSYNC_CONFIG: file });
        const { config } = JSON.parse(stdout);
        expect(config.service.register).toMatchObject({ baseUrl: 'http://127.0.0.1:9', password: '***' });
        expect(config.server).toMatchObject({ port: 8080 });
      }
    },
  );

  it('lists all errors, with exit code 2', async () => {
    const file = await write({ server: { prot: 1 }, store: 7, connector: { webhook: {} } });
    const plain = await runCli(['config', 'show', '--config', file]);
    expect(plain.code).toBe(2);
    expect(plain.stdout).toBe('');
    expect(plain.stderr.split('\n').filter((line) => !line.startsWith('    '))).toEqual([
      `cvrsync: the configuration ${file} cannot be used`,
      '  line 1, column 12: server.prot is not known; did you mean port?',
      expect.stringMatching(/^ {2}line 1, column 32: connector\.providers is missing: The CRMs/),
      expect.stringMatching(/^ {2}line 1, column 45: connector\.webhook\.auth is missing: How/),
      '',
    ]);
    const json = await runCli(['--json', 'config', 'show', '--config', file]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      errors: [{ path: 'server.prot' }, { path: 'connector.providers', line: 1 }, {}],
    });
  });
});
