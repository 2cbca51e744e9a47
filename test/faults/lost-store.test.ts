/** The store's file disappears under the real daemon. */
import { existsSync, globSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { runCli } from '../support/cli.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, postWebhook, startCrms } from '../support/fixture.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';
import { renamed } from './company.ts';

async function running() {
  const crms = await startCrms();
  const store = await newStoreUrl('sqlite');
  const daemon = await daemonWith(configFor(crms, store));
  await daemon.start();
  const post = (hour: number) => postWebhook(`${daemon.url}/webhook`, renamed('A ApS', `B${hour} ApS`, hour));
  const ready = async () => (await fetch(`${daemon.url}/ready`)).json();
  expect(await post(8)).toBe(204);
  return { store, daemon, post, ready };
}

test('a daemon whose store was deleted answers no webhook with 204, and does not start with an empty one by itself', async () => {
  const { store, daemon, post, ready } = await running();
  for (const file of globSync(`${store}*`)) rmSync(file);
  expect(await post(9)).toBe(503);
  expect(await ready()).toMatchObject({ errors: [{ message: 'the file of the store was moved or deleted' }] });
  await daemon.kill('SIGKILL');

  await expect(daemon.start()).rejects.toThrow(/exit code 1: .*there was a store at .* gone or empty/s);
  rmSync(path.join(path.dirname(store), `.${path.basename(store)}.marker`));
  await daemon.start();
  expect(await post(10)).toBe(204);
});

test('a daemon whose store was moved accepts events again once it is back', async () => {
  const { store, post, ready } = await running();
  renameSync(store, `${store}.moved`);
  expect(await post(9)).toBe(503);
  renameSync(`${store}.moved`, store);
  expect(await post(9)).toBe(204);
  expect(await ready()).toEqual({ ok: true });
});

/** `serve` with a person at the terminal who types this; ended once the store is there. */
async function serveAsked(typed: string, argv: readonly string[], store: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const end = new AbortController();
  let shown = '';
  const write = (text: string): void => {
    shown += text;
  };
  const sink = { isTTY: true, write };
  stdin.write(typed);
  const running = main(argv, { stdin, stdout: sink, stderr: sink, env: {}, signal: end.signal });
  const ended = running.then(() => true);
  while (!existsSync(store) && !(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))])));
  end.abort();
  return { code: await running, shown };
}

test('check and commands say that the store is gone; serve asks at a terminal whether to start over', async () => {
  const folder = newFolder();
  const [store, file] = [path.join(folder, 'mine.db'), path.join(folder, 'cvrsync.json')];
  const service = { register: { source: 'file', path: folder } };
  writeFileSync(file, JSON.stringify({ server: { port: 0 }, store, service }));
  const serve = ['--config', file, 'serve'];
  expect((await serveAsked('', serve, store)).code).toBe(0);
  for (const each of globSync(`${store}*`)) if (!each.endsWith('.key')) rmSync(each);

  for (const command of [['check'], ['monitors', 'list']])
    expect(Object.values(await runCli(['--config', file, ...command])).join()).toMatch(
      /there was a store at .*mine\.db, and it is gone or empty: put it back, or .*restore FILE.*--start-empty once, or delete .*\.mine\.db\.marker/,
    );
  expect(await serveAsked('n\n', serve, store)).toMatchObject({
    code: 1,
    shown: expect.stringMatching(/mine\.db is gone\. Start with an empty one\? \[y\/N\].*it is gone or empty/s),
  });
  expect(existsSync(store)).toBe(false);
  expect((await serveAsked('y\n', serve, store)).code).toBe(0);
  for (const each of globSync(`${store}*`)) if (!each.endsWith('.key')) rmSync(each);
  const shown = (await serveAsked('', [...serve, '--start-empty'], store)).shown;
  expect(shown).not.toContain('Start with an empty one?');
  expect(existsSync(store)).toBe(true);
});
