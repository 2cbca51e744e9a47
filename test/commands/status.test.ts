/** `status`: one screen, the same figures as the overview and the API. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { writeValue } from '../../src/store/kv.ts';
import type { Store } from '../../src/store/store.ts';
import { openHarness } from '../service/routes/harness.ts';
import { runCli } from '../support/cli.ts';
import { newFolder, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';

const HOUR_MS = 3_600_000;
const COMPANY = 'CVR-1-10000001';

/** A daemon that says it runs. */
const runDaemon = (store: Store, now: number) =>
  store.write((tx) =>
    tx
      .insertInto('daemon')
      .values({
        ...{ id: 'd', name: 'host 1', digests: '{}', roles: 'ingest sync service' },
        ...{ started_at: now - 2 * HOUR_MS, seen_at: now },
      })
      .execute(),
  );

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  let store: Store;
  let file = '';
  let url = '';
  const now = Date.now();
  beforeEach(async () => {
    url = await newStoreUrl(engine);
    store = await opened(url);
    file = join(newFolder(), 'cvrsync.json');
    const connector = {
      webhook: { auth: { method: 'Header', key: 'X', value: `\${WEBHOOK_SECRET}` } },
      providers: { hubspot: { use: 'hubspot', accessToken: `\${TOKEN}` } },
    };
    const service = { register: { source: 'file', path: newFolder() } };
    await writeFile(file, JSON.stringify({ store: url, connector, service }));
  });
  const status = (...more: readonly string[]) => runCli(['--config', file, 'status', ...more]);

  test('it lists entries for review, without any secret in the environment', async () => {
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'hubspot', recordId: '1', entity: COMPANY, sendUpdate: false, now });
      await tx.updateTable('link').set({ state: 'conflict' }).execute();
      await mark(tx, 'watch', ['file'], now - 3 * HOUR_MS);
      await tx.updateTable('lane').set({ error: 'answered 503' }).where('queue', '=', 'watch').execute();
    });
    const { code, stdout, stderr } = await status();
    expect([code, stderr]).toEqual([3, '']);
    expect(stdout).toContain('3 things need you.');
    expect(stdout).toContain('No daemon runs on this store. Start one with `cvrsync serve`.');
    expect(stdout).toContain('cvrsync cannot read the source file, for 3 hrs.');
    expect(stdout).toContain('1 in review: cvrsync review list --kind link');
    expect(stdout).toMatch(/^ {2}file +fails +for 3 hrs +answered 503$/mu);
    expect(stdout).toMatch(/^ {2}hubspot +ok +no decision lately +no write lately$/mu);
  });

  test('it shows the first steps, then that all is well', async () => {
    await runDaemon(store, now);
    expect(await status()).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is linked yet: run') });
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'hubspot', recordId: '1', entity: COMPANY, sendUpdate: false, now });
      await writeValue(tx, 'watch:file', '{}', now - 60_000);
      await mark(tx, 'edits:hubspot', ['1'], now - 5 * 60_000);
    });
    const { code, stdout } = await status();
    expect([code, stdout]).toEqual([0, expect.stringContaining('\nAll is well.\n')]);
    expect(stdout).toMatch(/^ {2}host 1 +ingest, sync, service +started 2 hr ago$/mu);
    expect(stdout).toMatch(/^ {2}edits:hubspot +1 due +0 later +0 failed +oldest 5 mins$/mu);
    expect(stdout.split('\n').length).toBeLessThan(25);
  });

  test('its JSON equals the answer of the API, with ISO times', async () => {
    await runDaemon(store, now);
    const { stdout } = await status('--json');
    const shown = JSON.parse(stdout);
    expect(shown).toMatchObject({
      needsPerson: 0,
      daemons: [{ name: 'host 1', seenAt: new Date(now).toISOString() }],
      connections: [{ name: 'hubspot', state: 'ok', writtenAt: null }],
      first: 'link',
    });
    const { json } = await (await openHarness(engine, { store })).call('GET', '/admin/api/status');
    expect(Object.keys(Object(json)).toSorted()).toEqual(Object.keys(shown).toSorted());
  });
});
