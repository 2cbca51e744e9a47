/** A process that runs the service without the connector. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app.ts';
import { documentOf } from '../../src/commands/emulate/sample/document.ts';
import { sampleCompany } from '../../src/protocol/sample/company.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleReport } from '../../src/protocol/sample/report.ts';
import { addItem } from '../../src/service/items/items.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { newReportOf } from '../../src/service/reports/deprecated.ts';
import { checked } from '../support/config.ts';
import { newFolder } from '../support/stores.ts';
import { made } from './monitored.ts';

async function alone(folder = newFolder(), more: object = {}) {
  const service = { register: { source: 'file', path: folder }, ...more };
  const { config } = await checked({
    server: { port: 0 },
    admin: { openMetrics: true },
    store: join(folder, 'store.db'),
    service,
  });
  const app = await startApp(config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(1_000));
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (?<value>\\S+)$`, 'mu').exec(text)?.groups?.['value']);
  };
  return { app, metric };
}

it('a service without a connector keeps the write-ahead log of its store short', async () => {
  const { app, metric } = await alone();
  await app.service?.drained();
  const lane = app.store.db.selectFrom('lane').select('due_at').where('key', '=', 'checkpoint');
  expect((await lane.executeTakeFirst())?.due_at).toBeGreaterThan(Date.now());
  expect(await metric('cvrsync_wal_bytes')).toBeGreaterThan(0);
});

it('a service without a connector shows its queues and its disk', async () => {
  const { app, metric } = await alone();
  await app.service?.drained();
  expect(await metric('cvrsync_disk_free_bytes')).toBeGreaterThan(0);
  const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
  expect(text).toContain('cvrsync_work_items{queue="watch",state="waiting"} 2');
});

it('a service without a connector does not count work that waits by design as overdue', async () => {
  const { app, metric } = await alone();
  await app.store.write(async (tx) => {
    const lane = { due_at: Date.now() + 3_600_000, since: Date.now() - 3_600_000, marks: 1, attempts: 0 };
    const lanes = ['mail', 'deliver'].map((queue) => ({ ...lane, queue, key: 'k' }));
    await tx.insertInto('lane').values(lanes).execute();
  });
  expect(await metric('cvrsync_oldest_pending_seconds')).toBeLessThan(60);
});

it('a service does not start if its key cannot open the stored secrets', async () => {
  const folder = newFolder();
  const { app } = await alone(folder);
  const { service, store } = app;
  await store.write(async (tx) => {
    if (service !== undefined) await createMonitor(tx, { name: 'one' }, { secrets: service.secrets, now: 1 });
  });
  await app.close(1_000);
  await rm(join(folder, 'store.db.key'));
  await expect(alone(folder)).rejects.toThrow(/Restore its key file/);
});

it('a service sends the deprecated shape of an annual report in full states too, if configured', async () => {
  const folder = newFolder();
  const company = sampleCompany();
  const version = { company, from: '2020-01-01', at: Date.UTC(2020, 0, 1) };
  await writeFile(join(folder, 'register.ndjson'), `${JSON.stringify(documentOf([version]))}\n`);
  const { app } = await alone(folder, { reports: { deprecatedReport: true } });
  await app.service?.drained();
  const data = sampleReport(randomFrom(1), company.entityId.slice(-8), company.name, 2025);
  const filing = { id: 'urn:1', entity: company.entityId, period_start: '2025-01-01', period_end: '2025-12-31' };
  const read = { published_at: '', error: null, retry_at: null, record: null, attempts: 0 };
  const monitor = await made(app.store);
  await app.store.write(async (tx) => {
    await tx
      .insertInto('filing')
      .values({ ...filing, ...read, data: JSON.stringify(data) })
      .execute();
    const item = { monitor: monitor.id, entity: company.entityId, recordId: '' };
    await addItem(tx, { ...item, sendUpdate: true, now: Date.now() });
  });
  await app.service?.drained();
  const change = await app.store.db
    .selectFrom('change')
    .select('updates')
    .where('kind', '=', 'state')
    .executeTakeFirst();
  expect(JSON.parse(change?.updates ?? '{}').newReport).toEqual(newReportOf(data, true));
});
