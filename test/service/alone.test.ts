/** A process that runs the service without the connector. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startApp } from '../../src/app.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { checked } from '../support/config.ts';
import { newFolder } from '../support/stores.ts';

async function alone(folder = newFolder()) {
  const service = { register: { source: 'file', path: folder } };
  const { config } = await checked({ server: { port: 0 }, store: join(folder, 'store.db'), service });
  const app = await startApp(config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(1_000));
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (?<value>\\S+)$`, 'mu').exec(text)?.groups?.['value']);
  };
  return { app, metric };
}

it('keeps the write-ahead log of its store short', async () => {
  const { metric } = await alone();
  await vi.waitFor(async () => expect(await metric('cvrsync_wal_bytes')).toBeGreaterThan(0), 120_000);
});

it('shows its queues and its disk', async () => {
  const { app, metric } = await alone();
  await app.service?.drained();
  expect(await metric('cvrsync_disk_free_bytes')).toBeGreaterThan(0);
  const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
  expect(text).toContain('cvrsync_work_items{queue="watch",state="waiting"} 2');
});

it('does not call work old that waits by design', async () => {
  const { app, metric } = await alone();
  await app.store.write(async (tx) => {
    const lane = { due_at: Date.now() + 3_600_000, since: Date.now() - 3_600_000, marks: 1, attempts: 0 };
    const lanes = ['mail', 'deliver'].map((queue) => ({ ...lane, queue, key: 'k' }));
    await tx.insertInto('lane').values(lanes).execute();
  });
  expect(await metric('cvrsync_oldest_pending_seconds')).toBeLessThan(60);
});

it('does not start with another key than its secrets are sealed with', async () => {
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
