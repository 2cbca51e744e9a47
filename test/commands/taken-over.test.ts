/**
 * Runs of a real command that stands still amid the work, while a real daemon starts on the same store: the daemon ends them
 * once, whether the command then dies or wakes. `undo-run.test.ts` has the same for undoes.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { MONITORING_QUEUE } from '../../src/connector/names/queues.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { listRuns } from '../../src/runtime/runs/runs.ts';
import { ENTITY } from '../faults/company.ts';
import { ALL } from '../support/all.ts';
import { startCommand } from '../support/command.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, startCrms } from '../support/fixture.ts';
import { freeze } from '../support/freeze.ts';
import { serveService } from '../support/service.ts';
import { newFolder, newStoreUrl, opened } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';

const WAITING = { timeout: 120_000, interval: 10 };
/** Calls to the service that may be under way at once. */
const AT_ONCE = 16;

async function world() {
  const [crms, service] = [await startCrms({ hubspot: { rate: 'none' } }), await serveService()];
  const [url, folder] = [await newStoreUrl('sqlite'), newFolder()];
  const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 };
  const connections = { hubspot: { match: { property: 'cvr_number' } }, salesforce: false } as const;
  const config = configFor(crms, url, { leaseSeconds: 5, connections, upstream });
  writeFileSync(path.join(folder, 'cvrsync.json'), JSON.stringify(config));
  const [store, daemon] = [await opened(url), await daemonWith(config)];
  const last = async () => (await listRuns(store.db, {}, 1))[0];
  return {
    ...{ store, hubspot: crms.hubspot, service, last },
    audit: async (action: string) => (await readAudit(store.db, { action }, 9)).map(({ result }) => result),
    /** Runs a command until `isAmid`, and to its end after a daemon has done the rest. */
    async interrupted(line: readonly string[], isAmid: () => Promise<boolean>, what: 'dies' | 'wakes') {
      const command = startCommand(['--config', 'cvrsync.json', ...line], folder);
      await expect.poll(isAmid, WAITING).toBe(true);
      await freeze(command, url);
      expect(await last()).toMatchObject({ stage: 'run', state: 'running' });
      await daemon.start();
      if (what === 'dies') await command.kill('SIGKILL');
      // Nobody waits for half a minute.
      await store.write((tx) =>
        tx.updateTable('lane').set({ lease_until: 1 }).where('lease_until', 'is not', null).execute(),
      );
      await expect.poll(async () => (await last())?.state, WAITING).toBe('done');
      command.signal('SIGCONT');
      const ended = await command.ended;
      await untilNone(() => store.db.selectFrom('lane').select('key').where('queue', '=', MONITORING_QUEUE).execute());
      if (what === 'wakes') expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('"error"') });
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
  };
}

describe.runIf(ALL).each(['dies', 'wakes'] as const)('a command that %s', (what) => {
  test('amid answers to all differences leaves the rest to a daemon, and each gets one', async () => {
    const { store, last, audit, interrupted } = await world();
    const records = Array.from({ length: 2_000 }, (_, at) => String(at));
    await store.write(async (tx) => {
      for (const recordId of records)
        await linkRecord(tx, { provider: 'elsewhere', recordId, entity: ENTITY, sendUpdate: false, now: 0 });
      const values = { provider: 'elsewhere', property: 'phone', kept: '"theirs"', offered: '"ours"', kept_at: 1 };
      await tx
        .insertInto('property_state')
        .values(records.map((record_id) => ({ ...values, record_id })))
        .execute();
      await tx.deleteFrom('lane').execute();
    });
    const isAmid = async () => {
      const run = await last();
      return run?.stage === 'run' && run.done > 0;
    };
    await interrupted(['review', 'keep', '--all', '--kind', 'difference', '--yes'], isAmid, what);
    const total = records.length;
    expect(await last()).toMatchObject({ state: 'done', done: total, total, error: null });
    expect(await audit('review.keep')).toEqual([`done; ${total} done`, `begun for ${total} entries`]);
    expect(await store.db.selectFrom('override').select('record_id').execute()).toHaveLength(total);
  });

  test('amid a backfill leaves the rest to a daemon, and the service gets each company once', async () => {
    const { store, hubspot, service, last, audit, interrupted } = await world();
    const ids = Array.from({ length: 250 }, (_, at) => hubspot.add({ cvr_number: cvrNumber(at) }));
    await interrupted(['backfill', 'hubspot', '--yes'], async () => service.changes.length > 30, what);
    expect(await last()).toMatchObject({ state: 'done', done: ids.length, total: ids.length, error: null });
    const links = await store.db.selectFrom('link').selectAll().where('state', '=', 'active').execute();
    expect(new Set(links.map(({ entity, record_id, observed }) => `${entity} ${record_id} ${observed}`))).toEqual(
      new Set(ids.map((id, at) => `CVR-1-${cvrNumber(at)} ${id} on`)),
    );
    expect(new Set(service.changes).size).toBe(ids.length);
    // What was under way as it stood still is asked for again, and once more if its late answer may follow that one.
    expect(service.changes.length).toBeLessThanOrEqual(ids.length + (what === 'dies' ? 1 : 2) * AT_ONCE);
    expect((await audit('backfill.apply')).length).toBe(2);
  });
});
