import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { ALL } from '../support/all.ts';
import { builtScript, ENVIRONMENT } from '../support/program.ts';
import { newStoreUrl } from '../support/stores.ts';
import { openHook } from './delivering.ts';
import { changed } from './monitored.ts';

const MONITORS = 10_000;
const KILLS = 3;

// In the suite deliveries are killed in test/chaos/fleet.test.ts.
test.runIf(ALL)(
  'a fan-out to 10,000 monitors loses no delivery if the process is killed repeatedly during it',
  async () => {
    const url = await newStoreUrl('sqlite');
    const key = randomBytes(32);
    const secrets = openSecrets(key);
    const hook = await openHook();
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const now = Date.now();
    await store.write(async (tx) => {
      for (let at = 0; at < MONITORS; at++) {
        await createMonitor(tx, { name: `${at}`, target: 'all', url: `${hook.url}/${at}` }, { secrets, now });
      }
      await publish(tx, [changed()], { now });
    });

    let child: ChildProcess | undefined;
    onTestFinished(() => void child?.kill('SIGKILL'));
    const start = () => {
      const script = builtScript(path.join(import.meta.dirname, 'delivery-process.ts'));
      const args = [script, url, key.toString('base64')];
      child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'inherit'] });
      return once(child, 'exit');
    };
    const told = () => new Set(hook.seen.map(({ path }) => path)).size;
    for (let kill = 1; kill <= KILLS; kill++) {
      const ended = start();
      await expect.poll(() => hook.seen.length, { interval: 5 }).toBeGreaterThan(kill * 1_500);
      child?.kill('SIGKILL');
      await ended;
      expect(told()).toBeLessThan(MONITORS);
    }
    const ended = start();
    const open = async () => {
      const due = await store.db.selectFrom('delivery').select('seq').where('state', '!=', 'done').limit(1).execute();
      const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'deliver').limit(1).execute();
      return due.length + lanes.length;
    };
    await expect.poll(open, { timeout: 120_000, interval: 100 }).toBe(0);
    child?.kill('SIGKILL');
    await ended;

    expect(told()).toBe(MONITORS);
    // What was under way at a kill is told again under its old id, and nothing else is.
    const ids = new Map(hook.seen.map(({ path, headers }) => [path, headers['webhook-id']]));
    expect(hook.seen.filter(({ path, headers }) => ids.get(path) !== headers['webhook-id'])).toEqual([]);
    expect(hook.seen.length).toBeLessThan(MONITORS + KILLS * 4_096);
  },
);
