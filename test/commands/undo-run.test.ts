/** `undo` as a run: carried out by the command or by a daemon, one of which dies, is stopped, or has another configuration. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../providers/kit/emulator/emulator.ts';
import { writeHistory } from '../../src/connector/history/history.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { listRuns } from '../../src/runtime/runs/runs.ts';
import { CRMS, ENTITY } from '../faults/company.ts';
import { ALL } from '../support/all.ts';
import { askingCli, runCli } from '../support/cli.ts';
import { startCommand } from '../support/command.ts';
import { daemonWith } from '../support/daemon.ts';
import { type Connections, configFor, lanesBehind, startCrms } from '../support/fixture.ts';
import { freeze } from '../support/freeze.ts';
import { historyLines } from '../support/history.ts';
import { ENGINES, newFolder, newStoreUrl, opened } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';

const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));
const WAITING = { timeout: 60_000, interval: 20 };
const UNDO = ['undo', '--entity', ENTITY, '--yes'];

describe.each(CASES)('in $crm on $engine', ({ crm, engine, name, write }) => {
  /** Three records of which we wrote the name, and no daemon. */
  async function world(before: readonly string[] = ['A ApS', 'A ApS', 'A ApS']) {
    const crms = await startCrms();
    const emulator = crms[crm];
    const url = await newStoreUrl(engine);
    const configWith = (connections: Connections = {}) => configFor(crms, url, { leaseSeconds: 5, connections });
    const folder = newFolder();
    const file = path.join(folder, 'cvrsync.json');
    writeFileSync(file, JSON.stringify(configWith()));
    const store = await opened(url);
    const ids = before.map(() => emulator.add({ [name]: 'B ApS' }));
    const planned = { field: 'name', property: name, action: 'write', rule: 'ours', now: 'B ApS', seq: 1 } as const;
    await store.write(async (tx) => {
      for (const recordId of ids)
        await linkRecord(tx, { provider: crm, recordId, entity: ENTITY, sendUpdate: false, now: 0 });
      await tx.deleteFrom('lane').execute();
      const lines = ids.map((id, at) => ({
        ...{ provider: crm, id, entity: ENTITY },
        planned: { ...planned, old: before[at] ?? null },
      }));
      await writeHistory(tx, lines, [], Date.now());
    });
    const argv = (line: readonly string[]) => ['--config', file, ...line];
    return {
      ...{ store, url, emulator, ids, configWith },
      run: (...line: readonly string[]) => runCli(argv(line)),
      ask: (...line: readonly string[]) => askingCli(argv(line)),
      start: (...line: readonly string[]) => startCommand(argv(line), folder),
      names: () => ids.map((id) => emulator.get(id)?.[name]),
      /** What the store knows: each property that was restored, once. */
      undone: async () => (await historyLines(store.db)).filter(({ rule }) => rule === 'undo').length,
      runs: async () => (await listRuns(store.db, {}, 9)).map(({ id, stage, state }) => `${id} ${stage} ${state}`),
      audit: async () => (await readAudit(store.db, { action: 'undo.run' }, 9)).map(({ result }) => result),
      /** The leases of a process that died are over. */
      expire: () =>
        store.write((tx) =>
          tx.updateTable('lane').set({ lease_until: 1 }).where('lease_until', 'is not', null).execute(),
        ),
    };
  }
  const RESTORED = ['A ApS', 'A ApS', 'A ApS'];

  test('resumes with the same command after it was killed, and restores nothing twice', async () => {
    const { start, run, emulator, names, undone, runs, audit, expire } = await world();
    emulator.fault({ match: write, action: { kind: 'hang', applied: true } });
    const first = start(...UNDO);
    await expect.poll(names, WAITING).toEqual(RESTORED);
    await first.kill('SIGKILL');
    expect([await runs(), await undone()]).toEqual([['1 run running'], 0]);
    await expire();
    // A dry run shows it, and writes nothing.
    const dry = await run('undo', '--entity', ENTITY, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([1, expect.stringContaining('Run 1 is not over')]);
    const again = await run(...UNDO, '--json');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { run: 1, counts: { restored: 3 }, left: 0 }]);
    expect([names(), await undone(), await runs()]).toEqual([RESTORED, 3, ['1 run done']]);
    expect(await audit()).toEqual(['done; 3 restored', 'begun for 3 records']);
  });

  test('continues in the command if the daemon that executes it dies', async () => {
    const { run, store, emulator, names, undone, runs, configWith, expire } = await world();
    const daemon = await daemonWith(configWith());
    await daemon.start();
    emulator.fault({ match: write, action: { kind: 'hang', applied: true } });
    const command = run(...UNDO);
    await expect.poll(names, WAITING).toEqual(RESTORED);
    await daemon.kill('SIGKILL');
    expect(await undone()).toBe(0);
    await expire();
    const { code, stdout } = await command;
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 restored.')]);
    expect([names(), await undone(), await runs()]).toEqual([RESTORED, 3, ['1 run done']]);
    expect(await store.db.selectFrom('daemon').select('id').execute()).toHaveLength(1);
  });

  test.runIf(ALL).each(['dies', 'stands still'])('a daemon continues it if the command %s', async (what) => {
    const { start, store, url, emulator, names, undone, runs, audit, configWith, expire } = await world();
    const daemon = await daemonWith(configWith());
    const dies = what === 'dies';
    emulator.fault({
      match: write,
      action: dies ? { kind: 'hang', applied: true } : { kind: 'slow', at: 'start', ms: 3_000 },
    });
    const command = start(...UNDO);
    await expect.poll(names, WAITING).toEqual(RESTORED);
    if (!dies) await freeze(command, url);
    await daemon.start();
    expect([await runs(), await undone()]).toEqual([['1 run running'], 0]);
    if (dies) await command.kill('SIGKILL');
    await expire();
    await expect.poll(runs, WAITING).toEqual(['1 run done']);
    command.signal('SIGCONT');
    const { code, stdout } = await command.ended;
    if (!dies) expect([code, stdout]).toEqual([0, expect.stringContaining('3 restored.')]);
    await untilNone(() => lanesBehind(store));
    expect([names(), await undone(), await runs()]).toEqual([RESTORED, 3, ['1 run done']]);
    expect(await audit()).toEqual(['done; 3 restored', 'begun for 3 records']);
    const written = new RegExp(write, 'u');
    expect(emulator.calls.filter(({ method, path: at }) => written.test(`${method} ${at}`))).toHaveLength(1);
  });

  test('says how to see, end and continue it when it is stopped', async () => {
    const { ask, run, emulator, names, undone, runs } = await world();
    emulator.fault({ match: write, action: { kind: 'status', status: 503, headers: { 'retry-after': '60' } } });
    const asked = ask(...UNDO, '--limit', '2');
    await expect.poll(asked.shown, WAITING).toContain('waiting since');
    asked.stop();
    const { code, shown } = await asked.ended;
    expect(code).toBe(1);
    expect(shown).toMatch(/Run 1 is not over: .* this command does: cvrsync undo --entity \S+ --limit 2 /u);
    expect(shown).toContain('To see it: cvrsync runs show 1. To stop it: cvrsync runs cancel 1');
    expect(await runs()).toEqual(['1 run running']);
    const again = await run(...UNDO, '--limit', '2');
    expect([again.code, await runs(), await undone()]).toEqual([0, ['1 run done'], 2]);
    // The next run continues.
    expect((await run(...UNDO, '--limit', '2')).stdout).toContain('Nothing is left to restore');
    expect([names(), await undone(), await runs()]).toEqual([RESTORED, 3, ['2 run done', '1 run done']]);
  });

  test('ends if somebody cancels it', async () => {
    const { run, emulator, names, runs } = await world();
    // No answer: the next try is after the cancel.
    emulator.fault({ match: write, times: 'always', action: { kind: 'status', status: 503 } });
    const command = run(...UNDO);
    await expect.poll(runs, WAITING).toEqual(['1 run running']);
    expect((await run('runs', 'cancel', '1')).code).toBe(0);
    const { code, stdout } = await command;
    expect([code, stdout]).toEqual([1, expect.stringMatching(/Run 1 was cancelled: .*To continue: cvrsync undo /u)]);
    expect([names(), await runs()]).toEqual([['B ApS', 'B ApS', 'B ApS'], ['1 run cancelled']]);
  });

  test('names records that the CRM refuses, and restores the others', async () => {
    const { run, emulator, names, runs } = await world(['A ApS', 'Bad ApS', 'A ApS']);
    const action = { kind: 'status', status: 400, body: REFUSALS[crm] } as const;
    emulator.fault({ match: write, body: 'Bad ApS', times: 'always', action });
    const { code, stdout } = await run(...UNDO, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      { run: 1, dryRun: false, counts: { restored: 2, refused: 1 } },
    ]);
    expect([names(), await runs()]).toEqual([['A ApS', 'B ApS', 'A ApS'], ['1 run done']]);
  });

  test.each<[string, FaultAction]>([
    ['an answer that is lost after the write', { kind: 'reset', applied: true }],
    ['a CRM that is away for a moment', { kind: 'status', status: 503 }],
  ])('%s causes a retry, which the command reports', async (_, action) => {
    const { run, emulator, names, undone } = await world();
    emulator.fault({ match: write, action });
    const ran = await run(...UNDO);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/waiting since .*, until .* at most: /u)]);
    expect([names(), await undone()]).toEqual([RESTORED, 3]);
  });

  test('reports why the daemon waits, and skips a connection that it does not have', async () => {
    const { run, ask, emulator, names, configWith } = await world();
    const daemon = await daemonWith(configWith({ [crm]: false }));
    await daemon.start();
    const lacking = await run(...UNDO);
    expect([lacking.code, lacking.stdout]).toEqual([3, expect.stringContaining(`connector.providers has no ${crm}`)]);
    expect(names()).toEqual(['B ApS', 'B ApS', 'B ApS']);
    await daemon.rewrite(configWith());
    await daemon.kill('SIGTERM');
    await daemon.start();
    emulator.fault({ match: '.*', times: 'always', action: { kind: 'status', status: 503 } });
    const asked = ask(...UNDO);
    await expect.poll(asked.shown, WAITING).toMatch(new RegExp(`waiting: ${crm} answers with errors since`, 'u'));
    asked.stop();
    expect((await asked.ended).shown).toContain('Nothing was written.');
  });
});

const REFUSALS = {
  hubspot: { category: 'VALIDATION_ERROR', message: 'no' },
  salesforce: [{ errorCode: 'FIELD_CUSTOM_VALIDATION_EXCEPTION', message: 'no' }],
} as const;
