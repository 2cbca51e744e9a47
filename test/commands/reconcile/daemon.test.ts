/** The command beside a daemon, on both emulated CRMs: afterwards the service's list, the links and the CRM agree. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { runCli } from '../../support/cli.ts';
import { type CrmName, configFor, startCrms } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';
import { newFolder, newStoreUrl } from '../../support/stores.ts';

const NUMBERS = [
  '95012345',
  '95023452',
  '10150817',
  '12345674',
  '20000015',
  '20000023',
  '30000005',
  '40000003',
] as const;
const KINDS = {
  hubspot: { match: 'cvr_number', name: 'name' },
  salesforce: { match: 'CVR_Number__c', name: 'Name' },
} as const;

/** Both CRMs, the service, a daemon that looks at nothing by itself, and the command line beside it. */
async function startHarness(provider: CrmName) {
  const { match, name } = KINDS[provider];
  const crms = await startCrms();
  const service = await serveService();
  const url = await newStoreUrl('sqlite');
  const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 };
  const connection = { match: { property: match }, autoLink: true, pollMinutes: 0, reconcileHours: 0 };
  const config = configFor(crms, url, { connections: { [provider]: connection }, upstream });
  const file = join(newFolder(), 'cvrsync.json');
  writeFileSync(file, JSON.stringify(config));
  const loaded = await checkConfig(config, file, {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(0));
  const crm = crms[provider];
  const { store } = app;
  const add = (at: number): string => crm.add({ [match]: NUMBERS[at] ?? '', [name]: `Company ${at}` });
  const run = (...line: string[]) => runCli(['--config', file, '--log-level', 'silent', ...line]);
  const links = async () => {
    const rows = await store.db
      .selectFrom('link')
      .select(['record_id', 'entity'])
      .where('state', '=', 'active')
      .execute();
    return rows.map((row) => `${row.entity} ${row.record_id}`).toSorted();
  };
  return { crm, match, service, store, app, add, run, links, items: () => service.items(provider).toSorted() };
}

describe.each(['hubspot', 'salesforce'] as const)('reconcile with an emulated %s', (provider) => {
  it('repairs CRM, links and service after unreported changes', async () => {
    const { crm, match, service, store, app, add, run, links, items } = await startHarness(provider);
    const ids = NUMBERS.slice(0, 7).map((_, at) => add(at));
    const [fine = '', deleted = '', merged = '', survivor = '', renumbered = '', unmonitored = '', ended = ''] = ids;
    // The survivor of the merge stands for nobody yet.
    for (const [at, recordId] of ids.entries())
      if (recordId !== survivor)
        await store.write((tx) =>
          linkRecord(tx, {
            provider,
            recordId,
            entity: `CVR-1-${NUMBERS[at]}`,
            sendUpdate: false,
            now: Date.now(),
            origin: 'number',
          }),
        );
    await app.connector?.drained();
    expect(items()).toHaveLength(6);
    await store.write((tx) =>
      tx
        .updateTable('link')
        .set({ updated_at: Date.now() - 3_600_000 })
        .execute(),
    );

    crm.remove(deleted);
    crm.edit(survivor, { [match]: null });
    const to = crm.merge(survivor, merged);
    crm.edit(to, { [match]: NUMBERS[2] });
    crm.edit(renumbered, { [match]: NUMBERS[7] });
    service.take(provider, `CVR-1-${NUMBERS[5]}`, unmonitored);
    crm.edit(ended, { [match]: '' });
    service.put(provider, `CVR-1-${NUMBERS[1]}`, 'nobody');
    const fresh = add(3);

    const seen = await run('reconcile', provider, '--dry-run', '--json');
    expect(seen.code).toBe(0);
    expect(await links()).toHaveLength(6);
    const { code, stdout } = await run('reconcile', provider, '--yes', '--json');
    const { differences, refused } = JSON.parse(stdout);
    expect({ code, refused, differences: differences.map((one: { kind: string }) => one.kind) }).toMatchObject({
      code: 0,
      refused: [],
      differences: expect.arrayContaining(['absent', 'number', 'unlinked', 'unmonitored', 'stranger']),
    });

    const expected = [
      `CVR-1-${NUMBERS[0]} ${fine}`,
      `CVR-1-${NUMBERS[2]} ${to}`,
      `CVR-1-${NUMBERS[7]} ${renumbered}`,
      `CVR-1-${NUMBERS[5]} ${unmonitored}`,
      `CVR-1-${NUMBERS[3]} ${fresh}`,
    ].toSorted();
    // A link that follows its number begins once the service has confirmed the old one's end.
    await expect.poll(links, { timeout: 120_000, interval: 100 }).toEqual(expected);
    await expect.poll(items, { timeout: 120_000, interval: 100 }).toEqual(expected);
    await app.connector?.drained();
    await store.write((tx) =>
      tx
        .updateTable('link')
        .set({ updated_at: Date.now() - 3_600_000 })
        .execute(),
    );
    const again = await run('reconcile', provider);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Nothing to repair.')]);
  });
});

describe.each(['hubspot', 'salesforce'] as const)('transfer to an emulated %s', (provider) => {
  it('creates the company once, links it, and starts the monitoring with an update', async () => {
    const { crm, match, service, run, links, items } = await startHarness(provider);
    const entity = `CVR-1-${NUMBERS[0]}`;
    const made = await run('transfer', provider, entity, '--name', 'Fjordlys ApS', '--json');
    expect([made.code, made.stderr]).toEqual([0, '']);
    const { record } = JSON.parse(made.stdout);
    expect(crm.get(record)).toMatchObject({ [match]: NUMBERS[0], [KINDS[provider].name]: 'Fjordlys ApS' });
    expect(await links()).toEqual([`${entity} ${record}`]);
    expect(items()).toEqual([`${entity} ${record}`]);
    expect(service.changes).toEqual([`add ${provider} ${entity} ${record} +update`]);
    const again = await run('transfer', provider, entity, '--name', 'Fjordlys ApS');
    expect([again.code, again.stdout]).toEqual([3, expect.stringContaining(`linked to ${provider}:${record} already`)]);
  });

  it('is refused if a record has the number, and needs a yes if a record has the name', async () => {
    const { crm, add, run, links } = await startHarness(provider);
    const id = add(1);
    const byNumber = await run('transfer', provider, NUMBERS[1], '--name', 'Another name');
    expect([byNumber.code, byNumber.stdout]).toEqual([3, expect.stringContaining(`${provider}:${id}`)]);
    const byName = await run('transfer', provider, NUMBERS[0], '--name', 'Company 1');
    expect([byName.code, byName.stdout]).toEqual([3, expect.stringContaining('add --yes')]);
    expect(await links()).toEqual([]);
    expect(await run('transfer', provider, NUMBERS[0], '--name', 'Company 1', '--yes')).toMatchObject({ code: 0 });
    expect(crm.get(id)).toBeDefined();
  });

  it('needs a yes if the number may be mistyped', async () => {
    const { run, links } = await startHarness(provider);
    const refused = await run('transfer', provider, '10000002', '--name', 'Fjordlys ApS');
    expect([refused.code, refused.stdout]).toEqual([
      3,
      expect.stringContaining("fails the register's check (modulus 11): is it mistyped? Correct it, or add --yes"),
    ]);
    expect(await links()).toEqual([]);
    expect(await run('transfer', provider, '10000002', '--name', 'Fjordlys ApS', '--yes')).toMatchObject({ code: 0 });
  });
});
