/** Before mass actions: a count and a question at a terminal, --yes elsewhere, and one summary at the end. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { linkRecord, listLinks } from '../../src/connector/links/links.ts';
import { park } from '../../src/runtime/lanes/lanes.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { askCli, askingCli, runCli } from '../support/cli.ts';
import { startCrms } from '../support/fixture.ts';
import { newFolder, opened } from '../support/stores.ts';

const NUMBERS = ['10150817', '12345674'];

/** A CRM with two companies, and commands with a person at the terminal or without one. */
async function startHarness() {
  const { hubspot } = await startCrms();
  const ids = NUMBERS.map((cvr_number) => hubspot.add({ cvr_number }));
  const folder = newFolder();
  const file = path.join(folder, 'cvrsync.json');
  const url = path.join(folder, 's.db');
  const providers = { hubspot: { use: 'hubspot', ...hubspot.settings, match: { property: 'cvr_number' } } };
  writeFileSync(file, JSON.stringify({ store: url, connector: { webhook: { auth: { method: 'None' } }, providers } }));
  const store = await opened(url);
  const argv = (line: readonly string[]) => ['--config', file, '--log-level', 'silent', ...line];
  const ask = (typed: string, ...line: string[]) => askCli(typed, argv(line));
  const asking = (...line: string[]) => askingCli(argv(line));
  return { store, ids, hubspot, ask, asking, run: (...line: string[]) => runCli(argv(line)) };
}

describe('backfill without a plan', () => {
  it('asks with the count at a terminal, and links only after a yes', async () => {
    const { store, ask } = await startHarness();
    const no = await ask('n\n', 'backfill', 'hubspot');
    expect(no.shown).toContain('Link 2 records of hubspot, and have their companies monitored? [y/N]');
    expect([no.code, await listLinks(store.db)]).toEqual([0, []]);
    expect(no.shown).toContain('2 records would be linked');
    expect((await ask('y\n', 'backfill', 'hubspot')).code).toBe(0);
    expect(await listLinks(store.db)).toHaveLength(2);
  });

  it('needs --yes without a terminal, and says so before it scans', async () => {
    const { store, hubspot, run } = await startHarness();
    expect(await run('backfill', 'hubspot')).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
    expect([hubspot.calls, await listLinks(store.db)]).toEqual([[], []]);
    expect((await run('backfill', 'hubspot', '--yes')).code).toBe(0);
    expect(await listLinks(store.db)).toHaveLength(2);
  });
});

describe('review with --all', () => {
  async function withWork() {
    const harness = await startHarness();
    await harness.store.write(async (tx) => {
      for (const recordId of ['7', '8'])
        await linkRecord(tx, { provider: 'hubspot', recordId, entity: 'CVR-1-10150817', sendUpdate: false, now: 1 });
      await tx.updateTable('link').set({ state: 'conflict', reason: 'two companies' }).execute();
      await tx.deleteFrom('lane').execute();
      for (const key of ['7', '8']) await park(tx, 'sync:hubspot', key, { at: 1, error: 'no answer' });
    });
    return harness;
  }
  const states = async ({ store }: Awaited<ReturnType<typeof withWork>>) =>
    (await listLinks(store.db)).map(({ state }) => state);

  it.each([
    [['retry', '--all', '--kind', 'lane'], 'Retry'],
    [['accept', '--all', '--kind', 'link'], 'Accept'],
  ] as const)('asks with the count before %j, and does nothing after a no', async (line, verb) => {
    const harness = await withWork();
    const no = await harness.ask('n\n', 'review', ...line);
    expect(no.shown).toMatch(new RegExp(`${verb} \\d entries of review\\? \\[y/N\\]`, 'u'));
    expect([no.code, await states(harness)]).toEqual([1, ['conflict', 'conflict']]);
    expect(no.shown).toContain('Nothing was done.');
  });

  it('needs --yes without a terminal, and ends with one summary', async () => {
    const harness = await withWork();
    expect(await harness.run('review', 'accept', '--all', '--kind', 'link')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Accept 2 entries of review? cvrsync cannot ask here: add --yes'),
    });
    expect(await states(harness)).toEqual(['conflict', 'conflict']);
    const accepted = await harness.run('review', 'accept', '--all', '--kind', 'link', '--yes');
    expect([accepted.code, accepted.stdout.trim().split('\n')]).toEqual([
      0,
      [expect.stringMatching(/^2 entries: the link is active/u)],
    ]);
    expect(await states(harness)).toEqual(['active', 'active']);
    // Once, by its run; and each answer can be taken back.
    const entries = await readAudit(harness.store.db, { action: 'review.accept' }, 9);
    expect(entries.map(({ subject, result }) => `${subject} ${result}`)).toEqual([
      'all of kind link done; 2 done',
      'all of kind link begun for 2 entries',
    ]);
    expect((await harness.run('review', 'take-back', 'link/hubspot/7')).code).toBe(0);
    expect(await states(harness)).toEqual(['conflict', 'active']);
  });

  it('retries every failed kind in one run, and returns its id to programs', async () => {
    const harness = await withWork();
    const retried = await harness.run('review', 'retry', '--all', '--yes', '--json');
    expect([retried.code, JSON.parse(retried.stdout)]).toMatchObject([
      3,
      ['7', '8'].map((id) => ({ id: `lane/sync:hubspot/${id}`, run: 1, result: { kind: 'done' } })),
    ]);
    const shown = await harness.run('runs', 'show', '1', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ task: 'review', input: { verb: 'retry' }, state: 'done' });
    const filtered = await harness.run('review', 'drop', '--all', '--yes');
    expect(filtered).toMatchObject({ code: 2, stderr: expect.stringContaining('--all goes with --kind') });
  });

  it('is continued by a daemon, and says so, if the command is stopped', async () => {
    const harness = await withWork();
    const asked = harness.asking('review', 'accept', '--all', '--kind', 'link', '--yes');
    asked.stop();
    const { code, shown } = await asked.ended;
    expect([code, shown]).toEqual([1, expect.stringContaining('To continue: cvrsync review accept --all --kind link')]);
    expect(await states(harness)).toEqual(['conflict', 'conflict']);
  });
});
