import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { showProgress } from '../../../src/commands/backfill/progress.ts';
import { advance, measure, progressText } from '../../../src/commands/backfill/progress-state.ts';
import type { BackfillStep } from '../../../src/connector/backfill/rows/backfill-context.ts';
import { main } from '../../../src/main.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { newFolder } from '../../support/stores.ts';

const calls = { crm: 1_200, service: 0 };
const seen = (count: number, verdict: string): NonNullable<BackfillStep['seen']> =>
  Array.from({ length: count }, (_, at) => ({
    record_id: String(at),
    position: at,
    name: null,
    found: null,
    entity: null,
    verdict,
    action: 'skip',
    state: 'planned',
    detail: null,
  }));

/** The line after some steps, a second apart. */
const lineAfter = (steps: readonly BackfillStep[]): string => {
  let standing = advance(undefined, {}, 0);
  for (const [at, step] of steps.entries()) standing = advance(standing, step, at * 1_000);
  return progressText(standing, calls, steps.length * 1_000);
};

describe('the line of progress', () => {
  it('counts a scan by verdict, with the rate since this start', () => {
    const line = lineAfter([
      { phase: 'scan', scanned: 50_100, seen: seen(100, 'matched') },
      { phase: 'scan', scanned: 50_200, seen: seen(100, 'no-number') },
    ]);
    expect(line).toBe('scanning: 50,200 records, 100/s (matched 100, no-number 100); calls: CRM 1,200');
  });

  it('shows the remaining time of linking and monitoring', () => {
    const linking: readonly BackfillStep[] = [
      { phase: 'apply', toLink: 1_000 },
      { phase: 'apply', linked: 200 },
    ];
    expect(lineAfter(linking)).toBe('linking: 200 of 1,000, 100/s, 8 s left; calls: CRM 1,200');
    const carrying: readonly BackfillStep[] = [
      ...linking,
      { phase: 'confirm', toConfirm: 100 },
      { phase: 'confirm', toConfirm: 90 },
    ];
    expect(lineAfter(carrying)).toBe('monitoring: 10 of 100, 5.0/s, 18 s left; calls: CRM 1,200');
  });

  it('shows why it waits, until it continues', () => {
    const steps: readonly BackfillStep[] = [{ phase: 'confirm', toConfirm: 5, trouble: 'no answer' }];
    expect(lineAfter(steps)).toMatch(/^waiting: no answer; monitoring: 0 of 5/u);
    expect(lineAfter([...steps, { phase: 'confirm', toConfirm: 5, trouble: undefined }])).not.toContain('waiting');
  });

  it('shows the beginning and the latest end of a wait', () => {
    const wait = { since: Date.parse('2026-01-01T08:00:05'), until: Date.parse('2026-01-01T08:30:05') };
    expect(lineAfter([{ trouble: 'no answer in 30 s', wait }])).toBe(
      'waiting since 08:00:05, until 08:30:05 at most: no answer in 30 s',
    );
  });

  it('names the steps in between', () => {
    expect(lineAfter([{ phase: 'decide' }])).toContain('numbers that several records share');
    expect(
      lineAfter([
        { phase: 'planned', written: 100 },
        { phase: 'planned', written: 20 },
      ]),
    ).toContain('writing the plan: 120');
  });

  it('shows no remaining time of a scan', () => {
    const standing = advance(undefined, { phase: 'scan', scanned: 1_000, seen: [] }, 0);
    expect(measure(standing, 1_000)).toMatchObject({ done: 1_000, total: undefined });
  });
});

it('shows the reason of a wait and the results of a scan in 80 columns', () => {
  let drawn = '';
  const write = (text: string): void => {
    drawn += text;
  };
  const log = pino({ enabled: false });
  const shown = (step: BackfillStep): string => {
    drawn = '';
    const progress = showProgress({ stderr: { isTTY: true, columns: 80, write }, json: false, log }, calls);
    progress.report(step);
    progress.end();
    return drawn;
  };
  const trouble = 'POST http://127.0.0.1:7103/monitoring was refused: nothing listens';
  expect(shown({ phase: 'confirm', toConfirm: 24, trouble })).toContain(`waiting: ${trouble}`);
  const many = [...seen(451, 'matched'), ...seen(10, 'no-number'), ...seen(29, 'invalid')];
  expect(shown({ phase: 'scan', scanned: 490, seen: many })).toContain('no-number 10, invalid 29)');
});

it('is a bar on a terminal, whose settings are restored', async () => {
  const emulator = await startHubspotEmulator({ rate: 'none' });
  onTestFinished(() => emulator.close());
  for (let at = 0; at < 3; at++) emulator.add({ cvr_number: cvrNumber(at) });
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const providers = { hubspot: { use: 'hubspot', ...emulator.settings, match: { property: 'cvr_number' } } };
  const connector = { webhook: { auth: { method: 'None' } }, providers };
  writeFileSync(file, JSON.stringify({ store: join(folder, 's.db'), connector }));
  let drawn = '';
  const write = (text: string): void => {
    drawn += text;
  };
  const stderr = { isTTY: true, columns: 100, write };
  const world = { stdout: { write: () => {} }, stderr, env: {}, signal: new AbortController().signal };
  expect(await main(['--config', file, 'backfill', 'hubspot', '--yes'], world)).toBe(0);
  expect(drawn).toMatch(/\[=+\] monitoring: 3 of 3/u);
  expect(drawn.lastIndexOf('\u001B[?25h')).toBeGreaterThan(drawn.lastIndexOf('\u001B[?25l'));
  // A program reads lines of JSON, also if somebody watches.
  drawn = '';
  expect(await main(['--config', file, '--json', 'backfill', 'hubspot', '--yes'], world)).toBe(0);
  for (const line of drawn.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ msg: 'backfill' });
});

it.each([true, false])(
  'shows the call that a CRM does not answer, with the beginning and the latest end of the wait (terminal: %s)',
  async (isTTY) => {
    // It takes calls, and never answers.
    const asked = Promise.withResolvers<void>();
    const silent = createServer(() => asked.resolve());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('it does not listen');
    const folder = newFolder();
    const file = join(folder, 'cvrsync.json');
    const baseUrl = `http://127.0.0.1:${address.port}`;
    const hubspot = { use: 'hubspot', baseUrl, accessToken: 'pat-none', match: { property: 'cvr_number' } };
    const connector = { webhook: { auth: { method: 'None' } }, providers: { hubspot } };
    writeFileSync(file, JSON.stringify({ store: join(folder, 's.db'), connector }));
    const said = Promise.withResolvers<string>();
    const write = (text: string): void => {
      if (text.includes('waiting')) said.resolve(text);
    };
    const stop = new AbortController();
    const world = { stdout: { write: () => {} }, stderr: { isTTY, columns: 100, write }, env: {}, signal: stop.signal };
    const running = main(['--config', file, 'backfill', 'hubspot', '--yes'], world);
    await asked.promise;
    const time = String.raw`\d\d:\d\d:\d\d`;
    expect(await said.promise).toMatch(new RegExp(`waiting.* since ${time}, until ${time} at most`, 'u'));
    stop.abort();
    expect(await running).toBe(1);
  },
);
