/** `operators`: who may use the dashboard, from the command line. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { findOperator } from '../../src/runtime/operators/operators.ts';
import { startSession, useLoginLink } from '../../src/runtime/operators/sessions.ts';
import { runCli } from '../support/cli.ts';
import { newFolder, opened } from '../support/stores.ts';

async function configured() {
  const folder = newFolder();
  const url = join(folder, 'store.db');
  const file = join(folder, 'cvrsync.json');
  await writeFile(file, JSON.stringify({ store: url, service: { register: { source: 'file', path: folder } } }));
  const store = await opened(url);
  const run = (...argv: readonly string[]) => runCli(['--config', file, '--log-level', 'error', 'operators', ...argv]);
  return { store, run };
}

describe('operators', () => {
  it('are created with a token that is shown once, listed without it, and revoked with their sessions', async () => {
    const { store, run } = await configured();
    const made = JSON.parse((await run('create', ' Ida ', '--role', 'operator', '--json')).stdout);
    expect(made).toMatchObject({ name: 'Ida', role: 'operator' });
    expect(await findOperator(store.db, made.token)).toEqual({ name: 'Ida', role: 'operator' });
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject([
      { name: 'Ida', role: 'operator', revoked: null },
    ]);
    expect((await run('list')).stdout).not.toContain(made.token);
    await store.write((tx) => startSession(tx, { operator: 'Ida', agent: 'a browser' }, Date.now()));
    for (const _time of ['first', 'again']) expect((await run('revoke', 'Ida')).code).toBe(0);
    expect(await findOperator(store.db, made.token)).toBeUndefined();
    expect(await store.db.selectFrom('session').selectAll().execute()).toEqual([]);
  });

  it('are audited without the token', async () => {
    const { store, run } = await configured();
    const { stdout } = await run('create', 'Bo', '--role', 'admin');
    await run('revoke', 'Bo');
    const entries = await readAudit(store.db, {}, 10);
    expect(entries).toMatchObject([
      { actor: { kind: 'user' }, via: 'command', action: 'operator.revoke', subject: 'Bo' },
      { actor: { kind: 'user' }, via: 'command', action: 'operator.create', subject: 'Bo', detail: { role: 'admin' } },
    ]);
    const token = stdout.split('\n')[0] ?? '';
    expect(token).toMatch(/^cvrsync_operator_[\w-]{43}$/);
    expect(JSON.stringify(entries)).not.toContain(token);
  });

  it('may be created again only after they were revoked', async () => {
    const { run } = await configured();
    await run('create', 'Ida', '--role', 'viewer');
    const twice = await run('create', 'Ida', '--role', 'admin');
    expect([twice.code, twice.stdout]).toEqual([1, '']);
    expect(twice.stderr).toContain('there is an operator Ida already');
    await run('revoke', 'Ida');
    expect((await run('create', 'Ida', '--role', 'admin')).code).toBe(0);
  });

  it('get a link that signs them in, or without a name the link that creates the first operator', async () => {
    const { store, run } = await configured();
    const linkOf = async (...name: readonly string[]) => (await run('login-link', ...name)).stdout.trim();
    const used = async (link: string) => {
      const [, token = ''] = /^http:\/\/127\.0\.0\.1:8081\/login\/([\w-]{43})$/.exec(link) ?? [];
      return await store.write((tx) => useLoginLink(tx, token, Date.now()));
    };
    expect(await used(await linkOf())).toBe('admin');
    const none = await run('login-link');
    expect([none.code, none.stdout]).toEqual([1, '']);
    expect(await used(await linkOf('admin'))).toBe('admin');
    expect(await readAudit(store.db, { action: 'operator.link' }, 5)).toMatchObject([{ subject: 'admin' }]);
    await run('revoke', 'admin');
    expect((await run('login-link', 'admin')).code).toBe(1);
  });

  it.each([
    ['no role', ['create', 'Ida'], 2, '--role is one of viewer, operator, admin'],
    ['an unknown role', ['create', 'Ida', '--role', 'king'], 2, 'king is not one of viewer, operator, admin'],
    ['a name of two lines', ['create', 'Ida\nBo', '--role', 'viewer'], 2, 'name is 1 to 100 characters'],
    ['a token that is revoked', ['allow', 'cvrsync_operator_typed'], 1, 'operators create prints a new token'],
    ['a link of nobody', ['login-link', 'cvrsync_operator_typed'], 1, 'there is no active operator of this name'],
    ['an unknown name', ['revoke', 'cvrsync_operator_typed'], 1, 'there is no operator of this name'],
  ])('explain the error in %s', async (_what, argv, code, message) => {
    const { run } = await configured();
    const ran = await run(...argv);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain('typed');
  });
});
