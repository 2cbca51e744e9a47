import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { ALL } from '../support/all.ts';
import { builtScript, ENVIRONMENT } from '../support/program.ts';
import { newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';
import { changed, copies, lanes, NOW } from './monitored.ts';

const PROCESS = builtScript(path.join(import.meta.dirname, 'publish-process.ts'));
const MANY = 10_000;
const ROUNDS = ALL ? 4 : 2;

/** Starts to publish, and is killed so many ms after it began one of the changes; returns that one's number. */
async function killed(url: string, change: number, afterMs: number): Promise<number> {
  const child = spawn(process.execPath, [PROCESS, url], { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let last = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line.slice('begun '.length));
    if (last === change) break;
  }
  await setTimeout(afterMs);
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return last;
}

/** How many were told, by change. */
async function told(store: Store): Promise<Record<string, number>> {
  const rows = await store.db
    .selectFrom('change')
    .leftJoin('delivery', 'delivery.change', 'change.seq')
    .select(({ fn }) => ['change.id', fn.count<number>('delivery.seq').as('count')])
    .groupBy('change.id')
    .execute();
  return Object.fromEntries(rows.map(({ id, count }) => [id, Number(count)]));
}

describe.each(SUITE_ENGINES)('a publisher on %s', (engine) => {
  it('that is killed while it notifies ten thousand monitors has notified all or none, and resumes', async () => {
    const url = await newStoreUrl(engine);
    const store = await opened(url);
    await copies(store, MANY, () => 1);
    let reached = 0;
    for (let round = 0; round < ROUNDS; round++) {
      reached = Math.max(reached, await killed(url, 2, (round * 60) / ROUNDS + Math.random() * 15));
      for (const count of Object.values(await told(store))) expect(count).toBe(MANY);
      await store.write((tx) => tx.deleteFrom('change').where('id', '!=', 'change 1').execute());
      await store.write((tx) =>
        tx
          .deleteFrom('delivery')
          .where('change', 'not in', (query) => query.selectFrom('change').select('seq'))
          .execute(),
      );
    }
    // What the dead one held is free, and what it published stays as it is.
    await store.write((tx) =>
      publish(
        tx,
        [1, 2].map((number) => changed({ id: `change ${number}` })),
        { now: NOW },
      ),
    );
    expect(await told(store)).toEqual({ 'change 1': MANY, 'change 2': MANY });
    expect(await lanes(store, 'deliver')).toHaveLength(MANY);
    expect(reached).toBeGreaterThanOrEqual(2);
  });
});
