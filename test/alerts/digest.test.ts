/** The weekly digest: sent once, with numbers only, by a real webhook. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAlerts } from '../../src/alerts/alerts.ts';
import type { AlertSettings } from '../../src/alerts/channel.ts';
import { digestMessage, lastWeekly, nextWeekly } from '../../src/alerts/digest.ts';
import { addActivity } from '../../src/runtime/activity/activity.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import type { Store } from '../../src/store/store.ts';
import { startMailServer } from '../service/mail/mail-server.ts';
import { runCli } from '../support/cli.ts';
import { checked, problemsOf } from '../support/config.ts';
import { newFolder, newStore, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';
import { webhook } from './webhook.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DIGEST = { day: 'monday', hour: 8, language: 'en', timeZone: 'Europe/Copenhagen' } as const;
/** A Wednesday; the digest is due on Monday the 9th at 7:00 UTC. */
const START = Date.parse('2026-03-04T12:00:00Z');
const DUE = Date.parse('2026-03-09T07:00:00Z');

describe('the digest is due', () => {
  it.each([
    ['2026-03-09T06:59:59Z', '2026-03-02T07:00:00Z', '2026-03-09T07:00:00Z'],
    ['2026-03-09T07:00:00Z', '2026-03-09T07:00:00Z', '2026-03-16T07:00:00Z'],
    // Summer time begins on Sunday the 29th.
    ['2026-03-28T12:00:00Z', '2026-03-23T07:00:00Z', '2026-03-30T06:00:00Z'],
  ])('by the clock in Copenhagen: at %s', (now, last, next) => {
    const at = Date.parse(now);
    expect([new Date(lastWeekly(at, DIGEST)), new Date(nextWeekly(at, DIGEST))]).toEqual([
      new Date(last),
      new Date(next),
    ]);
  });

  it('by the clock of another time zone, in which a day may begin earlier', () => {
    const schedule = { ...DIGEST, hour: 1, timeZone: 'Asia/Tokyo' };
    expect(new Date(nextWeekly(START, schedule)).toISOString()).toBe('2026-03-08T16:00:00.000Z');
    expect(new Date(lastWeekly(START, schedule)).toISOString()).toBe('2026-03-01T16:00:00.000Z');
  });
});

interface Running {
  drained(): Promise<void>;
  stop(): Promise<void>;
}

const ON: Pick<AlertSettings, 'digest'> = { digest: DIGEST };

async function start(store: Store, now: () => number, url: string, digest = ON): Promise<Running> {
  const places = { place: 'https://sync.example.com', dashboard: 'https://admin.example.com' };
  const deps = { ...places, store, now, timeZone: DIGEST.timeZone };
  const all = { allow: ['127.0.0.0/8'], reviewOver: 100, registerBehindMinutes: 60, webhook: url, ...digest };
  const alerts = await startAlerts(
    { ...deps, daemon: 'd1', outage: () => undefined, log: pino({ level: 'silent' }) },
    all,
  );
  let isOver = false;
  const stop = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await alerts.stop(1_000);
  };
  onTestFinished(stop);
  return { drained: () => alerts.drained(), stop };
}

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  it('is sent once by two replicas, not again after a restart, and the next one covers the next week', async () => {
    const { url, texts } = await webhook();
    const store = await newStore(engine);
    let at = START;
    const now = () => at;
    const replicas = [await start(store, now, url), await start(store, now, url)];
    const settled = async () => void (await Promise.all(replicas.map((one) => one.drained())));
    await store.write((tx) =>
      addActivity(
        tx,
        [
          { at: START, kind: 'written', subject: 'hubspot', count: 1_234 },
          { at: START, kind: 'kept', subject: 'hubspot', count: 12 },
          { at: START, kind: 'undone', subject: 'hubspot', count: 3 },
          { at: START, kind: 'failed', subject: '', count: 2 },
          // Before the week, which began on the 2nd.
          { at: START - 3 * DAY, kind: 'written', subject: 'hubspot', count: 999 },
        ],
        'add',
      ),
    );
    await settled();
    expect(texts).toEqual([]);
    at = DUE;
    await settled();
    expect(texts).toEqual([
      `cvrsync at https://sync.example.com, 2 – 9 March 2026:

• Values written: 1,234 https://admin.example.com/writes
• Edits of people kept: 12 https://admin.example.com/inbox?kind=difference
• Values undone: 3 https://admin.example.com/runs
• Waiting in review now: 0
• Values that differ from the register now: 0
• Values that a CRM refused: 0
• Deliveries that arrived: 0
• Attempts to deliver that failed: 2 https://admin.example.com/deliveries?state=failing
• Problems that need a person now: 0`,
    ]);
    await Promise.all(replicas.map((one) => one.stop()));
    const again = await start(store, now, url);
    at = DUE + DAY;
    await again.drained();
    expect(texts.length).toBe(1);
    at = DUE + 7 * DAY;
    await again.drained();
    expect(texts[1]).toContain('9 – 16 March 2026:\n\n• Values written: 0\n');
  });

  it('is sent late if cvrsync did not run, and again until the webhook accepts it', async () => {
    const { url, texts, state } = await webhook();
    const store = await newStore(engine);
    let at = START;
    const now = () => at;
    await (await start(store, now, url)).stop();
    at = DUE + 5 * HOUR;
    state.status = 500;
    const late = await start(store, now, url);
    await late.drained();
    expect(texts).toEqual([]);
    state.status = 200;
    at += HOUR;
    await late.drained();
    expect(texts).toEqual([expect.stringContaining('2 – 9 March 2026')]);
  });

  it('ends if it is disabled, and starts over when it is enabled', async () => {
    const { url, texts } = await webhook();
    const store = await newStore(engine);
    let at = START;
    const now = () => at;
    await (await start(store, now, url)).stop();
    at = DUE + HOUR;
    const without = await start(store, now, url, {});
    await without.drained();
    await without.stop();
    at = DUE + 30 * DAY;
    const on = await start(store, now, url);
    await on.drained();
    expect(texts).toEqual([]);
  });
});

const FIGURES = {
  ...{ since: DUE - 7 * DAY, until: DUE, review: 1_001, differences: 7, conditions: 0 },
  counts: { written: 1_234, kept: 12, undone: 3, refused: 0, sent: 0, failed: 0 },
};

it('the digest is in Danish too, and names another place to look if the dashboard has no address', () => {
  const { subject, text } = digestMessage(FIGURES, { ...DIGEST, place: 'https://sync.example.com', language: 'da' });
  expect(subject).toBe('cvrsync: ugen 2. – 9. marts 2026');
  expect(text).toContain('• Skrevne værdier: 1.234\n');
  expect(text).toContain('• Venter i gennemsyn nu: flere end 1.000\n');
  expect(text).toContain('`cvrsync status` og `cvrsync review list` viser mere.');
  expect(text).not.toContain('http://');
});

it('the digest is off by default, and configured with a day, an hour and a language', async () => {
  const alerts = { webhook: 'https://hooks.example.com/x' };
  expect((await checked({ alerts })).config.alerts?.digest).toBeUndefined();
  expect((await checked({ alerts: { ...alerts, digest: {} } })).config.alerts?.digest).toEqual({
    day: 'monday',
    hour: 8,
    language: 'en',
  });
  expect(await problemsOf({ alerts: { ...alerts, digest: { day: 'mandag' } } })).toEqual([
    expect.stringContaining('alerts.digest.day should be one of monday, tuesday'),
  ]);
});

it('the digest is shown by `alerts digest` before it is sent', async () => {
  const file = join(newFolder(), 'cvrsync.json');
  const store = await newStoreUrl('sqlite');
  await opened(store);
  await writeFile(file, JSON.stringify({ store, server: { publicUrl: 'https://sync.example.com' } }));
  const english = await runCli(['--config', file, 'alerts', 'digest']);
  expect([english.code, english.stderr]).toEqual([0, '']);
  expect(english.stdout).toContain('• Values written: 0\n');
  expect(english.stdout).toContain('It is off: set alerts.digest');
  const danish = await runCli(['--config', file, '--json', 'alerts', 'digest', '--language', 'da']);
  expect(JSON.parse(danish.stdout)).toMatchObject({
    isOn: false,
    counts: { written: 0 },
    text: expect.stringContaining('Skrevne'),
  });
});

it('a test digest and a test alert are sent through a real mail server, and failures are reported', async () => {
  const office = await startMailServer();
  const file = join(newFolder(), 'cvrsync.json');
  const url = await newStoreUrl('sqlite');
  const store = await opened(url);
  const mail = { to: ['ida@example.com', 'bo@example.com'], url: office.url, from: 'cvrsync@example.com' };
  const configured = (alerts: object) =>
    writeFile(file, JSON.stringify({ store: url, server: { publicUrl: 'https://sync.example.com' }, alerts }));
  await configured({ mail, digest: { language: 'da' } });
  const test = (...argv: readonly string[]) => runCli(['--config', file, 'alerts', 'test', ...argv]);
  expect(await test('mail', '--digest')).toMatchObject({ code: 0, stdout: 'Sent by mail.\n' });
  expect(office.mails.flatMap(({ to }) => to).toSorted()).toEqual(['bo@example.com', 'ida@example.com']);
  expect(office.mails[0]?.text).toContain('Skrevne værdier: 0');
  expect(office.mails[0]?.headers.get('subject')).toMatch(/^cvrsync: ugen /u);
  expect((await test('mail')).code).toBe(0);
  expect(office.mails.at(-1)?.text).toContain('This is a test: cvrsync at https://sync.example.com');
  expect(await test('webhook', '--json')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('alerts.webhook is not configured'),
  });
  await office.close();
  expect(await test('mail')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Not sent by mail: \S/u) });
  expect((await test('pigeon')).code).toBe(2);
  const entries = await readAudit(store.db, { action: 'alert.test' }, 9);
  expect(entries.map(({ subject, result }) => `${subject} ${result === 'sent'}`)).toEqual([
    'mail false',
    'mail true',
    'mail true',
  ]);
});
