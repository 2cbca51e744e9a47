/** Replicas that differ: two daemons on one PostgreSQL, with configurations that say different things. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type App, type AppOptions, startApp } from '../../src/app.ts';
import { checkConfig } from '../../src/config/load.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { ENTITY, reported } from '../faults/company.ts';
import { runCli } from '../support/cli.ts';
import { handClock } from '../support/clock.ts';
import { type Connections, configFor, postWebhook, startCrms } from '../support/fixture.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const BEAT_MS = 20;

interface Line {
  readonly msg: string;
  readonly daemon?: string;
  readonly since?: string;
  readonly differs?: readonly string[];
}

async function scene() {
  const crms = await startCrms({ hubspot: { properties: [{ name: 'selskabsstatus', type: 'string' }] } });
  const url = await newStoreUrl('postgres');
  const clock = handClock();
  const start = async (
    connections: Connections,
    more: Partial<AppOptions> = {},
  ): Promise<{ app: App; lines: Line[]; file: string }> => {
    const file = join(newFolder(), 'cvrsync.yaml');
    const content = configFor(crms, url, { connections });
    await writeFile(file, JSON.stringify(content));
    const loaded = await checkConfig(content, file, {});
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    const lines: Line[] = [];
    const log = pino({ level: 'info' }, { write: (text: string) => lines.push(JSON.parse(text)) });
    const app = await startApp(loaded.config, { log, env: {}, now: clock.now, beatMs: BEAT_MS, ...more });
    onTestFinished(() => app.close(0));
    return { app, lines, file };
  };
  return { crms, url, clock, start };
}

const tellings = (lines: readonly Line[]) =>
  lines.filter(({ msg }) => msg.includes('another configuration')).map(({ differs }) => differs);

async function scrape(app: App): Promise<string> {
  return (await fetch(`${app.adminUrl}/metrics`)).text();
}

describe('daemons of one store whose configurations have different digests', () => {
  it('tell each other apart in the log once, in the metric and in check, and say when it is over', async () => {
    const { clock, start } = await scene();
    const first = await start({ hubspot: { fields: { status: false } } });
    clock.forward(1_000);
    const second = await start({ hubspot: { fields: { status: 'selskabsstatus' } } });
    const part = ['connector.providers.hubspot.mapping'];
    await expect
      .poll(() => {
        clock.forward(1_000);
        return [tellings(first.lines), tellings(second.lines)];
      })
      .toEqual([[part], [part]]);
    const [since] = first.lines.flatMap((line) => line.since ?? []);
    expect(since).toMatch(/^\d{4}-\d\d-\d\dT/);
    await expect.poll(() => scrape(first.app)).toContain('cvrsync_differing_daemons 1');
    await second.app.close(0);
    const over = () => first.lines.filter(({ msg }) => msg.endsWith('another configuration is gone'));
    await expect.poll(() => over().length).toBe(1);
    expect(tellings(first.lines).filter((differs) => differs !== undefined)).toEqual([part]);
  });

  it('are told of by check, with the parts and never a secret, and those that agree are ok', async () => {
    const { crms, url } = await scene();
    const start = async (token: string) => {
      const file = join(newFolder(), 'cvrsync.yaml');
      const content = configFor(crms, url, { connections: { hubspot: { accessToken: token } } });
      await writeFile(file, JSON.stringify(content));
      const loaded = await checkConfig(content, file, {});
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
      return { file, config: loaded.config };
    };
    const one = await start('token-of-the-daemon');
    const other = await start('another-token');
    const app = await startApp(one.config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(0));
    const same = await runCli(['--config', one.file, '--json', 'check']);
    expect(same.stdout).toContain('1 runs with this configuration');
    const differs = await runCli(['--config', other.file, '--json', 'check']);
    expect(differs.stdout).toContain('differs from this file in connector.credentials');
    await app.store.write((tx) => tx.updateTable('daemon').set({ roles: 'ingest' }).execute());
    const undone = await runCli(['--config', one.file, '--json', 'check']);
    expect(undone.stdout).toContain('no running daemon has the role sync');
    expect(undone.stdout).not.toContain('no running daemon has the role ingest');
    const rows = await app.store.db.selectFrom('daemon').select('digests').execute();
    expect(JSON.stringify(rows)).not.toContain('token-of-the-daemon');
  });
});

describe('a mapping that differs between replicas', () => {
  it('is not taken up while both run, whichever starts, and is once one is left', async () => {
    const { crms, clock, start } = await scene();
    const id = crms.hubspot.add({ name: 'A ApS' });
    const without: Connections = { hubspot: { fields: { status: false } } };
    const withStatus: Connections = { hubspot: { fields: { status: 'selskabsstatus' } } };
    const first = await start(without);
    const { store } = first.app;
    await store.write((tx) =>
      linkRecord(tx, { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: clock.now() }),
    );
    await postWebhook(`${first.app.url}/webhook`, reported({ status: { before: null, after: 'NORMAL' } }, 8));
    await first.app.connector?.drained();
    const lanes = () => store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:hubspot').execute();
    for (let round = 0; round < 3; round += 1) {
      const second = await start(withStatus);
      await second.app.connector?.drained();
      expect(await lanes()).toEqual([]);
      await second.app.close(0);
    }
    expect(crms.hubspot.get(id)).toMatchObject({ selskabsstatus: null });
    await first.app.close(0);
    const last = await start(withStatus, { rulesAcceptedBy: { kind: 'user', name: 'ida' } });
    await last.app.connector?.drained();
    expect(crms.hubspot.get(id)).toMatchObject({ selskabsstatus: 'NORMAL' });
  });

  it('is what both decide by once a person accepts it, whatever their files say', async () => {
    const { crms, clock, start } = await scene();
    const id = crms.hubspot.add({ name: 'A ApS' });
    const always: Connections = { hubspot: { fields: { name: { property: 'name', policy: 'always' } } } };
    const first = await start({});
    const { store } = first.app;
    const event = (from: string, to: string, hour: number) => reported({ name: { before: from, after: to } }, hour);
    await store.write((tx) =>
      linkRecord(tx, { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: clock.now() }),
    );
    await postWebhook(`${first.app.url}/webhook`, event('A ApS', 'B ApS', 8));
    await first.app.connector?.drained();
    crms.hubspot.edit(id, { name: 'Kunde' });
    const second = await start(always);
    await second.app.connector?.drained();
    expect(crms.hubspot.get(id)).toMatchObject({ name: 'Kunde' });
    expect((await runCli(['--config', second.file, 'config', 'apply', '--yes'])).code).toBe(0);
    await second.app.close(0);
    await expect.poll(() => crms.hubspot.get(id), { timeout: 30_000 }).toMatchObject({ name: 'B ApS' });
    crms.hubspot.edit(id, { name: 'Kunde' });
    await postWebhook(`${first.app.url}/webhook`, event('B ApS', 'C ApS', 9));
    await first.app.connector?.drained();
    expect(crms.hubspot.get(id)).toMatchObject({ name: 'C ApS' });
  });
});
