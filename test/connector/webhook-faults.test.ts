import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { builtScript, ENVIRONMENT } from '../support/program.ts';
import { openReceiver, phoneEvent, post, type ReceiverOptions } from '../support/receiver.ts';
import { newFolder, newStore, newStoreUrl, opened } from '../support/stores.ts';
import { canCountSyncs, countSyncs } from '../support/syncs.ts';

const PROCESS = builtScript(path.join(import.meta.dirname, '../support/receiver-process.ts'));

async function open(store: Store, options: ReceiverOptions = {}) {
  const receiver = await openReceiver(store, options);
  onTestFinished(() => receiver.close());
  return receiver;
}

const reported = (answer: Response) => [answer.status, answer.headers.get('retry-after')];
const count = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('arrival').select('seq').execute()).length;

describe('an event that was answered 204', () => {
  it('survives a kill of the process right after the answer', async () => {
    const url = await newStoreUrl('sqlite');
    const child = spawn(process.execPath, [PROCESS, url], { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
    const acked = new Set<string>();
    let next = 0;
    const sender = async (): Promise<void> => {
      for (;;) {
        const number = next++;
        const answer = await post(String(line).trim(), phoneEvent(number)).catch(() => undefined);
        if (answer === undefined) return;
        if (answer.status === 204) acked.add(String(20_000_000 + number));
        if (acked.size === 300) child.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 16 }, sender));
    const store = await opened(url);
    const bodies = await store.db.selectFrom('arrival').select('body').execute();
    const kept = new Set(bodies.map(({ body }) => /"after":"(\d+)"/.exec(body)?.[1] ?? ''));
    expect(acked.size).toBeGreaterThanOrEqual(300);
    expect(acked.difference(kept)).toEqual(new Set());
  });

  it.skipIf(!canCountSyncs)('was synced to the disk, at least once for each single answer', async () => {
    const { stdout, syncs } = await countSyncs(path.join(newFolder(), 'syncs'), [
      PROCESS,
      await newStoreUrl('sqlite'),
      '60',
    ]);
    expect(Number(stdout)).toBe(60);
    expect(syncs).toBeGreaterThanOrEqual(60);
  });

  it('was written by a connection that waits for the disk', async () => {
    const store = await newStore('sqlite');
    const { url } = await open(store);
    expect((await post(url, phoneEvent(1))).status).toBe(204);
    const level = await store.write((tx) => sql<{ synchronous: number }>`pragma synchronous`.execute(tx));
    expect(level.rows).toEqual([{ synchronous: 2 }]);
  });
});

describe('an internal failure', () => {
  const pages = (store: Store, most: 'all' | number) =>
    store.write(async (tx) => {
      const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx);
      await sql`pragma max_page_count = ${sql.lit(most === 'all' ? 1_000_000_000 : (rows[0]?.page_count ?? 0) + most)}`.execute(
        tx,
      );
    });

  it('gets 503 while the disk is full, and ends when it has space', async () => {
    const store = await newStore('sqlite');
    const { url } = await open(store);
    await pages(store, 0);
    const event = phoneEvent(1);
    const large = { ...event, trace: 'x'.repeat(100_000) };
    expect(reported(await post(url, large))).toEqual([503, '30']);
    expect(await count(store)).toBe(0);
    await pages(store, 'all');
    expect((await post(url, large)).status).toBe(204);
    expect(await count(store)).toBe(1);
  });

  it('gets 503 while another process locks the store, and ends with the lock', async () => {
    const file = await newStoreUrl('sqlite');
    const store = await opened(file);
    const { url } = await open(store);
    const other = new Database(file);
    onTestFinished(() => void other.close());
    other.exec('begin immediate');
    const answers = await Promise.all([1, 2, 3].map((number) => post(url, phoneEvent(number))));
    expect(answers.map(reported)).toEqual([
      [503, '30'],
      [503, '30'],
      [503, '30'],
    ]);
    other.exec('rollback');
    expect((await post(url, phoneEvent(1))).status).toBe(204);
  });

  it('gets 503 if the store is closed', async () => {
    const store = await newStore('sqlite');
    const { url } = await open(store);
    await store.close();
    expect(reported(await post(url, phoneEvent(1)))).toEqual([503, '30']);
  });

  it('gets 503 while the backlog is at its cap', async () => {
    const store = await newStore('sqlite');
    const { url, metrics } = await open(store, { backlogCap: 2 });
    const answers = [];
    for (const number of [1, 2, 3]) answers.push(reported(await post(url, phoneEvent(number))));
    expect(answers).toEqual([
      [204, null],
      [204, null],
      [503, '30'],
    ]);
    expect(await count(store)).toBe(2);
    expect(await metrics.registry.metrics()).toContain('cvrsync_webhooks_received_total{result="refused"} 1');
  });

  it('gets 503 while the daemon stops', async () => {
    const { url, intake } = await open(await newStore('sqlite'));
    await intake.stop();
    expect(reported(await post(url, phoneEvent(1)))).toEqual([503, '30']);
  });
});
