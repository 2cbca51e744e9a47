/** The admin token: made at the first start, kept beside the store, used by the commands by themselves. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { adminAt } from '../dashboard/visitor.ts';
import { runCli } from '../support/cli.ts';
import { checked } from '../support/config.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** A service's configuration in a folder of its own, and the daemon on it. */
function prepare(store: string, more: object = {}) {
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const service = { register: { source: 'file', path: folder }, secretKey: SECRET_KEY };
  const config = { server: { port: 0 }, store, service, ...more };
  writeFileSync(file, JSON.stringify(config));
  const start = async (): Promise<App> => {
    const app = await startApp((await checked(config)).config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(1_000));
    return app;
  };
  const cli = (...argv: readonly string[]) => runCli(['--config', file, ...argv]);
  return { start, cli };
}

const statusWith = async (app: App, token: string): Promise<number> =>
  (await fetch(`${app.adminUrl}/admin/api/keys`, { headers: { authorization: `Bearer ${token}` } })).status;

/** A port that nobody listens on at the moment. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

describe('the admin token', () => {
  it('is created at the first start next to the store, readable by its owner only, and stays the same', async () => {
    const store = join(newFolder(), 'store.db');
    const { start, cli } = prepare(store);
    const app = await start();
    const file = `${store}.token`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const token = readFileSync(file, 'utf8').trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect([await statusWith(app, token), await statusWith(app, `${token}x`)]).toEqual([200, 401]);
    await app.close(1_000);
    expect(await statusWith(await start(), token)).toBe(200);
    expect((await cli('token')).stdout.trim()).toBe(token);
  });

  it('is used by check, which says whether the running daemon accepts it', async () => {
    const store = join(newFolder(), 'store.db');
    const port = await freePort();
    const { start, cli } = prepare(store, { server: { port: 0 }, admin: { port } });
    await start();
    const reported = async () => (await cli('check', '--all')).stdout;
    expect(await reported()).toContain('the running daemon accepts the admin token');
    writeFileSync(`${store}.token`, 'another-token-of-some-length\n');
    expect(await reported()).toContain('has another admin token');
    writeFileSync(`${store}.token`, 'short\n');
    expect(await reported()).toContain('does not hold a token');
  });

  it('is the configured one if set, without a file', async () => {
    const store = join(newFolder(), 'store.db');
    const { start, cli } = prepare(store, { admin: { token: 'a-token-of-some-length' } });
    expect(await statusWith(await start(), 'a-token-of-some-length')).toBe(200);
    expect(existsSync(`${store}.token`)).toBe(false);
    const { code, stdout, stderr } = await cli('token');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('admin.token');
    expect(stderr).not.toContain('a-token-of-some-length');
  });

  it('is the same for all replicas on PostgreSQL: derived from service.secretKey', async () => {
    const store = await newStoreUrl('postgres');
    const [one, two] = [prepare(store), prepare(store)];
    const token = (await one.cli('token')).stdout.trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(token).not.toContain(SECRET_KEY.slice(0, 8));
    for (const { start } of [one, two]) expect(await statusWith(await start(), token)).toBe(200);
  });

  it('or a session is required by /metrics and /openapi.json, unless they are open', async () => {
    const store = join(newFolder(), 'store.db');
    const app = await prepare(store).start();
    const token = readFileSync(`${store}.token`, 'utf8').trim();
    const operator = await adminAt(app.adminUrl, app.store);
    const statuses = async ({ adminUrl }: App, path: string) =>
      await Promise.all(
        [{}, { authorization: `Bearer ${token}` }, { authorization: `Bearer ${token}x` }].map(
          async (headers) => (await fetch(adminUrl + path, { headers })).status,
        ),
      );
    const open = await prepare(join(newFolder(), 'store.db'), { admin: { openMetrics: true } }).start();
    for (const path of ['/metrics', '/openapi.json']) {
      expect(await statuses(app, path), path).toEqual([401, 200, 401]);
      expect((await operator.get(path)).status, path).toBe(200);
      expect((await fetch(open.adminUrl + path)).status, path).toBe(200);
    }
    expect((await fetch(`${app.adminUrl}/live`)).status).toBe(200);
  });
});
