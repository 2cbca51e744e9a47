/** What fails because the store does not answer is told as the store's failure, and nobody else is blamed for it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app.ts';
import { checkConfig } from '../../src/config/load.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { runCli } from '../support/cli.ts';
import { configFor, startCrms, startFixture, watchStore } from '../support/fixture.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

/** Ends every statement that waits for a lock, as a time-out of the store would. */
const CUT = sql`select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

describe('a store time-out', () => {
  it('inside the call of a provider is not blamed on the provider: no try is counted, no account paused', async () => {
    const fixture = await startFixture({ engine: 'postgres' });
    const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
    await fixture.atRest();
    const { store: url } = JSON.parse(await readFile(fixture.configFile, 'utf8')) as { store: string }; // setStage wrote it
    const other = await watchStore(url);
    const lane = () =>
      other.db
        .selectFrom('lane')
        .select(['error', 'attempts'])
        .where('queue', '=', 'sync:hubspot')
        .where('error', 'is not', null)
        .executeTakeFirst();
    await other.write(async (tx) => {
      // Calls ask for their turn by a write to this table.
      await sql`lock table rate_limit in share mode`.execute(tx);
      await fixture.post(renamed('A ApS', 'B ApS'));
      await expect
        .poll(
          async () => {
            await CUT.execute(other.db);
            // A transaction that idles is ended by the server.
            await sql`select 1`.execute(tx);
            return lane();
          },
          { timeout: 120_000 },
        )
        .toEqual({ error: expect.stringMatching(/^the store did not answer/), attempts: 0 });
      const { paused } = await other.db
        .selectFrom('rate_limit')
        .select((eb) => eb.fn.countAll<number>().as('paused'))
        .where('blocked_until', '>', 0)
        .executeTakeFirstOrThrow();
      expect(paused).toBe(0);
    });
    await fixture.atRest();
    expect(fixture.hubspot.get(id)).toMatchObject({ name: 'B ApS' });
  });
});

describe('a start without its store', () => {
  it('says that it is the store, where it should be without the password, and what to do', async () => {
    const file = join(newFolder(), 'cvrsync.yaml');
    const crms = await startCrms();
    await writeFile(file, JSON.stringify(configFor(crms, 'postgres://someone:hunter2@127.0.0.1:1/nowhere')));
    const { code, stderr } = await runCli(['--config', file, 'serve']);
    expect(code).toBe(1);
    expect(stderr).toContain('cvrsync: the store at 127.0.0.1:1/nowhere cannot be reached');
    expect(stderr).toContain('the setting `store`');
    expect(stderr).not.toContain('hunter2');
  });
});

describe('the pool of a PostgreSQL store', () => {
  it('has as many connections as storeConnections says, and one that shows that the daemon lives', async () => {
    const crms = await startCrms();
    const url = await newStoreUrl('postgres');
    const content = { ...configFor(crms, url), storeConnections: 3 };
    const loaded = await checkConfig(content, join(newFolder(), 'cvrsync.yaml'), {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(0));
    const other = await watchStore(url);
    const open = async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(other.db);
      return rows[0]?.n;
    };
    const asking = Array.from({ length: 12 }, () => sql`select pg_sleep(0.3)`.execute(app.store.db));
    await expect.poll(open).toBe(4);
    await Promise.all(asking);
    expect(await open()).toBe(4);
  });
});
