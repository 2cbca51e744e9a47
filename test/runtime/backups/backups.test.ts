/** Backups of the daemon: real copies of a real SQLite file, with a manual clock. */
import { closeSync, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { conditionsOf } from '../../../src/alerts/conditions.ts';
import { observe } from '../../../src/alerts/observe.ts';
import { startApp } from '../../../src/app.ts';
import { type BackupSettings, endBackups, startBackups } from '../../../src/runtime/backups/backups.ts';
import { copyKey } from '../../../src/service/keys/copy-key.ts';
import type { Store } from '../../../src/store/store.ts';
import { handClock } from '../../support/clock.ts';
import { checked, connectorWith, problemsOf } from '../../support/config.ts';
import { newFolder, newStoreUrl, opened } from '../../support/stores.ts';

const HOUR = 3_600_000;
const NAME = /^cvrsync-\d{8}T\d{6}Z\.db$/u;

async function harness(more: Partial<BackupSettings> = {}) {
  const file = await newStoreUrl('sqlite');
  const store = await opened(file);
  const clock = handClock();
  const folder = path.join(newFolder(), 'copies');
  const errors: string[] = [];
  const gauges: Record<string, number> = {};
  const log = { info() {}, error: ({ err }: { err?: unknown }) => void errors.push(String(err)) };
  const gauge = (name: string) => ({ set: (seconds: number) => void Object.assign(gauges, { [name]: seconds }) });
  const metrics = { backupAgeSeconds: gauge('age'), backupIntervalSeconds: gauge('interval') };
  const settings = { folder, everyHours: 6, keep: 2, verify: true, ...more };
  const deps = { store, file, now: clock.now, log, metrics, copyKey: (to: string) => copyKey(file, to) };
  const start = async () => {
    const backups = await startBackups(deps, settings);
    let isStopped = false;
    const stop = async () => {
      if (!isStopped) await backups.stop(1_000);
      isStopped = true;
    };
    onTestFinished(stop);
    await backups.drained();
    return { ...backups, stop: stop };
  };
  const files = () => readdirSync(settings.folder).toSorted();
  return { file, store, clock, folder, errors, gauges, start, files };
}

/** The keys of what an operator is told of. */
const toldOf = async (store: Store, now: number) =>
  conditionsOf(await observe(store, now, 100), { reviewOver: 100, registerBehindMinutes: 60 }, now).map(
    ({ key }) => key,
  );

/** Overwrites the first page of an index that nothing reads. */
function damage(file: string): void {
  const db = new Database(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const size = Number(db.pragma('page_size', { simple: true }));
  const page = Number(
    db
      .prepare(`select rootpage from sqlite_schema where type = 'index' and tbl_name = 'history' limit 1`)
      .pluck()
      .get(),
  );
  db.close();
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(size, 0x5a), 0, size, (page - 1) * size);
  closeSync(descriptor);
}

describe('backups of the daemon', () => {
  it('are made at the interval with the key, and only the newest stay', async () => {
    const { file, clock, folder, start, files, errors, gauges } = await harness();
    writeFileSync(`${file}.key`, `${'A'.repeat(43)}=\n`);
    const backups = await start();
    const first = files();
    expect(first).toEqual([expect.stringMatching(NAME), `${first[0]}.key`]);
    expect(statSync(path.join(folder, first[0] ?? '')).mode & 0o777).toBe(0o600);
    writeFileSync(path.join(folder, 'cvrsync-20200101T000000Z.db.partial'), 'of a process that was killed');
    writeFileSync(path.join(folder, 'notes.txt'), 'of a person');
    clock.forward(5.9 * HOUR);
    await backups.drained();
    expect(files().filter((name) => NAME.test(name))).toHaveLength(1);
    for (let time = 0; time < 2; time += 1) {
      clock.forward(6 * HOUR);
      await backups.drained();
    }
    const names = files().filter((name) => NAME.test(name));
    expect([names.length, names.includes(first[0] ?? '')]).toEqual([2, false]);
    expect(files()).toEqual([...names, ...names.map((name) => `${name}.key`), 'notes.txt'].toSorted());
    clock.forward(HOUR);
    await backups.measure();
    expect(gauges['interval']).toBe(6 * 3_600);
    expect(gauges['age']).toBeGreaterThanOrEqual(3_600);
    expect(gauges['age']).toBeLessThan(3_660);
    const copy = await opened(path.join(folder, names[0] ?? ''));
    expect(await copy.db.selectFrom('link').selectAll().execute()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('continue after a restart at the interval since the last copy', async () => {
    const { clock, start, files } = await harness();
    await (await start()).stop();
    clock.forward(5 * HOUR);
    const again = await start();
    expect(files()).toHaveLength(1);
    clock.forward(1.1 * HOUR);
    await again.drained();
    expect(files()).toHaveLength(2);
  });

  it('report a damaged copy and keep none of it, and report nothing more without the setting', async () => {
    const { file, store, clock, start, files, errors } = await harness();
    const backups = await start();
    const sound = files();
    damage(file);
    clock.forward(6 * HOUR);
    await backups.drained();
    expect(files()).toEqual(sound);
    expect(errors.join()).toMatch(/cvrsync-\d+T\d+Z\.db is damaged/u);
    expect(await toldOf(store, clock.now())).toEqual(['backup']);
    await backups.stop();
    await endBackups(store);
    expect(await toldOf(store, clock.now())).toEqual([]);
  });

  it('are retried every quarter of an hour if the folder is not writable, and report when it is', async () => {
    const blocked = path.join(newFolder(), 'file');
    writeFileSync(blocked, '');
    const { store, clock, start, files, errors } = await harness({ folder: blocked });
    const backups = await start();
    expect(errors).toHaveLength(1);
    expect(await toldOf(store, clock.now())).toEqual(['backup']);
    clock.forward(15 * 60_000);
    await backups.drained();
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain(blocked);
    rmSync(blocked);
    clock.forward(15 * 60_000);
    await backups.drained();
    expect(files()).toHaveLength(1);
    expect(await toldOf(store, clock.now())).toEqual([]);
  });

  it.each([true, false])('are part of the daemon if they are configured (%s), with their metrics', async (isOn) => {
    const [store, folder] = [await newStoreUrl('sqlite'), newFolder()];
    const listeners = { server: { port: 0 }, admin: { port: 0, openMetrics: true } };
    const configured = { ...connectorWith(), ...listeners, store, ...(isOn && { backup: { folder } }) };
    const app = await startApp((await checked(configured)).config, { log: pino({ enabled: false }), env: {} });
    onTestFinished(() => app.close(1_000));
    const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
    expect(/^cvrsync_backup_age_seconds \d/mu.test(text)).toBe(isOn);
    expect(/^cvrsync_backup_interval_seconds 21600$/mu.test(text)).toBe(isOn);
    if (isOn) await vi.waitFor(() => expect(readdirSync(folder)).toEqual([expect.stringMatching(NAME)]));
  });

  it('are refused for PostgreSQL, with what to use instead', async () => {
    const configured = { ...connectorWith(), backup: { folder: 'copies' } };
    expect(await problemsOf(configured)).toEqual([]);
    expect(await problemsOf({ ...configured, store: 'postgres://u@db/cvr' })).toEqual([
      expect.stringMatching(/^backup .*pg_dump/u),
    ]);
  });
});
