/** A service alone, and one beside a connector, on one PostgreSQL: who tells the connector of changes. */
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { configDigests } from '../../src/config/digests.ts';
import { checkConfig } from '../../src/config/load.ts';
import { listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { dropExpired, ownJobIds } from '../../src/service/delivery/own-jobs.ts';
import { addItem } from '../../src/service/items/items.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { COMPANY, changed } from '../service/monitored.ts';
import { configFor, startCrms } from '../support/fixture.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const ADMIN_TOKEN = 'the-token-of-the-operators';
const PATIENT = { timeout: 120_000 };
const DAY_MS = 86_400_000;

async function scene() {
  const crms = await startCrms();
  const url = await newStoreUrl('postgres');
  const service = {
    register: { source: 'file', path: newFolder() },
    // Else a daemon could not even try its own address.
    webhooks: { allowPrivateAddresses: true },
    secretKey: Buffer.alloc(32, 7).toString('base64'),
  };
  const both = configFor(crms, url, { service });
  const alone = { server: { port: 0 }, store: url, service };
  const start = async (content: object): Promise<App> => {
    const admin = { port: 0, token: ADMIN_TOKEN };
    const loaded = await checkConfig({ ...content, admin }, join(newFolder(), 'cvrsync.yaml'), {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(0));
    return app;
  };
  const digestsOf = async (content: object) => {
    const loaded = await checkConfig(content, join(newFolder(), 'cvrsync.yaml'), {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    return configDigests(loaded.config, 'salt');
  };
  const upstream = { baseUrl: 'https://service.example', accessKey: 'key' };
  const withUpstream = configFor(crms, url, { service, upstream });
  return { startAlone: () => start(alone), startBoth: () => start(both), digestsOf, withBoth: both, withUpstream };
}

/** Tells the job for HubSpot of a change, and returns the job's id. */
async function tell({ store }: App): Promise<string> {
  const job = await store.db
    .selectFrom('monitor')
    .select('id')
    .where('provider', '=', 'hubspot')
    .executeTakeFirstOrThrow();
  const item = { monitor: job.id, entity: COMPANY, recordId: '7', sendUpdate: false };
  await store.write((tx) => addItem(tx, { ...item, now: Date.now() }));
  await store.write((tx) => publish(tx, [changed()], { now: Date.now() }));
  return job.id;
}

const jobsOf = ({ store }: App) => store.db.selectFrom('monitor').selectAll().orderBy('provider').execute();

describe('own jobs are claimed only where the connector runs', () => {
  it('a daemon without it leaves their deliveries, counts nothing against them, and the one that has it delivers', async () => {
    const { startAlone, startBoth } = await scene();
    const first = await startBoth();
    await first.close(0);
    const alone = await startAlone();
    const job = await tell(alone);
    await alone.service?.drained();
    const waiting = await listDeliveries(alone.store.db);
    expect(waiting.map(({ state, attempts }) => [state, attempts])).toContainEqual(['due', 0]);
    expect(waiting.filter(({ attempts, state }) => attempts > 0 || state !== 'due')).toEqual([]);
    expect((await jobsOf(alone)).map((row) => [row.id === job, row.failed_attempts, row.enabled])).toEqual([
      [true, 0, 1],
      [false, 0, 1],
    ]);
    const both = await startBoth();
    await expect
      .poll(async () => (await listDeliveries(both.store.db)).map(({ state }) => state), PATIENT)
      .toEqual(waiting.map(() => 'done'));
    const failed = await both.store.db.selectFrom('attempt').selectAll().where('done', '=', 0).execute();
    expect(failed).toEqual([]);
  });

  it('a daemon without it changes no job as it starts, and refuses to test one', async () => {
    const { startAlone, startBoth } = await scene();
    const both = await startBoth();
    const before = await jobsOf(both);
    expect(before).toHaveLength(2);
    const alone = await startAlone();
    await alone.service?.drained();
    expect(await jobsOf(alone)).toEqual(before);
    const [id] = await ownJobIds(alone.store.db);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const test = (app: App) => fetch(`${app.adminUrl}/admin/api/monitors/${id}/test`, { method: 'POST', headers });
    const refused = await test(alone);
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining('runs with another configuration'),
    ]);
    expect(await (await test(both)).json()).toMatchObject({ failure: null });
  });

  it('what waited 14 days for a connector that runs nowhere is dropped; beside one that runs, nothing is', async () => {
    const { startAlone, startBoth, digestsOf, withBoth, withUpstream } = await scene();
    const both = await startBoth();
    const alone = await startAlone();
    await both.close(0);
    await tell(alone);
    const drop = (days: number) => dropExpired(alone.store, Date.now() + days * DAY_MS, new AbortController().signal);
    const states = async () => new Set((await listDeliveries(alone.store.db)).map(({ state }) => state));
    await drop(13);
    expect(await states()).toEqual(new Set(['due']));
    const beside = (digests: object) => {
      const row = {
        id: 'x',
        name: 'x',
        started_at: 0,
        seen_at: Date.now() + 15 * DAY_MS,
        roles: 'ingest sync service',
      };
      return alone.store.write(async (tx) => {
        await tx.deleteFrom('daemon').where('id', '=', 'x').execute();
        await tx
          .insertInto('daemon')
          .values({ ...row, digests: JSON.stringify(digests) })
          .execute();
      });
    };
    await beside(await digestsOf(withBoth));
    await drop(15);
    expect(await states()).toEqual(new Set(['due']));
    // Another service tells this one's connector of changes.
    await beside(await digestsOf(withUpstream));
    await drop(15);
    expect(await states()).toEqual(new Set(['dropped']));
  });
});
