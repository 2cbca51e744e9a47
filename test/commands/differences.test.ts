/** Differences as a person meets them: each of them, as it stands now, and settled all at once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { answerReview } from '../../src/commands/review/answer.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { runCli } from '../support/cli.ts';
import { startFixture } from '../support/fixture.ts';
import { newFolder, newStore, opened } from '../support/stores.ts';

const LIST = ['review', 'list', '--kind', 'difference', '--json'] as const;
/** More than one page of whatever pages there are. */
const MANY = 450;

test('a difference is told as it is now, not as it was when it arose', async () => {
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

test('--all leaves what came or changed after the operator was asked', async () => {
  const store = await newStore('sqlite');
  const [seen, late] = ['1', '2'];
  const difference = async (record_id: string, kept_at: number): Promise<void> => {
    const record = { provider: 'hubspot', recordId: record_id, entity: ENTITY, sendUpdate: false, now: 1 };
    const values = { property: 'name', kept: '"theirs"', offered: '"ours"', kept_at };
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
  const taking = (meanwhile: () => Promise<unknown>) => ({
    verb: 'keep' as const,
    keepResults: true,
    async mayTake() {
      await meanwhile();
      return true;
    },
  });
  await difference(seen, 1);
  const differences = { kinds: ['difference'] as const, filter: {} };
  const kept = await answerReview(
    store,
    differences,
    taking(() => difference(late, Date.now() + 1_000)),
  );
  expect(kept?.results.map(({ id }) => id)).toEqual([`difference/hubspot/${seen}/name`]);

  for (const record of [seen, late]) await setLink(record, { state: 'conflict' });
  const links = await answerReview(
    store,
    { kinds: ['link'], filter: {} },
    taking(() => setLink(late, { entity: 'CVR-1-95023452' })),
  );
  expect(links?.results.map(({ id, result }) => `${id} ${result.kind}`).toSorted()).toEqual([
    `link/hubspot/${seen} done`,
    `link/hubspot/${late} changed`,
  ]);
});
