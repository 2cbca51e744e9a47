/** Alerts as an operator gets them: a real store, a real webhook, a real mail server. */

import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAlerts } from '../../src/alerts/alerts.ts';
import type { AlertSettings } from '../../src/alerts/channel.ts';
import { alertFindings } from '../../src/alerts/check.ts';
import { startApp } from '../../src/app.ts';
import { park } from '../../src/runtime/lanes/lanes.ts';
import { endBlock } from '../../src/runtime/limits/blocks.ts';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import { WITHHELD_KEY, WITHHELD_QUEUE } from '../../src/service/register/watch/withheld.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startMailServer } from '../service/mail/mail-server.ts';
import { handClock } from '../support/clock.ts';
import { checked } from '../support/config.ts';
import { newFolder, newStore, SUITE_ENGINES } from '../support/stores.ts';
import { webhook } from './webhook.ts';

const LIMITS = { allow: ['127.0.0.0/8'], reviewOver: 100, registerBehindMinutes: 60 };
const MINUTE = 60_000;

interface Harness {
  readonly store: Store;
  readonly clock: ReturnType<typeof handClock>;
  readonly warnings: string[];
  /** Lets minutes pass, with a look at each. */
  pass(minutes: number): Promise<void>;
}

async function started(store: Store, settings: Partial<AlertSettings>, replicas = 1): Promise<Harness> {
  const clock = handClock();
  const warnings: string[] = [];
  const log = {
    error: (details: object, message: string) => void warnings.push(`${message} ${JSON.stringify(details)}`),
    warn: (details: object, message: string) => void warnings.push(`${message} ${JSON.stringify(details)}`),
  };
  const place = { place: 'https://sync.example.com', timeZone: 'Europe/Copenhagen' };
  const deps = { store, now: clock.now, log, ...place, daemon: 'd1', outage: () => undefined };
  const running = await Promise.all(
    Array.from({ length: replicas }, () => startAlerts(deps, { ...LIMITS, ...settings })),
  );
  onTestFinished(async () => void (await Promise.all(running.map((one) => one.stop(1_000)))));
  const drained = () => Promise.all(running.map((one) => one.drained()));
  return {
    store,
    clock,
    warnings,
    async pass(minutes) {
      await drained();
      for (let minute = 0; minute < minutes; minute += 1) {
        clock.forward(MINUTE);
        await drained();
      }
    },
  };
}

const refuse = (harness: Harness): Promise<void> =>
  createRateLimiter({ store: harness.store, key: 'hubspot', budgets: {}, now: harness.clock.now }).block(
    harness.clock.now() + 90_000,
    'the token is not accepted',
    'auth',
  );

describe.each(SUITE_ENGINES)('alerts with state, on %s', (engine) => {
  it('notify a webhook once when credentials are refused, and once when that is over', async () => {
    const { url, texts } = await webhook();
    const harness = await started(await newStore(engine), { webhook: url });
    await harness.pass(2);
    expect(texts).toEqual([]);
    for (let probe = 0; probe < 10; probe += 1) {
      await refuse(harness);
      await harness.pass(1);
    }
    expect(texts).toEqual([
      expect.stringMatching(
        /^cvrsync at https:\/\/sync\.example\.com needs a person:.*hubspot does not accept the credentials, since /su,
      ),
    ]);
    await harness.store.write((tx) => endBlock(tx, 'hubspot', harness.clock.now()));
    await harness.pass(20);
    expect(texts.slice(1)).toEqual([
      expect.stringMatching(/^Over at .*hubspot does not accept the credentials: from /su),
    ]);
  });

  it('are sent by one of several replicas, and survive a restart', async () => {
    const { url, texts } = await webhook();
    const store = await newStore(engine);
    const harness = await started(store, { webhook: url }, 3);
    await store.write((tx) =>
      park(tx, 'sync:hubspot', '7', { at: harness.clock.now(), error: 'Jens Hansen is no option' }),
    );
    await harness.pass(3);
    const again = await started(store, { webhook: url });
    again.clock.forward(10 * MINUTE);
    await again.pass(3);
    expect(texts).toEqual([expect.stringContaining('Work failed for good in sync:hubspot (1 item)')]);
    expect(texts.join()).not.toContain('Jens');
  });

  it('are sent by mail too, and a webhook that is down delays no mail and loses no alert', async () => {
    const hook = await webhook();
    hook.state.status = 500;
    const office = await startMailServer();
    const mail = { to: ['ops@example.com'], url: office.url, from: 'cvrsync@example.com' };
    const harness = await started(await newStore(engine), { webhook: hook.url, mail });
    await harness.store.write((tx) => park(tx, 'heal:hubspot', '*', { at: harness.clock.now(), error: 'too many' }));
    await harness.pass(3);
    expect(office.mails).toMatchObject([
      { to: ['ops@example.com'], text: expect.stringContaining('safety limit of hubspot') },
    ]);
    expect(office.mails[0]?.headers.get('subject')).toBe(
      'cvrsync: The safety limit of hubspot stops links from ending',
    );
    expect(harness.warnings.join()).toMatch(/an alert could not be sent.*answered 500/u);
    expect(harness.warnings.join()).not.toContain('a-secret-path');
    hook.state.status = 200;
    await harness.pass(30);
    expect([hook.texts.length, office.mails.length]).toEqual([1, 1]);
  });
});

describe('alerts: the safety limit of the register', () => {
  it('is described as facts that were lost, not as links that would end', async () => {
    const { url, texts } = await webhook();
    const harness = await started(await newStore('sqlite'), { webhook: url });
    await harness.store.write((tx) => park(tx, WITHHELD_QUEUE, WITHHELD_KEY, { at: harness.clock.now(), error: 'x' }));
    await harness.pass(3);
    expect(texts).toEqual([
      expect.stringMatching(/The safety limit of the register keeps facts.*cvrsync review list/su),
    ]);
    expect(texts[0]).not.toContain('Look at the CRM');
  });
});

describe('alerts of the daemon', () => {
  it('are sent if the configuration names a channel, and contain the public address', async () => {
    const { url, texts } = await webhook();
    const folder = newFolder();
    const { config } = await checked({
      server: { port: 0, publicUrl: 'https://sync.example.com' },
      store: join(folder, 'store.db'),
      service: { register: { source: 'file', path: folder } },
      alerts: { webhook: url, allow: ['127.0.0.1'] },
    });
    const store = await openStore(config.store);
    await store.write((tx) => park(tx, 'mail', 'm x', { at: Date.now(), error: 'x' }));
    await store.close();
    const app = await startApp(config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(1_000));
    await app.alerts?.drained();
    expect(texts).toEqual([
      expect.stringMatching(/^cvrsync at https:\/\/sync\.example\.com .*failed for good in mail/su),
    ]);
  });
});

describe('alerts: check', () => {
  const check = (settings: Partial<AlertSettings> | undefined) =>
    alertFindings(settings && { ...LIMITS, ...settings }, AbortSignal.timeout(60_000));

  it('says that nobody is notified if none are configured', async () => {
    expect(await check(undefined)).toMatchObject([
      { level: 'info', found: expect.stringContaining('nobody is notified') },
    ]);
  });

  it('checks each channel, and sends nothing', async () => {
    const { url, texts } = await webhook();
    const office = await startMailServer();
    const mail = { to: ['ops@example.com'], url: office.url, from: 'cvrsync@example.com' };
    expect(await check({ webhook: url, mail })).toMatchObject([
      { level: 'ok', subject: 'alerts webhook' },
      { level: 'ok', subject: 'alerts mail' },
    ]);
    expect([texts, office.mails]).toEqual([[], []]);
  });

  it('refuses a private address that is not allowed, and does not show the path of the webhook', async () => {
    const { url } = await webhook();
    const [found] = await check({ webhook: url, allow: [] });
    expect(found).toMatchObject({ level: 'fail', advice: expect.stringContaining('alerts.allow') });
    expect(JSON.stringify(found)).not.toContain('a-secret-path');
  });

  it('says where a webhook redirects to, without its path', async () => {
    const { url, state } = await webhook();
    Object.assign(state, { status: 301, location: url.replace('http:', 'https:') });
    const [found] = await check({ webhook: url });
    expect(found?.found).toMatch(/to a GET it answered 301, a redirect to https:\/\/127\.0\.0\.1:\d+\/…\)$/);
  });
});
