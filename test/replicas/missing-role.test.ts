/** Daemons with roles on one PostgreSQL: people learn of a role that nobody has, once, and when somebody has it again. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { checkConfig } from '../../src/config/load.ts';
import { neededRoles } from '../../src/config/schema/roles.ts';
import { livingRoles, readDaemons } from '../../src/runtime/daemons.ts';
import { renamed } from '../faults/company.ts';
import { type HandClock, handClock } from '../support/clock.ts';
import { configFor, postWebhook, startCrms } from '../support/fixture.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const BEAT_MS = 10;
/** A daemon lives as long without a beat. */
const STEP_MS = 30_000;
/** What is gone for as long is over. */
const CALM_MS = 15 * 60_000;

/** A webhook for alerts, with the texts that it got. */
async function openChannel() {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await Array.fromAsync(request);
    texts.push(JSON.parse(Buffer.concat(body).toString()).text);
    response.end('ok');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { texts, url: `http://127.0.0.1:${Object(server.address()).port}/alerts` };
}

async function scene() {
  const crms = await startCrms({ hubspot: {} });
  const store = await newStoreUrl('postgres');
  const channel = await openChannel();
  const clock = handClock();
  const start = async (role: 'ingest' | 'sync'): Promise<App> => {
    const content = {
      ...configFor(crms, store),
      roles: [role],
      alerts: { webhook: channel.url, allow: ['127.0.0.0/8'] },
    };
    const loaded = await checkConfig(content, join(newFolder(), 'cvrsync.yaml'), {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    const log = pino({ level: 'silent' });
    const app = await startApp(loaded.config, { log, env: {}, now: clock.now, beatMs: BEAT_MS });
    onTestFinished(() => app.close(0));
    return app;
  };
  return { clock, start, texts: channel.texts };
}

/** Lets minutes pass, so slowly that these daemons renew their rows in time, and has the alerts look at each. */
async function pass(minutes: number, clock: HandClock, apps: readonly App[]): Promise<void> {
  for (let step = 1; step <= 2 * minutes; step += 1) {
    clock.forward(STEP_MS);
    const seen = async (): Promise<number> =>
      (await Promise.all(apps.map(({ store }) => readDaemons(store.db, clock.now() + STEP_MS)))).flat().length;
    await expect.poll(seen, { interval: BEAT_MS }).toBe(apps.length ** 2);
    if (step % 2 === 0) for (const app of apps) await app.alerts?.drained();
  }
}

const metricsOf = async (app: App): Promise<string> => (await fetch(`${app.adminUrl}/metrics`)).text();

describe('a store of which no daemon syncs', () => {
  it('is told of once, shown in the metrics with what waits, and over once a daemon syncs', async () => {
    const { clock, start, texts } = await scene();
    const ingest = await start('ingest');
    expect(await postWebhook(`${ingest.url}/webhook`, renamed('Birk ApS', 'Birk Byg ApS'))).toBe(204);
    await pass(4, clock, [ingest]);
    expect(texts).toEqual([]);
    await pass(2, clock, [ingest]);
    expect(texts).toEqual([expect.stringContaining('No running daemon has the role sync, since')]);
    expect(texts[0]).toContain('Webhooks are answered and wait in the store');

    const shown = await metricsOf(ingest);
    expect(shown).toContain('cvrsync_roles_missing{role="ingest"} 0');
    expect(shown).toContain('cvrsync_roles_missing{role="sync"} 1');
    expect(Number(/^cvrsync_oldest_pending_seconds (.+)$/mu.exec(shown)?.[1])).toBeGreaterThanOrEqual(360);

    const sync = await start('sync');
    await pass(1, clock, [ingest, sync]);
    await sync.connector?.drained();
    const after = await metricsOf(sync);
    expect(after).toContain('cvrsync_roles_missing{role="sync"} 0');
    expect(Number(/^cvrsync_oldest_pending_seconds (.+)$/mu.exec(after)?.[1])).toBeLessThan(360);
    // Of two daemons one would have a beat first, and the other one none yet.
    await ingest.close(0);
    clock.forward(CALM_MS);
    await expect
      .poll(() => texts.slice(1))
      .toEqual([expect.stringMatching(/Over at .*No running daemon has the role sync: from /su)]);
  });
});

describe('the roles that a store needs', () => {
  it('are those of the halves that its daemons have, as their configurations need them', () => {
    const halves = { connector: {}, service: {} };
    for (const digests of [{}, { connector: {} }, { service: {} }, halves]) {
      const living = livingRoles([{ digests, roles: ['sync'] }]);
      expect([...living.keys()]).toEqual(neededRoles(digests));
      expect([...living].flatMap(([role, isLiving]) => (isLiving ? [role] : []))).toEqual(
        'connector' in digests ? ['sync'] : [],
      );
    }
  });
});
