/** Differences as a person meets them: each of them, as it stands now, and settled all at once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { askingCli, runCli } from '../support/cli.ts';
import { startFixture } from '../support/fixture.ts';
import { newFolder, opened } from '../support/stores.ts';

const LIST = ['review', 'list', '--kind', 'difference', '--json'] as const;
/** More than one page of whatever pages there are. */
const MANY = 450;

test('a difference shows the current values, not those of its beginning', async () => {
  const fixture = await startFixture();
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS (VIP)' });
  const reported = async (): Promise<unknown> => {
    await fixture.settled();
    return JSON.parse((await fixture.cli(...LIST)).stdout).map(({ reason }: { reason: string }) => reason);
  };
  await fixture.post(renamed('A ApS', 'B ApS'));
  expect(await reported()).toEqual([`the CRM holds "A ApS (VIP)", the register says "B ApS" of ${ENTITY}`]);
  fixture.hubspot.edit(id, { name: 'A ApS (gold)' });
  await fixture.post(renamed('B ApS', 'C ApS', 9));
  expect(await reported()).toEqual([`the CRM holds "A ApS (gold)", the register says "C ApS" of ${ENTITY}`]);
  const kept_by = JSON.stringify({ name: 'Bo Lind', at: Date.UTC(2026, 2, 2, 9) });
  await fixture.app.store.write((tx) => tx.updateTable('property_state').set({ kept_by }).execute());
  expect((await fixture.cli('review', 'list', '--kind', 'difference')).stdout).toMatch(
    /; Bo Lind edited it \d+ days ago, at 2026-03-02 09:00:00Z/,
  );
  fixture.hubspot.edit(id, { name: 'D ApS' });
  await fixture.post(renamed('C ApS', 'D ApS', 10));
  expect(await reported()).toEqual([]);
});

test('every difference is counted, listed, and settled by --all', async () => {
  const emulator = await startHubspotEmulator();
  const [folder, path] = [newFolder(), join(newFolder(), 'store.db')];
  const providers = { hubspot: { use: 'hubspot', ...emulator.settings } };
  await emulator.close();
  const file = join(folder, 'cvrsync.json');
  writeFileSync(file, JSON.stringify({ store: path, connector: { webhook: { auth: { method: 'None' } }, providers } }));
  const cli = (...argv: readonly string[]) => runCli(['--config', file, ...argv]);
  const store = await opened(path);
  const ids = Array.from({ length: MANY }, (_, at) => String(1_000 + at));
  await store.write(async (tx) => {
    for (const [at, recordId] of ids.entries())
      await linkRecord(tx, {
        provider: 'hubspot',
        recordId,
        entity: `CVR-1-${20_000_000 + at}`,
        sendUpdate: false,
        now: 1,
      });
    await tx
      .insertInto('property_state')
      .values(
        ids.map((record_id) => ({
          provider: 'hubspot',
          record_id,
          property: 'name',
          kept: '"theirs"',
          offered: '"ours"',
          kept_at: 1,
        })),
      )
      .execute();
  });
  expect((await cli('review', 'list')).stdout).toContain(`${MANY} properties hold another value`);
  const some = await cli(...LIST);
  expect([some.code, JSON.parse(some.stdout).length]).toEqual([3, 100]);
  // A program that was given a part is told that it is one.
  expect(JSON.parse(some.stderr)).toMatchObject({ all: MANY, msg: expect.stringContaining('--limit') });
  const all = await cli(...LIST, '--limit', '1000');
  expect(new Set(JSON.parse(all.stdout).map(({ about }: { about: string }) => about)).size).toBe(MANY);
  expect(all.stderr).toBe('');
  expect((await cli('review', 'keep', '--all', '--yes')).code).toBe(0);
  expect(JSON.parse((await cli(...LIST)).stdout)).toEqual([]);
  const held = await store.db.selectFrom('override').select('record_id').where('kind', '=', 'hold').execute();
  expect(held).toHaveLength(MANY);
});

test('--all leaves differences that appeared or changed after the question', async () => {
  const [folder, path] = [newFolder(), join(newFolder(), 'store.db')];
  const file = join(folder, 'cvrsync.json');
  const providers = { hubspot: { use: 'hubspot', accessToken: 'x' } };
  writeFileSync(file, JSON.stringify({ store: path, connector: { webhook: { auth: { method: 'None' } }, providers } }));
  const store = await opened(path);
  const [seen, late] = ['1', '2'];
  const difference = async (record_id: string): Promise<void> => {
    const record = { provider: 'hubspot', recordId: record_id, entity: ENTITY, sendUpdate: false, now: 1 };
    const values = { property: 'name', kept: '"theirs"', offered: '"ours"', kept_at: 1 };
    await store.write(async (tx) => {
      await linkRecord(tx, record);
      await tx
        .insertInto('property_state')
        .values({ provider: 'hubspot', record_id, ...values })
        .execute();
    });
  };
  const setLink = (record_id: string, change: object) =>
    store.write((tx) => tx.updateTable('link').set(change).where('record_id', '=', record_id).execute());
  /** Something happens after the question, and then the operator says yes. */
  const keepAll = async (kind: string, meanwhile: () => Promise<unknown>) => {
    const asked = askingCli(['--config', file, 'review', 'keep', '--all', '--kind', kind]);
    await expect.poll(asked.shown).toContain('[y/N]');
    await meanwhile();
    asked.type('y\n');
    return asked.ended;
  };
  await difference(seen);
  const kept = await keepAll('difference', () => difference(late));
  expect(kept).toMatchObject({
    code: 0,
    shown: expect.stringMatching(/^Keep 1 entry of review\? \[y\/N\] 1 entry: .*\n$/u),
  });
  const held = await store.db.selectFrom('override').select('record_id').where('kind', '=', 'hold').execute();
  expect(held).toEqual([{ record_id: seen }]);

  for (const record of [seen, late]) await setLink(record, { state: 'conflict' });
  const links = await keepAll('link', () => setLink(late, { entity: 'CVR-1-95023452' }));
  expect(links).toMatchObject({
    code: 1,
    shown: expect.stringContaining(`link/hubspot/${late}: not done: it changed`),
  });
  const states = await store.db.selectFrom('link').select('state').orderBy('record_id').execute();
  expect(states).toEqual([{ state: 'removed' }, { state: 'conflict' }]);
});
