/** Every command ends when its work is over, whatever a plugin left open. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { daemonWith } from '../support/daemon.ts';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const TYPEBOX = JSON.stringify(import.meta.resolve('typebox'));
const OPEN = 'setInterval(() => {}, 1_000);';

interface Parts {
  readonly onImport?: string;
  readonly onConnect?: string;
  readonly contract?: string;
  readonly about?: string;
}

/** A folder with a plugin of these parts, and a configuration that uses it. */
async function folderWith({ onImport = '', onConnect = '', contract = '2.0.0', about = '' }: Parts) {
  const folder = newFolder();
  await writeFile(
    join(folder, 'open.mjs'),
    `import Type from ${TYPEBOX};
     ${onImport}
     export const crm = {
       name: 'open', contract: '${contract}', about: 'x', preset: [],
       settings: Type.Object({ token: Type.String({ description: '${about}' }) }, { additionalProperties: false }),
       limits: () => ({ batch: { read: 1, update: 1 }, concurrency: 1, budgets: { default: { calls: 9, perMs: 1000 } } }),
       connect: async () => {
         ${onConnect}
         return {
           check: async () => ({ id: '1', name: 'One', notes: [] }),
           properties: async () => [], read: async () => [], update: async () => [], scan: async () => ({ records: [] }),
         };
       },
     };`,
  );
  const config = {
    server: { port: 0 },
    admin: { port: 0 },
    store: await newStoreUrl('sqlite'),
    connector: {
      webhook: { auth: { method: 'None' } },
      providers: { crm: { use: join(folder, 'open.mjs'), token: 'x', pollMinutes: 0, reconcileHours: 0 } },
    },
  };
  await writeFile(join(folder, 'cvrsync.json'), JSON.stringify(config));
  return { folder, config };
}

const run = async (command: string, parts: Parts) =>
  startCommand(['--config', 'cvrsync.json', command], (await folderWith(parts)).folder).ended;

test('the daemon exits with 2 for an invalid plugin that opens a timer', async () => {
  const { code, stderr } = await run('serve', { onImport: OPEN, contract: '3.0.0' });
  expect([code, stderr]).toEqual([2, expect.stringContaining('is built for version 3.0.0')]);
});

test('the daemon exits with 2 for a plugin whose import hangs', async () => {
  const { code, stderr } = await run('serve', { onImport: `await new Promise(() => { ${OPEN} });` });
  expect([code, stderr]).toEqual([2, expect.stringContaining('its import did not end within 10 s')]);
});

test('check ends although a connection opens a timer', async () => {
  const { code, stdout } = await run('check', { onConnect: OPEN });
  expect([code, stdout]).toEqual([expect.any(Number), expect.stringContaining('to fix')]);
});

test('a stopped daemon exits with 0 although a connection opens a timer', async () => {
  const daemon = await daemonWith((await folderWith({ onConnect: OPEN })).config);
  await daemon.start();
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('a slow reader gets the complete output of a command', async () => {
  const { folder } = await folderWith({ onImport: OPEN, about: 'long '.repeat(400_000) });
  const line = '"$0" "$1" config schema ./open.mjs | (sleep 1; cat)';
  const { stdout } = await promisify(execFile)('sh', ['-c', line, process.execPath, ENTRY], {
    cwd: folder,
    env: { ...process.env, ...ENVIRONMENT },
    maxBuffer: 20_000_000,
  });
  expect(stdout.length).toBeGreaterThan(2_000_000);
  expect(JSON.parse(stdout)).toHaveProperty('$schema');
});

test('TERM to `npm start` ends the daemon, too', async () => {
  const file = join(newFolder(), 'cvrsync.json');
  await writeFile(file, JSON.stringify((await folderWith({})).config));
  const npm = spawn('npm', ['start', '--silent', '--', '--config', file], {
    cwd: join(import.meta.dirname, '../..'),
    env: process.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void npm.kill('SIGKILL'));
  let url = '';
  for await (const line of createInterface({ input: npm.stderr })) {
    if (!line.includes('"ready"')) continue;
    url = JSON.parse(line).url;
    break;
  }
  const exited = once(npm, 'exit');
  npm.kill('SIGTERM');
  await exited;
  await expect.poll(() => fetch(`${url}/live`).then(String, () => 'gone'), { timeout: 5_000 }).toBe('gone');
});
