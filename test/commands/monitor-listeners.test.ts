/** Who a monitor tells: somebody, at an address that may be posted to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app.ts';
import { runCli } from '../support/cli.ts';
import { checked } from '../support/config.ts';
import { newFolder, opened } from '../support/stores.ts';

const TOKEN = 'the-token-of-the-operators';
const PRIVATE = [
  'http://127.0.0.1:9/',
  'http://0x7f000001/',
  'https://[::1]/',
  'http://10.1.2.3/',
  'http://localhost/a',
];

/** A service and its configuration, by command and by API. */
async function configured(webhooks: object = {}, more: object = {}) {
  const folder = newFolder();
  const config = {
    server: { port: 0 },
    admin: { token: TOKEN },
    store: join(folder, 'store.db'),
    service: { register: { source: 'file', path: folder }, webhooks, ...more },
  };
  const file = join(folder, 'cvrsync.json');
  await writeFile(file, JSON.stringify(config));
  await opened(config.store);
  const cli = (...argv: readonly string[]) =>
    runCli(['--config', file, ...(argv.includes('--log-level') ? [] : ['--log-level', 'error']), ...argv]);
  const startApi = async () => {
    const app = await startApp((await checked(config)).config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(1_000));
    return async (method: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const answer = await fetch(`${app.adminUrl}/admin/api${path}`, { method, headers, body: JSON.stringify(body) });
      return { status: answer.status, json: Object(await answer.json()) };
    };
  };
  return { cli, startApi };
}

describe('a monitor without recipients', () => {
  it('is refused by the command, on creation and change', async () => {
    const { cli } = await configured();
    const nobody = await cli('monitors', 'create', 'Nobody', '--all');
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('nobody would be notified')]);
    const made = await cli('monitors', 'create', 'One', '--url', 'https://hooks.example.com/a', '--json');
    const { id } = JSON.parse(made.stdout);
    const cleared = await cli('monitors', 'update', id, '--clear', 'url');
    expect([cleared.code, cleared.stderr]).toEqual([2, expect.stringContaining('nobody would be notified')]);
    expect((await cli('monitors', 'update', id, '--clear', 'url', '--email', 'anna@example.com')).code).toBe(0);
    expect(JSON.parse((await cli('monitors', 'list', '--json')).stdout)).toHaveLength(1);
  });

  it('is refused by the API', async () => {
    const call = await (await configured()).startApi();
    const nobody = await call('POST', '/monitors', { name: 'Nobody' });
    expect(nobody).toMatchObject({ status: 422, json: { errors: [{ path: 'body.url' }] } });
    const made = await call('POST', '/monitors', { name: 'One', emails: ['anna@example.com'] });
    expect((await call('PATCH', `/monitors/${made.json.id}`, { emails: [] })).status).toBe(422);
    expect((await call('PATCH', `/monitors/${made.json.id}`, { name: 'Two' })).status).toBe(200);
  });
});

describe('a private address literal', () => {
  it.each(PRIVATE)('%s is refused on creation and change, unless the configuration allows it', async (url) => {
    const { cli } = await configured();
    const refused = await cli('monitors', 'create', 'Inside', '--url', url);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('service.webhooks.allow')]);
    const open = await configured({ allow: ['127.0.0.0/8', '10.0.0.0/8', '::1'] });
    expect((await open.cli('monitors', 'create', 'Inside', '--url', url)).code).toBe(0);
    const wide = await configured({ allowPrivateAddresses: true });
    expect((await wide.cli('monitors', 'create', 'Inside', '--url', url)).code).toBe(0);
  });

  it('is refused by the API, for monitors and jobs', async () => {
    const { cli, startApi } = await configured();
    const { id: key } = JSON.parse((await cli('keys', 'create', 'Birk', '--json')).stdout);
    const call = await startApi();
    const url = 'http://192.168.1.1/hook';
    expect((await call('POST', '/monitors', { name: 'Inside', url })).status).toBe(422);
    expect((await call('POST', '/jobs', { provider: 'hubspot', key, url })).status).toBe(422);
    const made = await call('POST', '/monitors', { name: 'One', url: 'https://hooks.example.com/a' });
    expect(await call('PATCH', `/monitors/${made.json.id}`, { url })).toMatchObject({
      status: 422,
      json: { errors: [{ path: 'body.url', message: expect.stringContaining('is a private address') }] },
    });
  });
});

describe('a mail-only monitor', () => {
  it('warns that no mail is sent without a mail server', async () => {
    const { cli } = await configured();
    const made = await cli(
      '--log-level',
      'warn',
      'monitors',
      'create',
      'Sales',
      '--email',
      'anna@example.com',
      '--json',
    );
    expect(made.stderr).toContain('no mail goes out');
    const { id } = JSON.parse(made.stdout);
    const mute = await cli('--log-level', 'warn', 'monitors', 'update', id, '--name', 'Sales and finance');
    expect([mute.code, mute.stderr]).toEqual([0, expect.stringContaining('Set service.smtp')]);
    const smtp = { url: 'smtp://127.0.0.1:9', from: 'cvrsync@example.com' };
    const { cli: mailing } = await configured({}, { smtp });
    expect(
      (await mailing('--log-level', 'warn', 'monitors', 'create', 'Sales', '--email', 'anna@example.com')).stderr,
    ).toBe('');
  });

  it('prints no secret, because it signs nothing', async () => {
    const { cli, startApi } = await configured();
    const text = await cli('monitors', 'create', 'Sales', '--email', 'anna@example.com');
    expect([text.code, text.stdout]).toEqual([0, expect.stringContaining('It notifies by mail.')]);
    const json = await cli('monitors', 'create', 'Two', '--email', 'anna@example.com', '--json');
    expect(`${text.stdout}${json.stdout}`).not.toMatch(/whsec_|signingSecret"/);
    const made = await (await startApi())('POST', '/monitors', { name: 'Three', emails: ['anna@example.com'] });
    expect(made).toMatchObject({ status: 201, json: { name: 'Three' } });
    expect(made.json).not.toHaveProperty('signingSecret');
    const hook = await cli('monitors', 'create', 'Hook', '--url', 'https://hooks.example.com/a');
    expect(hook.stdout).toContain('whsec_');
  });
});
