/** `restore`: a copy in the place of the store, after a real crash, with nothing of the old store played over it. */
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { gapFindings } from '../../src/commands/check/gaps.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { readGaps } from '../../src/store/recovery/gap.ts';
import { renamed } from '../faults/company.ts';
import { askCli, runCli } from '../support/cli.ts';
import { checked } from '../support/config.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, postWebhook, startCrms } from '../support/fixture.ts';
import { newFolder, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';

let folder = '';
let store = '';
let copy = '';
beforeEach(async () => {
  folder = newFolder();
  store = await newStoreUrl('sqlite');
  copy = path.join(folder, 'copy.db');
});

/** Runs a command line on a store, with a configuration of a connector, or of what else is named. */
function configured(url: string, halves: object = CONNECTOR) {
  const file = path.join(folder, 'cvrsync.json');
  writeFileSync(file, JSON.stringify({ store: url, ...halves }));
  return (...argv: readonly string[]) => runCli(['--config', file, ...argv]);
}

const CONNECTOR = {
  connector: {
    webhook: { auth: { method: 'None' } },
    providers: { hubspot: { use: 'hubspot', accessToken: 'pat-eu1-token' } },
  },
};
const SERVICE = { service: { register: { source: 'file', path: '/nowhere' } } };

const countIn = (file: string): unknown => {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare('select (select count(*) from receipt) + (select count(*) from arrival)').pluck().get();
  } finally {
    db.close();
  }
};

/** The old stores that lie beside the store. */
const asides = (): readonly string[] =>
  readdirSync(path.dirname(store))
    .filter((name) => /\.replaced-\d{8}T\d{6}Z$/u.test(name))
    .map((name) => path.join(path.dirname(store), name));

test('after a crash the copy is intact, and the old journal is not replayed over it', { timeout: 60_000 }, async () => {
  const config = configFor(await startCrms(), store);
  const run = configured(store);
  const daemon = await daemonWith(config);
  await daemon.start();
  const post = async (from: number, count: number): Promise<void> => {
    for (let at = from; at < from + count; at += 1)
      expect(await postWebhook(`${daemon.url}/webhook`, renamed(`Name ${at}`, `Name ${at + 1}`, at))).toBe(204);
  };
  await post(0, 2);
  const { stdout } = await run('backup', copy);
  expect(stdout).toContain(`stop the daemon and run: cvrsync restore ${copy}`);
  await post(2, 40);
  expect(await run('restore', copy, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another cvrsync daemon is running'),
  });
  await daemon.kill('SIGKILL');
  expect(statSync(`${store}-wal`).size).toBeGreaterThan(0);

  const restored = await run('restore', copy, '--yes');
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(restored.stdout).toMatch(/It is of 20\d\d-.*Z, 0 minutes ago, and holds 0 links, 0 monitors/u);
  expect(restored.stdout).toMatch(/The store in place holds 40 events and 0 decisions from after the copy/u);
  expect(restored.stdout).toContain('`cvrsync monitoring update`');
  expect(existsSync(`${store}-wal`)).toBe(false);
  const [aside = ''] = asides();
  expect(restored.stdout).toContain(`The old store is ${aside}`);
  expect(countIn(aside)).toBe(42);

  await daemon.start();
  expect(countIn(store)).toBe(2);
  const [gap] = await readGaps((await opened(store)).db);
  expect(gap).toMatchObject({ cause: 'restored', since: expect.any(Number) });
  expect((gap?.since ?? 0) <= (gap?.until ?? 0)).toBe(true);
});

describe('a copy is refused', () => {
  /** Restores without asking; the store is as it was. */
  const refusalOf = async (halves: object = CONNECTOR): Promise<string> => {
    const before = readFileSync(store);
    const { code, stderr } = await configured(store, halves)('restore', copy, '--yes');
    expect([code, asides()]).toEqual([1, []]);
    expect(readdirSync(path.dirname(store)).filter((name) => name.includes('restoring'))).toEqual([]);
    if (halves === CONNECTOR) expect(readFileSync(store).length).toBe(before.length);
    return stderr;
  };

  test('that is missing, not a database, cut, or of another program', async () => {
    expect(await refusalOf()).toContain('there is no file');
    writeFileSync(copy, 'not a database at all, but a text that is long enough'.repeat(100));
    expect(await refusalOf()).toContain('is not a SQLite database');
    copyFileSync(store, copy);
    truncateSync(copy, statSync(copy).size / 2);
    expect(await refusalOf()).toContain('is damaged');
    const other = new Database(path.join(folder, 'other.db'));
    other.exec('create table person (name text)');
    other.close();
    copyFileSync(path.join(folder, 'other.db'), copy);
    expect(await refusalOf()).toContain('not a store of cvrsync');
  });

  test('that a newer version wrote', async () => {
    copyFileSync(store, copy);
    const db = new Database(copy);
    db.exec('update schema_version set version = 9999');
    db.close();
    expect(await refusalOf()).toContain('written by a newer cvrsync');
  });

  test('of the half that the configuration does not run', async () => {
    copyFileSync(store, copy);
    const db = new Database(copy);
    db.exec(`insert into link (provider, record_id, entity, state, desired, observed, created_at, updated_at)
      values ('hubspot', '1', 'CVR-1-10000001', 'active', 'on', 'on', 0, 0)`);
    db.close();
    expect(await refusalOf(SERVICE)).toContain('the copy is of a connector');
  });
});

test('asks first, and changes nothing without a terminal or after a no', async () => {
  const run = configured(store);
  await run('backup', copy);
  const { code, stderr } = await run('restore', copy);
  expect([code, stderr]).toEqual([2, expect.stringContaining('cvrsync cannot ask here: add --yes')]);
  const argv = ['--config', path.join(folder, 'cvrsync.json'), 'restore', copy];
  const no = await askCli('n\n', argv);
  expect([no.code, no.shown, asides()]).toEqual([1, expect.stringMatching(/Restore sqlite at .* to 20.*\?/u), []]);
  expect((await askCli('y\n', argv)).code).toBe(0);
  expect(asides()).toHaveLength(1);
});

test('does not change the file of the copy', async () => {
  await configured(store)('backup', copy);
  const before = readFileSync(copy);
  const changedAt = statSync(copy).mtimeMs;
  expect(await configured(store)('restore', copy, '--yes')).toMatchObject({ code: 0, stderr: '' });
  const [gap] = await readGaps((await opened(store)).db);
  expect([readFileSync(copy).equals(before), statSync(copy).mtimeMs]).toEqual([true, changedAt]);
  // The copy holds that it was begun: what came later may not be in it.
  const [entry] = await readAudit((await opened(copy)).db, {}, 1);
  expect([entry?.action, entry?.result, gap?.since]).toEqual(['store.backup', 'begun', entry?.at]);
});

test('restores the key with the store, keeps the old key, and names later actions of people', async () => {
  const run = configured(store, SERVICE);
  writeFileSync(`${store}.key`, `${'A'.repeat(43)}=\n`);
  await run('backup', copy);
  writeFileSync(`${store}.key`, `${'B'.repeat(43)}=\n`);
  await run('keys', 'create', 'later');
  const restored = await run('restore', copy, '--yes');
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(restored.stdout).toContain('Repeat by hand what people did since the copy: key.create (1)');
  const [aside = ''] = asides();
  expect([readFileSync(`${store}.key`, 'utf8')[0], readFileSync(`${aside}.key`, 'utf8')[0]]).toEqual(['A', 'B']);
  expect(statSync(store).mode & 0o777).toBe(0o600);
  expect(statSync(`${store}.key`).mode & 0o777).toBe(0o600);
});

test.each(SUITE_ENGINES)('--mark records that the store was restored by other means (%s)', async (engine) => {
  const url = await newStoreUrl(engine);
  const run = configured(url);
  expect((await run('restore')).code).toBe(2);
  expect(await run('restore', '--mark', '--since', '3h')).toMatchObject({ code: 0, stderr: '' });
  const { db } = await opened(url);
  expect(await gapFindings(db, {})).toEqual([]);
  const { config } = await checked(CONNECTOR);
  expect(await gapFindings(db, config)).toMatchObject([{ level: 'warn', found: expect.stringContaining('restored') }]);
  const [gap] = await readGaps(db);
  expect(await run('monitoring', 'update')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('of 0 companies'),
  });
  expect(await gapFindings(db, config)).toEqual([]);
  expect(Math.round(((gap?.until ?? 0) - (gap?.since ?? 0)) / 60_000)).toBe(180);
});
