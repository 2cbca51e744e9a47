/**
 * A daemon and a command on one SQLite file, of which one or both sleep (SIGSTOP) for longer than a lease while the other
 * works, or while the clock jumps: the CRM and history end exact.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { startCommand } from '../support/command.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, lanesBehind, postWebhook, startCrms, watchStore } from '../support/fixture.ts';
import { freeze } from '../support/freeze.ts';
import { historyLines } from '../support/history.ts';
import { holdingProxy } from '../support/holding-proxy.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { ENTITY, OTHER, renamed } from './company.ts';

const WAITING = { timeout: 120_000, interval: 20 };
const JUMPS = ['--import', path.join(import.meta.dirname, '../support/clock-preload.mjs')];
const READ = /batch\/read$/;
const WRITE = /batch\/update$/;

async function open() {
  const crms = await startCrms({ hubspot: { rate: 'none' } });
  const crm = await holdingProxy(crms.hubspot.url);
  const url = await newStoreUrl('sqlite');
  const match = { property: 'cvr_number' };
  const config = configFor(crms, url, { leaseSeconds: 5, connections: { hubspot: { baseUrl: crm.url, match } } });
  const [store, daemon, folder] = [await openStore(url), await daemonWith(config, JUMPS), newFolder()];
  const file = path.join(folder, 'cvrsync.json');
  await writeFile(file, JSON.stringify(config));
  const records = new Map<string, string>();
  for (const entity of [ENTITY, OTHER]) {
    const recordId = crms.hubspot.add({ name: 'A ApS', cvr_number: entity.slice('CVR-1-'.length) });
    records.set(entity, recordId);
    const link = { provider: 'hubspot', recordId, entity, sendUpdate: false, now: Date.now() };
    await store.write((tx) => linkRecord(tx, link));
  }
  await store.close();
  const watched = await watchStore(url);
  await daemon.start();
  const report = (before: string, after: string, hour: number, entity: string) =>
    postWebhook(`${daemon.url}/webhook`, renamed(before, after, hour, entity));
  for (const entity of [ENTITY, OTHER]) await report('A ApS', 'B ApS', 8, entity);
  const atRest = () => untilNone(() => lanesBehind(watched));
  await atRest();
  const command = (...args: readonly string[]) => startCommand([...args, '--config', file], folder, JUMPS);
  return {
    url,
    crms,
    crm,
    daemon,
    folder,
    report,
    atRest,
    command,
    undo: (entity: string) => command('undo', '--yes', '--hold', 'forever', '--entity', entity, '--property', 'name'),
    /** What the CRM holds of a company: its name, and the property that only we write. */
    held(entity: string) {
      const { name, cvr_name: own } = crms.hubspot.get(records.get(entity) ?? '') ?? {};
      return [name, own];
    },
    /** What history says was written to its name. */
    async names(entity: string) {
      const written = (await historyLines(watched.db)).filter(
        (line) => line.entity === entity && line.property === 'name' && line.outcome === 'written',
      );
      return written.map(({ rule, old, now }) => `${rule} ${JSON.stringify(old)} -> ${JSON.stringify(now)}`);
    },
    stoodStill: () => daemon.log.filter((line) => line.includes('process froze')).length,
  };
}

const WRITTEN = 'register "A ApS" -> "B ApS"';
const UNDONE = [WRITTEN, 'undo "B ApS" -> "A ApS"'];

test('freezing the daemon, commands, or both leaves the CRM and history exact', async () => {
  const { url, crms, crm, daemon, folder, report, atRest, command, undo, held, names, stoodStill } = await open();

  // The daemon sleeps amid a sync; a backfill links a record, and an undo takes the daemon's record over.
  const plan = path.join(folder, 'plan.csv');
  const number = cvrNumber(7);
  const found = crms.hubspot.add({ name: 'Fundet ApS', cvr_number: number });
  expect((await command('backfill', 'hubspot', '--plan', plan).ended).code).toBe(0);
  const amidSync = crm.hold(READ, 'after');
  await report('B ApS', 'C ApS', 9, ENTITY);
  await expect.poll(() => amidSync.held.length, WAITING).toBe(1);
  await freeze(daemon, url);
  amidSync.stop();
  expect((await command('backfill', 'hubspot', '--apply', plan, '--yes').ended).code).toBe(0);
  expect((await undo(ENTITY).ended).code).toBe(0);
  amidSync.release();
  daemon.signal('SIGCONT');
  await expect.poll(stoodStill, WAITING).toBe(1);
  await report('Fundet ApS', 'Fundet A/S', 9, `CVR-1-${number}`);
  await atRest();
  expect(held(ENTITY)).toEqual(['A ApS', 'C ApS']);
  expect(await names(ENTITY)).toEqual(UNDONE);
  expect(crms.hubspot.get(found)).toMatchObject({ name: 'Fundet A/S' });

  // An undo sleeps between its write and the answer; the daemon, which slept as it began, takes its record over.
  await freeze(daemon, url);
  const amidUndo = crm.hold(WRITE, 'before');
  const sleeper = undo(OTHER);
  await expect.poll(() => amidUndo.held.length, WAITING).toBe(1);
  await freeze(sleeper, url);
  daemon.signal('SIGCONT');
  amidUndo.stop();
  await report('B ApS', 'C ApS', 9, OTHER);
  await atRest();
  expect(held(OTHER)).toEqual(['B ApS', 'C ApS']);
  amidUndo.release();
  sleeper.signal('SIGCONT');
  expect((await sleeper.ended).code).toBe(0);
  await atRest();
  expect(held(OTHER)).toEqual(['A ApS', 'C ApS']);
  expect(await names(OTHER)).toEqual(UNDONE);
});

test('a machine that sleeps for an hour during an undo wakes to the same result', async () => {
  const { url, crm, daemon, report, atRest, undo, held, names } = await open();
  const amidUndo = crm.hold(WRITE, 'before');
  const command = undo(OTHER);
  await expect.poll(() => amidUndo.held.length, WAITING).toBe(1);
  amidUndo.stop();
  const amidSync = crm.hold(READ, 'after');
  await report('B ApS', 'C ApS', 9, ENTITY);
  await report('B ApS', 'C ApS', 9, OTHER);
  await expect.poll(() => amidSync.held.length, WAITING).toBe(1);
  amidSync.stop();
  for (const each of [daemon, command]) await freeze(each, url);
  for (const each of [daemon, command]) each.signal('SIGUSR2');
  for (const hold of [amidSync, amidUndo]) hold.release();
  for (const each of [daemon, command]) each.signal('SIGCONT');
  expect((await command.ended).code).toBe(0);
  await atRest();
  expect([held(ENTITY), held(OTHER)]).toEqual([
    ['C ApS', 'C ApS'],
    ['A ApS', 'C ApS'],
  ]);
  // Told once, whether its lane was still its own when the answer came, or was taken up anew and found the write arrived.
  const byEither = expect.stringMatching(/^ours(?:-after-all)? "B ApS" -> "C ApS"$/u);
  expect(await names(ENTITY)).toEqual([WRITTEN, byEither]);
  expect(await names(OTHER)).toEqual(UNDONE);
});
