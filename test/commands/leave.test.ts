/** `leave` and `return`: asked at a terminal, in a script, beside no daemon, and killed in the middle. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rememberMaking } from '../../src/connector/crm/made-properties.ts';
import { rememberWritten } from '../../src/connector/history/written.ts';
import { LEAVE } from '../../src/connector/leave/leave-task.ts';
import { readLeft } from '../../src/connector/links/left.ts';
import { linkRecord, listLinks } from '../../src/connector/links/links.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { findRun, requestPreview } from '../../src/runtime/runs/runs.ts';
import { askCli, runCli } from '../support/cli.ts';
import { startCommand } from '../support/command.ts';
import { startCrms } from '../support/fixture.ts';
import { newFolder, opened } from '../support/stores.ts';

const MADE = ['cvr_city', 'cvr_form', 'cvr_name'];

/** Two linked records, three properties that cvrsync made and wrote, and no daemon. */
async function scene() {
  const { hubspot } = await startCrms();
  const ids = ['A ApS', 'B ApS'].map((name) => hubspot.add({ name, cvr_name: name }));
  const folder = newFolder();
  const file = path.join(folder, 'cvrsync.yaml');
  const url = path.join(folder, 's.db');
  writeFileSync(
    file,
    `store: ${url}
connector:
  webhook: { auth: { method: None } }
  limits: { leaseSeconds: 30 }
  providers:
    # Ours.
    hubspot:
      use: hubspot
      baseUrl: ${hubspot.settings.baseUrl}
      accessToken: ${hubspot.settings.accessToken}

    other:
      use: hubspot
      accessToken: x
`,
  );
  const store = await opened(url);
  await store.write(async (tx) => {
    for (const [at, recordId] of ids.entries()) {
      const entity = `CVR-1-1015081${at}`;
      await linkRecord(tx, { provider: 'hubspot', recordId, entity, sendUpdate: false, now: 1 });
    }
    await rememberMaking(
      tx,
      { provider: 'hubspot', account: '24680135' },
      new Map(MADE.map((name) => [name, 'made'])),
      1,
    );
    await rememberWritten(tx, 'hubspot', [
      { id: ids[0] ?? '', property: 'cvr_name', value: 'A ApS', at: 1 },
      { id: ids[1] ?? '', property: 'cvr_name', value: 'B ApS', at: 1 },
    ]);
  });
  const argv = (line: readonly string[]) => ['--config', file, '--log-level', 'silent', ...line];
  return {
    ...{ hubspot, store, ids, folder, file },
    run: (...line: string[]) => runCli(argv(line)),
    ask: (typed: string, ...line: string[]) => askCli(typed, argv(line)),
    start: (...line: string[]) => startCommand(argv(line), folder),
    states: async () => (await listLinks(store.db)).map(({ state }) => state),
  };
}

describe('leave', () => {
  it('counts and asks, names the lines to remove, and returns', async () => {
    const { run, ask, store, states, hubspot, file } = await scene();
    const dry = await run('leave', 'HubSpot', '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([
      0,
      '  2 links would end, with the monitoring of the companies for them\nNothing was changed.\n',
    ]);
    const scripted = await run('leave', 'hubspot');
    expect(scripted).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Leave hubspot: end 2 links? cvrsync cannot ask here: add --yes'),
    });
    const no = await ask('n\n', 'leave', 'hubspot', '--remove-properties');
    expect([no.code, await states()]).toEqual([0, ['active', 'active']]);
    expect(no.shown).toContain('Leave hubspot: end 2 links, remove 3 properties? [y/N]');
    expect(await readLeft(store.db, 'hubspot')).toBeUndefined();

    const calls = hubspot.calls.length;
    const yes = await ask('y\n', 'leave', 'hubspot');
    expect([yes.code, await states(), hubspot.calls.length]).toEqual([0, ['removed', 'removed'], calls]);
    expect(yes.shown).toContain('hubspot is left.');
    expect(yes.shown).toContain(`connector.providers.hubspot, lines 7 to 10 of ${file}`);
    expect(JSON.parse((await run('--json', 'status')).stdout).connections).toMatchObject([
      { name: 'hubspot', state: 'left', reason: expect.stringMatching(/^left by /) },
      { name: 'other', state: 'ok' },
    ]);
    expect((await run('return', 'hubspot', '--yes')).stdout).toContain('2 links restarted');
    expect(await states()).toEqual(['active', 'active']);
  });

  it('refuses an unknown connection, and the kind of a CRM instead of a connection', async () => {
    const { run, file } = await scene();
    expect(await run('leave', 'hubspod', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no configured connection: there is hubspot, other'),
    });
    const { readFileSync } = await import('node:fs');
    writeFileSync(file, readFileSync(file, 'utf8').replace('    hubspot:', '    first:'));
    expect(await run('leave', 'salesforce')).toMatchObject({ code: 2 });
    // Its links are there, so it can be left, but nothing can be done in its CRM.
    expect(await run('leave', 'hubspot', '--undo', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no longer configured, but has 2 links'),
    });
    expect((await run('leave', 'hubspot', '--yes')).code).toBe(0);
    expect(await run('leave', 'hubspot')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a kind of CRM: name one of its connections, first, other'),
    });
  });

  it('executes only its own run', async () => {
    const { run, store } = await scene();
    const other = await store.write((tx) =>
      requestPreview(
        tx,
        LEAVE,
        {
          input: { provider: 'other', undo: false, removeProperties: false },
          actor: { kind: 'operator', name: 'Ida' },
          via: 'page',
        },
        1,
      ),
    );
    expect((await run('leave', 'hubspot', '--yes')).code).toBe(0);
    expect(await findRun(store.db, other)).toMatchObject({ stage: 'preview', state: 'waiting' });
  });

  it('resumes with the same command after it was killed', async () => {
    const { run, start, hubspot, store, states, ids } = await scene();
    hubspot.fault({ match: 'DELETE .*/cvr_form$', action: { kind: 'slow', ms: 60_000, at: 'start' } });
    const command = start('leave', 'hubspot', '--remove-properties', '--yes');
    const removed = () =>
      hubspot.calls.filter(({ method }) => method === 'DELETE').map((call) => call.path.split('/').at(-1));
    // Removed, and not answered.
    const isThere = () => Object.hasOwn(hubspot.get(ids[0] ?? '') ?? {}, 'cvr_form');
    await expect.poll(isThere, { timeout: 60_000 }).toBe(false);
    await command.kill('SIGKILL');
    expect([await states(), await readLeft(store.db, 'hubspot')]).toEqual([['removed', 'removed'], expect.anything()]);
    // Its lease is over.
    await store.write((tx) =>
      tx.updateTable('lane').set({ lease_until: 1 }).where('lease_until', 'is not', null).execute(),
    );

    const again = await run('leave', 'hubspot', '--remove-properties', '--yes');
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringMatching(/2 links ended[\s\S]*2 properties removed[\s\S]*1 property not there any more/),
    ]);
    // Each once, and so in the audit: by its run.
    expect(removed()).toEqual(MADE);
    const entries = await readAudit(store.db, { action: 'connection.leave' }, 9);
    expect(entries.map(({ result }) => result?.split(/[; ]/u)[0])).toEqual(['done', 'begun']);
  });
});
