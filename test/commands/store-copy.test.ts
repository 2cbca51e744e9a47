/** `store copy` and `store reopen`: an installation with its real story, moved between engines as an operator does it. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../src/app.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { askCli, runCli } from '../support/cli.ts';
import { checked } from '../support/config.ts';
import { postWebhook, startFixture } from '../support/fixture.ts';
import { emptyStoreUrl, makeOlder, newFolder, newStoreUrl, opened } from '../support/stores.ts';
import { rowsWith } from './whole-store.ts';

const CONNECTOR = {
  connector: {
    webhook: { auth: { method: 'None' } },
    providers: { hubspot: { use: 'hubspot', accessToken: 'pat-eu1-token' } },
  },
};
const SERVICE = { service: { register: { source: 'file', path: '/nowhere' } } };

/** Command lines on a store. */
function configured(store: string, halves: object = CONNECTOR) {
  const file = path.join(newFolder(), 'cvrsync.json');
  writeFileSync(file, JSON.stringify({ ...halves, store }));
  return Object.assign((...argv: readonly string[]) => runCli(['--config', file, ...argv]), { file });
}

const rest = async (store: Store): Promise<readonly string[]> =>
  (await rowsWith(store, '')).filter((row) => !/^(?:audit|daemon|kv|lane) /u.test(row));

it('moves an installation to PostgreSQL and back, and a daemon continues with it', { timeout: 60_000 }, async () => {
  const fixture = await startFixture();
  const record = await fixture.addLinked('hubspot', ENTITY, { name: 'Old' });
  // What PostgreSQL keeps in no text: a NUL, and half a character.
  expect(await fixture.post(renamed('Old', 'N\0y \ud83d Ærø 😀', 1))).toBe(204);
  await fixture.atRest();
  expect(await fixture.history(record)).not.toEqual([]);
  await fixture.app.close(1_000);

  const config: { readonly store: string } = JSON.parse(readFileSync(fixture.configFile, 'utf8'));
  const before = await rest(await opened(config.store));
  expect(before.join()).toContain('Ærø 😀');
  const postgres = await newStoreUrl('postgres');
  const run = configured(config.store, config);
  const moved = await run('store', 'copy', '--to', postgres, '--yes', '--json');
  expect(moved.code, moved.stderr).toBe(0);
  expect(JSON.parse(moved.stdout)).toMatchObject({ from: config.store, continued: false, rows: expect.any(Number) });
  expect(await rest(await opened(postgres))).toEqual(before);

  expect(await run('serve')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/was copied to postgres:\/\/.* cvrsync store reopen/u),
  });
  const { config: there } = await checked({ ...config, store: postgres });
  const app = await startApp(there, { log: pino({ level: 'silent' }), env: {} });
  expect(await postWebhook(`${app.url}/webhook`, renamed('Ny', 'Later', 2))).toBe(204);
  await app.connector?.drained();
  await app.close(1_000);
  const later = await rest(await opened(postgres));
  expect(later.length).toBeGreaterThan(before.length);

  const file = path.join(newFolder(), 'back.db');
  expect((await configured(postgres)('store', 'copy', '--to', file, '--yes')).code).toBe(0);
  const back = await opened(file);
  expect(await rest(back)).toEqual(later);
  const entries = (await readAudit(back.db, {}, 20)).filter(({ action }) => action === 'store.copy');
  expect(entries.map(({ result }) => result)).toEqual(['done', 'begun', 'done', 'begun']);
});

describe('store copy', () => {
  it('shows the number of rows, and copies nothing before a yes', async () => {
    const store = await newStoreUrl('sqlite');
    const to = path.join(newFolder(), 'copy.db');
    const run = configured(store);
    await run('keys', 'create', 'one');
    const { code, stderr } = await run('store', 'copy', '--to', to);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/Copy 2 rows from .* to .*copy\.db\? cvrsync cannot ask here: add --yes/u),
    ]);
    const no = await askCli('n\n', ['--config', run.file, 'store', 'copy', '--to', to]);
    expect(no.code).toBe(1);
    expect((await run('keys', 'list')).code).toBe(0);
    const yes = await askCli('y\n', ['--config', run.file, 'store', 'copy', '--to', to]);
    expect([yes.code, yes.shown]).toEqual([0, expect.stringContaining('each is the same in both stores')]);
    expect(yes.shown).toMatch(/comparing: 3 of 3 rows, .*\/s/u);
  });

  it('requires another place, and refuses while the daemon runs', async () => {
    const store = await newStoreUrl('sqlite');
    const run = configured(store);
    expect(await run('store', 'copy')).toMatchObject({ code: 2, stderr: expect.stringContaining('say where: --to') });
    expect(await run('store', 'copy', '--to', store, '--yes')).toMatchObject({ code: 2 });
    const daemon = await openStore(store, { claim: true });
    const refused = await run('store', 'copy', '--to', await emptyStoreUrl('sqlite'), '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Another cvrsync daemon is running on') });
    await daemon.close();
    expect((await run('links')).code).toBe(0);
  });

  it('is refused if the target has another schema version, without changing the store', async () => {
    const store = await newStoreUrl('sqlite');
    const target = await newStoreUrl('sqlite');
    await makeOlder(await opened(target));
    const run = configured(store);
    const refused = await run('store', 'copy', '--to', target, '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${target} cannot take the copy`) });
    expect(refused.stderr).toContain('because: The store has schema version 0');
    expect((await run('links')).code).toBe(0);
  });

  it('copies key and token next to a file, and names their replacement on PostgreSQL', async () => {
    const store = await newStoreUrl('sqlite');
    writeFileSync(`${store}.key`, `${'A'.repeat(43)}=\n`);
    writeFileSync(`${store}.token`, `${'t'.repeat(20)}\n`);
    const run = configured(store, SERVICE);
    const file = path.join(newFolder(), 'copy.db');
    expect((await run('store', 'copy', '--to', file, '--yes')).stdout).toContain(`Copied ${file}.key beside it.`);
    for (const end of ['key', 'token']) {
      expect(readFileSync(`${file}.${end}`, 'utf8')).toBe(readFileSync(`${store}.${end}`, 'utf8'));
      expect(statSync(`${file}.${end}`).mode & 0o777).toBe(0o600);
    }
    const { stdout } = await configured(file, SERVICE)(
      'store',
      'copy',
      '--to',
      await emptyStoreUrl('postgres'),
      '--yes',
    );
    expect(stdout).toContain(`Set service.secretKey to what ${file}.key holds`);
    expect(stdout).toContain(`the admin token of ${file}.token`);
  });

  it('shows no password of the address', async () => {
    const store = await newStoreUrl('sqlite');
    const secret = new URL(await emptyStoreUrl('postgres'));
    secret.password ||= 'hush-hush';
    const run = configured(store);
    const { stdout, stderr, code } = await run('store', 'copy', '--to', secret.href, '--yes');
    expect([code, `${stdout}${stderr}`.includes(secret.password)]).toEqual([0, false]);
    const kept = await configured(secret.href)('store', 'copy', '--to', secret.href.replace('/t', '/x'), '--yes');
    expect([kept.code, kept.stderr.includes(secret.password)]).toEqual([1, false]);
    expect(JSON.stringify(await readAudit((await opened(secret.href)).db, {}, 9))).not.toContain(secret.password);
  });
});

describe('store reopen', () => {
  it('makes the old store usable again', async () => {
    const store = await newStoreUrl('sqlite');
    const run = configured(store);
    const to = path.join(newFolder(), 'copy.db');
    await run('store', 'copy', '--to', to, '--yes');
    const closed = await run('links');
    expect([closed.code, closed.stderr]).toEqual([1, expect.stringContaining(`was copied to ${to}`)]);
    expect((await run('check')).stdout).toContain('was copied to');
    expect((await run('store', 'reopen')).code).toBe(2);
    const { stdout } = await run('store', 'reopen', '--yes');
    expect(stdout).toContain(`is in use again. Delete its copy at ${to}`);
    expect((await run('links')).code).toBe(0);
    expect((await run('store', 'reopen', '--yes')).stdout).toContain('was not copied');
  });
});
