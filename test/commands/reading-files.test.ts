/**
 * Files that are not what a command needs: each is told in one clear message, and what only reads changes nothing.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPlan } from '../../src/connector/backfill/plan/read-plan.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-files-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the program itself, `through` another if that is given; what it printed, whatever its exit code. */
async function cvrsync(args: readonly string[], through: readonly string[] = []) {
  const [file = '', ...rest] = [...through, process.execPath, ENTRY, ...args];
  const env = { PATH: process.env['PATH'], HOME: folder, ...ENVIRONMENT };
  return promisify(execFile)(file, rest, { cwd: folder, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

const connector = {
  webhook: { auth: { method: 'None' } },
  providers: { crm: { use: 'hubspot', accessToken: 'pat-1' } },
};

async function configured(name: string, content: object | string | Uint8Array): Promise<string> {
  const file = join(folder, name);
  const isRaw = typeof content === 'string' || content instanceof Uint8Array;
  await writeFile(file, isRaw ? content : JSON.stringify(content));
  return file;
}

describe('commands that only read never migrate a store', () => {
  test('links, monitoring list and explain refuse an older one without changing it', async () => {
    const file = join(folder, 'older.db');
    await (await openStore(file)).close();
    const db = new Database(file);
    const current = db.prepare('select version from schema_version').pluck().get();
    db.exec('update schema_version set version = 0');
    db.close();
    const config = await configured('older.json', { store: file, connector });
    const ran = await Promise.all(
      [['links'], ['monitoring', 'list'], ['explain', 'CVR-1-10000009']].map((command) =>
        cvrsync(['--config', config, ...command]),
      ),
    );
    const refusal = expect.stringContaining(`schema version 0, this cvrsync needs ${current}: run cvrsync migrate`);
    expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(ran.map(() => [1, refusal]));
    const after = new Database(file, { readonly: true });
    expect(after.prepare('select version from schema_version').pluck().get()).toBe(0);
    after.close();
  });

  test('links does not create a missing store', async () => {
    const config = await configured('none.json', { store: join(folder, 'none', 'x.db'), connector });
    expect((await cvrsync(['--config', config, 'links'])).stderr).toContain('there is no store at');
    expect(await readdir(folder)).not.toContain('none');
  });

  test('token creates no token without a store, and prints one once check has created the store', async () => {
    const config = await configured('no-token.json', { store: 'no-token/x.db', connector });
    const ran = await cvrsync(['--config', config, 'token']);
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain(`there is no store at ${join(folder, 'no-token/x.db')} yet (\`store: no-token/x.db\``);
    expect(await readdir(folder)).not.toContain('no-token');
    const checked = await cvrsync(['--config', config, 'check', '--all']);
    expect(checked.stdout).toContain(`sqlite at ${join(folder, 'no-token/x.db')}, made`);
    expect((await cvrsync(['--config', config, 'token'])).stdout).toMatch(/^[\w-]{43}\n$/);
  });

  test('commands for use before the first start create the store', async () => {
    const companies = await configured('companies.jsonl', '{"number":"10000009","name":"Opdigtet ApS"}\n');
    const commands = [
      ['operators', 'create', 'ida', '--role', 'admin'],
      ['keys', 'create', 'ida'],
      ['match', 'index', companies],
    ];
    for (const [at, command] of commands.entries()) {
      const store = join(folder, `new-${at}`, 'x.db');
      const ran = await cvrsync(['--config', await configured(`new-${at}.json`, { store, connector }), ...command]);
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(existsSync(store)).toBe(true);
    }
  });
});

describe('an empty configuration', () => {
  test('does not start, because nothing is configured to run', async () => {
    const store = join(folder, 'empty', 'x.db');
    for (const content of ['', `store: ${store}\n`]) {
      const ran = await cvrsync(['--config', await configured('empty.yaml', content), 'serve']);
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('nothing to run')]);
    }
    expect(await readdir(folder)).not.toContain('empty');
  });

  test('fails in check in the same words, without creating a store', async () => {
    const store = join(folder, 'empty', 'x.db');
    const config = await configured('empty.yaml', `store: ${store}\n`);
    const ran = await cvrsync(['--config', config, 'check']);
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringMatching(/fail\s+configuration\s+nothing to run/u)]);
    expect(await readdir(folder)).not.toContain('empty');
  });
});

describe('a store at an unusable path is reported with path, user and remedy', () => {
  test('if a file has the name of its folder, or of a parent folder', async () => {
    const file = await configured('a-file', 'x');
    for (const store of [join(file, 'x.db'), join(file, 'data', 'x.db')])
      await expect(openStore(store)).rejects.toThrow(/a-file.* should be a folder, and a file has that name: move/);
  });

  test('if a folder has its name', async () => {
    const place = join(folder, 'folder.db');
    await mkdir(place);
    await expect(openStore(place)).rejects.toThrow(`${place} is a folder: name a file as`);
  });

  test('if the folder or the file is not writable', async () => {
    const shared = join(folder, 'shared');
    await mkdir(shared);
    const file = join(shared, 'x.db');
    await (await openStore(file)).close();
    await chmod(file, 0o444);
    await chmod(shared, 0o555);
    // Who may write anything gives that up: another user might not reach the program itself.
    const bound = userInfo().uid === 0 ? ['setpriv', '--bounding-set=-dac_override', '--inh-caps=-dac_override'] : [];
    const config = await configured('shared.json', { store: file, connector });
    const ran = await cvrsync(['--config', config, 'serve'], bound);
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringMatching(/the user .*may not write .*shared: give that user/),
    ]);
    await chmod(shared, 0o777);
    const again = await cvrsync(['--config', config, 'serve'], bound);
    expect(again.stderr).toMatch(/the user .*may not write .*x\.db: give that user/);
    await chmod(shared, 0o555);
    const deeper = await configured('deeper.json', { store: join(shared, 'new', 'er', 'x.db'), connector });
    const third = await cvrsync(['--config', deeper, 'serve'], bound);
    expect(third.stderr).toMatch(/the user .*may not write .*shared: give that user/);
    const mine = await configured('mine.json', { store: join(folder, 'mine.db'), connector });
    await (await openStore(join(folder, 'mine.db'))).close();
    const backup = await cvrsync(['--config', mine, 'backup', join(shared, 'copy.db')], bound);
    expect(backup.stderr).toMatch(
      /The backup .*copy\.db cannot be written: the user .*may not write .*shared: give that user .*, or name another file/,
    );
    await chmod(shared, 0o777);
  });

  test('a backup on a full disk names its file and the required size', async () => {
    const store = join(folder, 'large.db');
    await (await openStore(store)).close();
    const config = await configured('large.json', { store, connector });
    const file = join(folder, 'copies', 'copy.db');
    const ran = await cvrsync(['--config', config, 'backup', file], ['prlimit', '--fsize=200000']);
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringMatching(/^cvrsync: cannot write .*the copy takes about 1 MiB: make room/),
    ]);
    expect(ran.stderr).toContain(`cannot write ${file} (`);
    expect(await readdir(join(folder, 'copies'))).toEqual([]);
  });

  test('on a full disk at the start names its file and the remedy', async () => {
    const store = join(folder, 'full', 'x.db');
    const service = { register: { source: 'file', path: folder } };
    const config = await configured('full.json', { store, service, server: { port: 0 } });
    const ran = await cvrsync(['--config', config, 'serve'], ['prlimit', '--fsize=100000']);
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringMatching(/cvrsync: The store .* cannot be written \(.*\): make room on its disk, or name a path/),
    ]);
    expect(ran.stderr).toContain(`The store ${store} cannot`);
  });

  test('but is not created if a port is taken, or both ports are the same', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const store = join(folder, 'ports', 'x.db');
    const service = { register: { source: 'file', path: folder } };
    const start = async (content: object) =>
      cvrsync(['--config', await configured('ports.json', { store, service, ...content }), 'serve']);
    const taken = await start({ server: { port }, admin: { port: 0 } });
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('set another server.port')]);
    other.close();
    await once(other, 'close');
    const same = await start({ server: { port }, admin: { port } });
    expect([same.code, same.stderr]).toEqual([1, expect.stringContaining(`port ${port} of 127.0.0.1 is taken`)]);
    expect(await readdir(folder)).not.toContain('ports');
  });

  test('if the system cannot create the folder, also for check, backup and a new provider', async () => {
    const config = await configured('proc.json', { store: '/proc/x/y/x.db', connector });
    const here = await configured('proc-backup.json', { store: join(folder, 'proc.db'), connector });
    await (await openStore(join(folder, 'proc.db'))).close();
    const ran = await Promise.all(
      [
        ['--config', config, 'serve'],
        ['--config', config, 'check'],
        ['--config', here, 'backup', '/proc/x/copy.db'],
        ['provider', 'new', 'mine', '--folder', '/proc/x/mine'],
      ].map((args) => cvrsync(args, ['timeout', '--signal=KILL', '120'])),
    );
    expect(ran.map(({ code }) => code)).toEqual([1, 1, 1, 2]);
    const [serve, check, backup, provider] = ran;
    expect(serve?.stderr).toMatch(
      /The store \/proc\/x\/y\/x\.db cannot be used: .*\/proc.*name another path as `store`/,
    );
    expect(check?.stdout).toContain('The store /proc/x/y/x.db cannot be used');
    expect(backup?.stderr).toMatch(
      /The backup \/proc\/x\/copy\.db cannot be written: .*\/proc.*: (?:name|.*, or name) another file/,
    );
    expect(provider?.stderr).toContain('/proc/x/mine cannot be created');
  });

  test('a missing folder is created', async () => {
    const file = join(folder, 'deep', 'er', 'x.db');
    await (await openStore(file)).close();
    expect(await readdir(join(folder, 'deep', 'er'))).toContain('x.db');
  });
});

describe('one error gives one clear message', () => {
  const messages = async (name: string, content: string | Uint8Array) => {
    const ran = await cvrsync(['--config', await configured(name, content), 'config', 'show']);
    expect(ran.code).toBe(2);
    return ran.stderr
      .trim()
      .split('\n')
      .filter((line) => /^ {2}\S/.test(line));
  };

  test('an error in YAML', async () => {
    const text = 'store: data/x.db\nconnector:\n  webhook: { auth: { method: None }\n  providers:\n    a: [1\n  b: }\n';
    expect(await messages('slip.yaml', text)).toEqual([
      expect.stringMatching(/line \d+, column \d+: not valid YAML: /),
    ]);
    expect(await messages('tab.yaml', 'store: x.db\nserver:\n\tport: 8080\n\thost: a\n')).toHaveLength(1);
  });

  test('a variable without quotes in a map of one line', async () => {
    const text = `connector:\n  webhook:\n    auth: { method: Header, key: X-Key, value: $\{WEBHOOK_SECRET} }\n`;
    expect(await messages('unquoted.yaml', text)).toEqual([
      expect.stringMatching(/^ {0,2}line 3, column \d+: not valid YAML: .*Write "\$\{NAME\}" in quotes/),
    ]);
  });

  test('a configuration in UTF-16, with a mark or without, is read', async () => {
    const text = JSON.stringify({ store: join(folder, 'x.db'), server: { port: 8090 }, connector });
    for (const bytes of [`\uFEFF${text}`, text].map((each) => Buffer.from(each, 'utf16le'))) {
      const ran = await cvrsync(['--config', await configured('wide.json', bytes), '--json', 'config', 'show']);
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(ran.stdout).toContain('8090');
    }
  });

  test('an archive or an image given as a configuration', async () => {
    const archive = new Uint8Array([0x50, 0x4b, 3, 4, 0, 0, 9, 9]);
    expect(await messages('book.yaml', archive)).toEqual([expect.stringContaining('is not text')]);
    expect(await messages('image.yaml', new Uint8Array([0x89, 0x50, 0, 7, 0, 0, 0, 13]))).toHaveLength(1);
  });

  test('a plan that is a workbook, an image, or UTF-16 without a mark', async () => {
    const read = async (content: Uint8Array) => {
      const lines: unknown[] = [];
      for await (const line of readPlan(await configured('plan', content), (id) => ({ kind: 'id', id })))
        lines.push(line);
      return lines;
    };
    const archive = new Uint8Array([0x50, 0x4b, 3, 4, 20, 0, 6, 0]);
    expect(await read(archive)).toEqual([
      { line: 1, problem: expect.stringContaining('is a workbook: save it as CSV') },
    ]);
    const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13, 0]);
    expect(await read(image)).toEqual([{ line: 1, problem: expect.stringContaining('is not UTF-8 text') }]);
    const wide = Buffer.from('record;number;action\r\n1;10000009;link\r\n', 'utf16le');
    expect(await read(wide)).toEqual([expect.objectContaining({ recordId: '1', number: '10000009', action: 'link' })]);
  });
});
