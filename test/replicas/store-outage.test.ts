/** PostgreSQL goes away under a running daemon: the operator is told without it, and the log and the metrics stay true. */
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app.ts';
import { createContext, maskedSink } from '../../src/commands/cli/context.ts';
import { webhook } from '../alerts/webhook.ts';
import { renamed } from '../faults/company.ts';
import { handClock } from '../support/clock.ts';
import { checked } from '../support/config.ts';
import { configFor, postWebhook, startCrms } from '../support/fixture.ts';
import { createDatabase, startOwnPostgres } from '../support/postgres.ts';

const MINUTE = 60_000;

/** A daemon on a PostgreSQL of its own, with an alert webhook. */
async function scene() {
  const postgres = await startOwnPostgres();
  onTestFinished(() => postgres.remove());
  const [url, hook, crms] = [await createDatabase(postgres.url), await webhook(), await startCrms()];
  const alerts = { webhook: hook.url, allow: ['127.0.0.0/8'] };
  const { config } = await checked({ ...configFor(crms, url), alerts });
  const lines: string[] = [];
  const sink = maskedSink({ write: (line: string) => lines.push(line) });
  const world = { stdout: sink, stderr: sink, env: {}, signal: new AbortController().signal };
  const { log } = await createContext({ ...world, completions: async () => [] }, { json: false, logLevel: 'info' });
  const clock = handClock();
  const app = await startApp(config, { log, env: {}, now: clock.now, beatMs: 20 });
  onTestFinished(() => app.close(0));
  const gauges = async () => (await fetch(`${app.adminUrl}/metrics`)).text();
  return {
    ...{ app, postgres, hook, clock },
    /** The lines since it was asked last. */
    read: () => lines.splice(0).map((line) => JSON.parse(line)),
    isUp: async () => /^cvrsync_store_up (?<up>[01])$/mu.exec(await gauges())?.groups?.['up'],
    post: (name: string) => postWebhook(`${app.url}/webhook`, renamed('A ApS', name)),
  };
}

it('is told once without the store, and again when it is over; the log has a line for it, not thousands', async () => {
  const { app, postgres, hook, clock, read, isUp, post } = await scene();
  expect(await post('B ApS')).toBe(204);
  expect(await isUp()).toBe('1');
  read();

  await postgres.down();
  await expect.poll(isUp).toBe('0');
  const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => post(`C${at} ApS`)));
  expect(new Set(answers)).toEqual(new Set([503]));
  expect(hook.texts).toEqual([]);
  clock.forward(MINUTE);
  await expect.poll(() => hook.texts.length).toBe(1);
  expect(hook.texts[0]).toMatch(
    /• The daemon \S+ \d+ cannot use its store, since .* UTC\.\n {2}Cause: the store at .* cannot be reached/,
  );
  clock.forward(10 * MINUTE);
  const during = read();
  expect(during.length).toBeLessThan(10);
  expect(during.filter(({ err }) => err?.type === 'StoreError')).toHaveLength(1);
  expect(JSON.stringify(during)).not.toContain('"stack"');

  await postgres.up();
  await expect.poll(isUp).toBe('1');
  expect(read()).toContainEqual(
    expect.objectContaining({ msg: 'the store can be used again', seconds: expect.any(Number) }),
  );
  expect(await post('D ApS')).toBe(204);
  expect(hook.texts.length).toBe(1);
  clock.forward(16 * MINUTE);
  await expect.poll(() => hook.texts.length).toBe(2);
  expect(hook.texts[1]).toMatch(/^Over at .*\n\n• The daemon /);
  expect(await app.store.db.selectFrom('alert').select('key').execute()).toEqual([]);
});
