/** What commands leave in the audit. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audited } from '../../src/commands/arguments/audited.ts';
import type { Command } from '../../src/commands/cli/command.ts';
import type { CommandContext } from '../../src/commands/cli/context.ts';
import { COMMANDS } from '../../src/commands/list.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { runCli } from '../support/cli.ts';
import { newFolder, opened } from '../support/stores.ts';

/** Commands that change nothing in the store or a CRM, or that record themselves. */
const UNRECORDED = [
  'send',
  'receive',
  'serve',
  'demo',
  'erase',
  'explain',
  'review',
  'review answered',
  'review list',
  'emulate',
  'init',
  'migrate',
  'leave',
  'links',
  'backfill',
  'match',
  'match find',
  'operators login-link',
  'monitors list',
  'deliveries list',
  'deliveries recover',
  'deliveries replay',
  'jobs list',
  'monitoring list',
  'monitoring jobs',
  'store copy',
  'provider new',
  'provider test',
  'undo',
  'completion',
  'completion connections',
  'config init',
  'config processing',
  'config schema',
  'config show',
];

const named = (command: Command, before = ''): readonly (readonly [string, Command])[] => {
  const name = `${before}${command.name}`;
  return [[name, command], ...command.commands.flatMap((sub) => named(sub, `${name} `))];
};

describe('the audit', () => {
  it('covers every command that changes something', async () => {
    const all = (await Promise.all(COMMANDS.map(async ({ load }) => named((await load()).command)))).flat();
    const silent = all
      .filter(([, { run, audit, operation }]) => run !== undefined && audit === undefined && operation === undefined)
      .map(([name]) => name);
    expect(silent.sort()).toEqual([...UNRECORDED].sort());
  });

  it('has the entry of a long command before its work, and the result afterwards', async () => {
    const url = join(newFolder(), 'store.db');
    const store = await opened(url);
    const context = { config: async () => ({ store: url }) } as unknown as CommandContext;
    const command = { audit: 'index.make', options: {} } as unknown as Command;
    const told = async () => (await readAudit(store.db, {}, 9)).map(({ action, result }) => `${action} ${result}`);
    let amid: readonly string[] = [];
    const work = async (): Promise<0> => {
      amid = await told();
      return 0;
    };
    expect(await audited(context, command, { args: {}, options: {} }, work)).toBe(0);
    expect([amid, await told()]).toEqual([['index.make begun'], ['index.make done']]);
    // A restore puts a store in place that does not know the entry.
    const restored = async (): Promise<0> => {
      await store.write((tx) => tx.deleteFrom('audit').execute());
      return 0;
    };
    expect(await audited(context, command, { args: {}, options: {} }, restored)).toBe(0);
    expect(await told()).toEqual(['index.make done']);
  });

  it('shows actor, action and result, and no secret', async () => {
    const folder = newFolder();
    const store = await opened(join(folder, 'store.db'));
    const file = join(folder, 'cvrsync.json');
    const service = { register: { source: 'file', path: folder } };
    await writeFile(file, JSON.stringify({ server: { port: 0 }, store: join(folder, 'store.db'), service }));
    const cli = (...argv: readonly string[]) => runCli(['--config', file, '--log-level', 'error', ...argv]);
    expect((await cli('keys', 'create', 'Nordlys')).code).toBe(0);
    const url = 'https://hooks.example.com/T0/secret-path';
    expect((await cli('monitors', 'create', 'Sales', '--url', url, '--bearer', 'secret-token')).code).toBe(0);
    expect((await cli('monitors', 'disable', 'no-such-monitor')).code).toBe(1);
    expect((await cli('monitors', 'create')).code).toBe(2);
    expect((await cli('keys', 'list')).code).toBe(0);
    const copy = join(folder, 'copy.db');
    expect((await cli('backup', copy, '--verify')).code).toBe(0);
    expect((await cli('backup', copy)).code).toBe(1);
    const entries = await readAudit(store.db, {}, 10);
    expect(entries.map(({ via, action, detail, result }) => [via, action, detail, result])).toEqual([
      ['command', 'store.backup', undefined, 'failed'],
      ['command', 'store.backup', { verify: true }, 'done'],
      ['command', 'monitor.create', { name: 'Sales' }, 'created'],
      ['command', 'key.create', { name: 'Nordlys', scopes: ['monitoring', 'news', 'testwebhook'] }, 'created'],
    ]);
    expect(entries[0]?.actor).toMatchObject({ kind: 'user', name: expect.stringMatching(/./) });
    expect(JSON.stringify(entries)).not.toContain('secret-');
  });
});
