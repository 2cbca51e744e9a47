import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CrmEmulator } from '../../providers/kit/emulator/emulator.ts';
import { EMULATORS } from '../../providers/kit/emulators.ts';
import { diskFindings } from '../../src/commands/check/findings.ts';
import type { Config } from '../../src/config/load.ts';
import { acceptMatch } from '../../src/connector/follow/match-property.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { park } from '../../src/runtime/lanes/lanes.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { setAside } from '../../src/store/erasure/quarantine.ts';
import { runCli } from '../support/cli.ts';
import { checked, connectorWith } from '../support/config.ts';
import { emptyStoreUrl, makeOlder, newStore, opened, SUITE_ENGINES } from '../support/stores.ts';

let folder = '';
let emulator: CrmEmulator | undefined;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-operations-'));
  emulator = await EMULATORS['hubspot']?.({});
});
afterAll(async () => {
  await emulator?.close();
  await rm(folder, { recursive: true });
});

/** A configuration with a store of its own, and the emulated HubSpot. */
async function configured(hubspot: object = {}, more: object = {}, connector: object = {}) {
  count += 1;
  const store = join(folder, `${count}.db`);
  const file = join(folder, `${count}.json`);
  const entry = { use: 'hubspot', ...emulator?.settings, match: { property: 'cvr_number' }, ...hubspot };
  const auth = { method: 'Header', key: 'X-Key', value: 'a-secret-value-of-length' };
  const value = { store, connector: { webhook: { auth }, providers: { hubspot: entry }, ...connector }, ...more };
  await writeFile(file, JSON.stringify(value));
  return { store, run: (...argv: readonly string[]) => runCli(['--config', file, ...argv]) };
}

const COMPANY = 'CVR-1-10000001';

describe('check', () => {
  it('finds nothing to fix in a sound configuration, and creates a missing store', async () => {
    const { run } = await configured();
    const { code, stdout } = await run('check', '--json');
    expect(code).toBe(0);
    const findings: { level: string; subject: string; found: string }[] = JSON.parse(stdout);
    expect(findings.filter(({ level }) => level === 'fail' || level === 'warn')).toEqual([]);
    expect(findings.find(({ subject }) => subject === 'store')?.found).toContain('made');
    expect((await run('check')).stdout).toContain('0 to fix');
  });

  it('names links of a connection that was renamed, and those made by another match property', async () => {
    const { store: url, run } = await configured();
    await run('check');
    const store = await openStore(url);
    const desired = { recordId: '1', entity: COMPANY, sendUpdate: false, now: 1, origin: 'number' } as const;
    await store.write(async (tx) => {
      await linkRecord(tx, { ...desired, provider: 'crm' });
      await linkRecord(tx, { ...desired, provider: 'hubspot' });
      await acceptMatch(tx, 'hubspot', 'old_number', 1);
    });
    await store.close();
    const { stdout } = await run('check');
    expect(stdout).toMatch(/warn\s+crm links\s+crm is not configured, and has 1 links/);
    expect(stdout).toMatch(/warn\s+hubspot match\s+links were made by old_number, and do not follow cvr_number/);
  });

  it('fails for a missing property, and names the remedy', async () => {
    const { run } = await configured({ fields: { name: 'nmae' } });
    const { code, stdout } = await run('check');
    expect(code).toBe(1);
    expect(stdout).toMatch(/fail\s+hubspot name → nmae\s.*create it, or set fields: \{ name: false \}/);
  });

  it('offers to create missing properties, creates them on request, and then finds nothing to fix', async () => {
    const { run } = await configured({ fields: { status: 'my_status', startDate: 'my_start' } });
    const before = await run('check');
    expect(before.code).toBe(1);
    expect(before.stdout).toMatch(/can be created: my_status, my_start\s.*--create-properties/);
    const made = await run('check', '--create-properties');
    expect(made.stdout).toMatch(/ok\s+hubspot my_start\s+created/);
    expect(made.code).toBe(0);
    expect((await run('check')).stdout).not.toContain('can be created');
  });

  it('fails for a refused token, without showing it', async () => {
    const { run } = await configured({ accessToken: 'wrong-token-of-mine' });
    const { code, stdout } = await run('check');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/fail\s+hubspot\s.*renew the credentials/)]);
    expect(stdout).not.toContain('wrong-token-of-mine');
  });

  it('fails if the monitoring service does not answer', async () => {
    const upstream = { baseUrl: 'http://127.0.0.1:9', accessKey: 'a-key-of-mine' };
    const { run } = await configured({}, {}, { upstream });
    const { code, stdout } = await run('check', '--timeout', '2');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/fail\s+upstream\s/)]);
  });

  it.each(SUITE_ENGINES)(
    'creates the tables of an empty store on %s, and does not migrate older ones',
    async (engine) => {
      const url = await emptyStoreUrl(engine);
      const { run } = await configured({}, { store: url, admin: { token: 'a-token-of-some-length' } });
      expect((await run('check')).stdout).toContain('0 to fix');
      const older = await opened(url);
      await makeOlder(older);
      const { code, stdout } = await run('--json', 'check');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toContainEqual({
        level: 'fail',
        subject: 'store',
        found: expect.stringMatching(/schema version 0, .*: run cvrsync migrate$/u),
      });
    },
  );

  it('fails for lack of disk space once webhooks are refused for it, in the words of /ready', async () => {
    const store = await newStore('sqlite');
    const free = async (mib: number, config: Pick<Config, 'connector'>) =>
      diskFindings({ ...store, freeBytes: async () => mib * 1024 * 1024 }, config);
    const { config } = await checked(connectorWith());
    expect(await free(255, config)).toMatchObject([
      {
        level: 'fail',
        found: '255 MiB are free on the disk of the store, 256 MiB are needed: webhooks are refused',
      },
    ]);
    expect(await free(256, config)).toMatchObject([{ level: 'warn' }]);
    expect(await free(255, {})).toMatchObject([{ level: 'warn' }]);
    expect(await free(512, config)).toEqual([]);
  });

  it('fails for an invalid store, and continues', async () => {
    const file = join(folder, 'text.db');
    await writeFile(file, 'this is a text and not a database of any kind');
    const { run } = await configured({}, { store: file });
    const { code, stdout } = await run('check');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/fail\s+store\s.*not a SQLite database/)]);
  });

  it('requests our own address from outside', async () => {
    const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { run } = await configured({}, { server: { publicUrl: `http://127.0.0.1:${port}` } });
    expect((await run('check', '--all')).stdout).toMatch(/ok\s+webhook\s.*\/live answers/);
    const away = await configured({}, { server: { publicUrl: 'http://127.0.0.1:9' } });
    expect((await away.run('check')).stdout).toMatch(/warn\s+webhook\s.*is the daemon running/);
  });
});

describe('review', () => {
  it('shows by its exit code whether a person is needed, and accepts the ids that it shows', async () => {
    const { run, store: url } = await configured();
    expect(await run('review')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no store') });
    expect((await run('migrate')).code).toBe(0);
    expect(await run('review', 'list')).toMatchObject({ code: 0, stdout: 'Nothing needs a person.\n' });
    const store = await openStore(url);
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'hubspot', recordId: '7', entity: COMPANY, sendUpdate: false, now: 1 });
      await tx.updateTable('link').set({ state: 'conflict' }).execute();
      await setAside(tx, { source: 'webhook', reason: 'no entityId', body: Buffer.from('{}'), now: 1 });
    });
    await store.close();
    const listed = await run('review', '--json');
    expect([listed.code, JSON.parse(listed.stdout).map(({ id }: { id: string }) => id)]).toEqual([
      3,
      ['link/hubspot/7', 'body/1'],
    ]);
    expect(await run('review', 'retry', '--all', '--yes')).toMatchObject({
      code: 3,
      stdout: 'Left for you to decide, by id: link/hubspot/7\n',
    });
    expect(await run('review', 'accept', '--all', '--yes', '--kind', 'link')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 entry: the link is active/),
    });
    expect(await run('review', 'retry', 'body/1')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('receive FILE'),
    });
    expect(await run('review', 'drop', 'body/1')).toMatchObject({ code: 0, stdout: 'body/1: deleted\n' });
    expect((await run('review', 'drop', 'body/1')).code).toBe(1);
    expect((await run('review', 'drop')).code).toBe(2);
    expect((await run('review')).code).toBe(0);
  });
});

describe('review retry --all', () => {
  it('retries lanes, and never releases a safety limit', async () => {
    const { run, store: url } = await configured();
    const store = await openStore(url);
    onTestFinished(() => store.close());
    await store.write(async (tx) => {
      await park(tx, 'sync:hubspot', '7', { at: 1, error: 'no answer' });
      await park(tx, 'heal:hubspot', '*', { at: 1, error: 'too many links would end' });
    });
    for (const kind of [[], ['--kind', 'lane']])
      expect(await run('review', 'retry', '--all', '--yes', ...kind)).toMatchObject({
        code: 3,
        stdout: expect.stringMatching(/by id: lane\/heal:hubspot\/\*\n$/u),
      });
    const parkedOnes = store.db.selectFrom('lane').select('queue').where('parked_at', 'is not', null);
    expect(await parkedOnes.execute()).toEqual([{ queue: 'heal:hubspot' }]);
    expect((await run('review', 'accept', 'lane/heal:hubspot/*')).code).toBe(0);
    expect(await parkedOnes.execute()).toEqual([]);
  });
});

describe('explain', () => {
  it('accepts a company or one of its records, and reports unknown ones', async () => {
    const { run, store: url } = await configured();
    const store = await openStore(url);
    await store.write((tx) =>
      linkRecord(tx, { provider: 'hubspot', recordId: '7', entity: COMPANY, sendUpdate: false, now: 1 }),
    );
    await store.close();
    for (const subject of [COMPANY, 'cvr-1-10000001', '10000001', 'hubspot:7']) {
      const { code, stdout } = await run('explain', subject);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^CVR-1-10000001\n\nhubspot:7\n(?: {2}\S.*\n){5}\nLinks\n {2}hubspot:7 {2}active/),
      ]);
    }
    expect(JSON.parse((await run('--json', 'explain', COMPANY)).stdout)).toMatchObject({
      entity: COMPANY,
      links: [{ record: '7' }],
    });
    expect(await run('explain', 'hubspot:8')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('hubspot:8 has no link and no event'),
    });
    expect((await run('explain', 'what')).code).toBe(2);
  });

  it('says why a linked company has no facts, as monitoring add does', async () => {
    const id = emulator?.add({ name: 'One' }) ?? '';
    const other = await configured({}, {}, { upstream: { baseUrl: 'http://127.0.0.1:9', accessKey: 'k' } });
    const added = await other.run('monitoring', 'add', 'hubspot', COMPANY, id);
    expect([added.code, added.stdout]).toEqual([0, expect.not.stringContaining('register')]);
    expect((await other.run('explain', COMPANY)).stdout).toContain(
      `Facts now\n  No event with data has arrived: cvrsync writes nothing until one does. cvrsync monitoring add hubspot ${COMPANY} ${id} --send-update`,
    );
    const service = { register: { source: 'file', path: folder } };
    const own = await configured({}, { service, server: { port: 9 } });
    const nothing = `Our own service has no data about ${COMPANY} from the register yet: is the number right?`;
    expect((await own.run('monitoring', 'add', 'hubspot', COMPANY, id)).stdout).toContain(nothing);
    expect((await own.run('explain', COMPANY)).stdout).toContain(`Facts now\n  ${nothing}`);
  });
});

describe('backup', () => {
  it('copies the key of the secrets next to the copy, readable by its owner only, and says so', async () => {
    const { run, store } = await configured({}, { service: { register: { source: 'file', path: folder } } });
    expect((await run('migrate')).code).toBe(0);
    const file = join(folder, 'elsewhere', 'copy.db');
    await writeFile(`${store}.key`, `${'A'.repeat(43)}=\n`, { mode: 0o644 });
    const { code, stdout } = await run('backup', file);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`and ${file}.key`)]);
    expect(await readFile(`${file}.key`, 'utf8')).toBe(`${'A'.repeat(43)}=\n`);
    expect((await stat(`${file}.key`)).mode & 0o777).toBe(0o600);
  });

  it('overwrites no key', async () => {
    const { run, store } = await configured();
    expect((await run('migrate')).code).toBe(0);
    const file = join(folder, 'copy-beside-key.db');
    await writeFile(`${store}.key`, `${'A'.repeat(43)}=\n`);
    await writeFile(`${file}.key`, 'of another store');
    expect(await run('backup', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
    expect(await readFile(`${file}.key`, 'utf8')).toBe('of another store');
    expect(existsSync(file)).toBe(false);
  });

  it('names the configured key if one exists', async () => {
    const secretKey = `${'B'.repeat(43)}=`;
    const service = { register: { source: 'file', path: folder }, secretKey };
    const { run } = await configured({}, { service });
    expect((await run('migrate')).code).toBe(0);
    const file = join(folder, 'copy-without-key.db');
    const { stdout } = await run('backup', file);
    expect(stdout).toContain('service.secretKey');
    expect(stdout).not.toContain(secretKey);
    expect(existsSync(`${file}.key`)).toBe(false);
  });

  it('copies the store into a new file, never over one', async () => {
    const { run, store } = await configured();
    await run('migrate');
    const file = join(folder, 'copy.db');
    expect(await run('backup', file, '--verify')).toMatchObject({
      ...{ code: 0, stderr: '' },
      stdout: expect.stringContaining(`Wrote and verified ${file}`),
    });
    expect((await readFile(file)).subarray(0, 15)).toEqual((await readFile(store)).subarray(0, 15));
    expect(await run('backup', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
  });
});
