import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { initialConfig } from '../../src/config/init.ts';
import { loadConfig } from '../../src/config/load-file.ts';
import { redact } from '../../src/config/redact.ts';
import { configSchema } from '../../src/config/schema/schema.ts';
import { schemaDocument } from '../../src/config/schema-document.ts';
import { maskerOf } from '../../src/protocol/text/mask.ts';
import { runCli } from '../support/cli.ts';
import { checked, connectorWith, hubspotEntry } from '../support/config.ts';

const ENV = {
  WEBHOOK_SECRET: 'webhook-secret',
  MONITORING_ACCESS_KEY: 'access-key',
  HUBSPOT_ACCESS_TOKEN: 'hubspot-token',
  SF_CLIENT_ID: 'client',
  SF_CLIENT_SECRET: 'client-secret',
};
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-init-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the file that config init writes', () => {
  it('loads as it is, once the environment is set', async () => {
    const file = join(folder, 'cvrsync.yaml');
    await writeFile(file, await initialConfig());
    const load = await loadConfig({ file, env: ENV });
    expect(load).toMatchObject({ ok: true });
    const connector = load.ok ? load.config.connector : undefined;
    expect(connector?.providers.map(({ name }) => name)).toEqual(['hubspot', 'salesforce']);
    expect(connector?.webhook.auth).toEqual([{ method: 'Header', key: 'X-Webhook-Key', value: 'webhook-secret' }]);
  });

  it('loads with every commented key enabled', async () => {
    const text = await initialConfig(['hubspot']);
    const open = text
      .replaceAll(/^(\s*)# ((?: {2})*(?:# .*|[A-Za-z]+:(?: .*)?))$/gm, '$1$2')
      .replaceAll(/^#.*\n/gm, '');
    expect(parse(open)).toHaveProperty('service.smtp.from');
    const file = join(folder, 'open.yaml');
    await writeFile(file, open);
    const secrets = {
      CVRSYNC_ADMIN_TOKEN: 'a-token-of-some-length',
      OIDC_CLIENT_SECRET: 'oidc-secret',
      ALERT_WEBHOOK: 'https://hooks.example.com/alerts',
      CVRSYNC_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    expect(await loadConfig({ file, env: { ...ENV, ...secrets } })).toMatchObject({ ok: true });
  });

  it('names in its complaints what the environment lacks', async () => {
    const file = join(folder, 'bare.yaml');
    await writeFile(file, await initialConfig(['hubspot']));
    const load = await loadConfig({ file, env: {} });
    const told = load.ok ? '' : load.errors.map(({ message }) => message).join();
    for (const name of ['WEBHOOK_SECRET', 'MONITORING_ACCESS_KEY', 'HUBSPOT_ACCESS_TOKEN'])
      expect(told).toContain(name);
    expect(told).not.toContain('SF_CLIENT_ID');
  });
});

describe('the JSON Schema', () => {
  it('accepts what the reader accepts and refuses what it refuses', async () => {
    const validator = Compile(await schemaDocument());
    const takes = (value: unknown) => validator.Check(value);
    expect(takes(parse(await initialConfig()))).toBe(true);
    expect(takes(connectorWith())).toBe(true);
    expect(takes({ server: { port: `\${PORT}` } })).toBe(true);
    expect(takes(connectorWith({ providers: { a: { use: 'hubspot', accessToken_FILE: '/run/x' } } }))).toBe(true);
    expect(takes(connectorWith({ providers: { a: { use: 'some-plugin', anything: 1 } } }))).toBe(true);
    expect(takes({ server: { prot: 1 } })).toBe(false);
    expect(takes(connectorWith({ providers: { a: hubspotEntry({ fields: { nme: 'x' } }) } }))).toBe(false);
    expect(takes(connectorWith({ providers: { a: hubspotEntry({ fields: { name: 'x', phone: false } }) } }))).toBe(
      true,
    );
    expect(takes(connectorWith({ webhook: {} }))).toBe(false);
  });

  it('is under 100 kB as it is printed, and every reference in it leads somewhere', async () => {
    const { stdout } = await runCli(['config', 'schema']);
    expect(stdout.length).toBeLessThan(100_000);
    expect(Object.keys(JSON.parse(stdout).properties)).toContain('connector');
    // Another reader of schemas than ours, as an editor has.
    new Ajv2020({ strict: false }).compile(JSON.parse(stdout));
  });

  it('is written beside the file by config init, whose first line names it', async () => {
    const file = join(await mkdtemp(join(folder, 'init-')), 'own.yaml');
    const { code, stdout } = await runCli(['--json', '--config', file, 'config', 'init', 'hubspot']);
    expect(code).toBe(0);
    const [first] = (await readFile(file, 'utf8')).split('\n');
    expect(first).toBe('# yaml-language-server: $schema=cvrsync.schema.json');
    const { schema } = JSON.parse(stdout);
    expect(schema).toBe(join(dirname(file), 'cvrsync.schema.json'));
    expect(JSON.parse(await readFile(schema, 'utf8'))).toHaveProperty('$defs');
  });
});

describe('secrets', () => {
  const secretive = () =>
    checked({
      admin: { token: 'admin-token-sesame' },
      store: 'postgres://sync:p%40ss-sesame@db:5432/cvr',
      connector: {
        webhook: { auth: [{ method: 'BasicAuth', key: 'user', value: 'basic sesame' }, { method: 'None' }] },
        upstream: { baseUrl: 'https://service.example.com', accessKey: 'key"sesame' },
        providers: {
          hubspot: hubspotEntry({ accessToken: 'hubspot-sesame' }),
          sf: { use: 'salesforce', auth: { flow: 'client-credentials', clientId: 'shown', clientSecret: 'sf-sesame' } },
        },
      },
    });

  it('are masked in a copy for showing, and nothing else is', async () => {
    const { config } = await secretive();
    const { providers: _left, ...connector } = config.connector ?? { providers: [] };
    const shown = redact(configSchema, { ...config, connector });
    expect(shown).toMatchObject({
      server: { port: 8080 },
      admin: { host: '127.0.0.1', port: 8081, token: '***' },
      store: 'postgres://sync:***@db:5432/cvr',
      connector: {
        webhook: { auth: [{ method: 'BasicAuth', key: 'user', value: '***' }, { method: 'None' }] },
        upstream: { baseUrl: 'https://service.example.com', accessKey: '***' },
      },
    });
  });

  it('are all known, and scrubbed from any text in any spelling', async () => {
    const { secrets } = await secretive();
    expect(secrets.length).toBe(6);
    const scrub = maskerOf(secrets);
    for (const secret of secrets)
      for (const text of [secret, encodeURIComponent(secret), JSON.stringify(secret)])
        expect(scrub(`GET /?a=${text}&b`)).not.toContain('sesame');
    expect(scrub('login failed for p@ss-sesame')).not.toContain('sesame');
    expect(scrub('nothing to hide')).toBe('nothing to hide');
  });

  it('in the query of an address are masked too, whatever setting it is', async () => {
    const feed = 'https://press.example.com/rss?lang=da&api_key=feed-sesame#top';
    const { config, secrets } = await checked({
      store: 'postgres://db/cvr?user=sync&pass%77ord=p%40ss-sesame&sslmode=require',
      service: {
        register: { source: 'file', path: 'register' },
        smtp: { url: 'smtp://mail.example.com?password=mail-sesame', from: 'a@example.com' },
        press: { feeds: [{ url: feed }] },
      },
    });
    expect(redact(configSchema, config)).toMatchObject({
      store: 'postgres://db/cvr?user=sync&pass%77ord=***&sslmode=require',
      service: {
        smtp: { url: 'smtp://mail.example.com?password=***' },
        press: { feeds: [{ url: 'https://press.example.com/rss?lang=da&api_key=***#top' }] },
      },
    });
    const scrub = maskerOf(secrets);
    for (const text of [feed, 'login failed for p@ss-sesame', 'mail-sesame'])
      expect(scrub(text)).not.toContain('sesame');
  });

  it('that are too short to be distinguished from words are left to the schemas', () => {
    expect(maskerOf(['a', ''])('banana')).toBe('banana');
  });
});
