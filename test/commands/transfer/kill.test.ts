/** The real command, killed while the CRM makes the record and loses the answer: the next one finds it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../support/cli.ts';
import { startCommand } from '../../support/command.ts';
import { configFor, startCrms, watchStore } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';
import { newFolder, newStoreUrl, opened } from '../../support/stores.ts';

const ENTITY = 'CVR-1-95012353';
const CASES = [
  { crm: 'hubspot', match: 'cvr_number', create: 'POST .*/companies$' },
  { crm: 'salesforce', match: 'CVR_Number__c', create: 'POST .*/sobjects/Account/?$' },
] as const;

describe.each(CASES)('a transfer to $crm', ({ crm: provider, match, create }) => {
  it('creates one record if it is killed while the CRM creates it', async () => {
    const crms = await startCrms();
    const crm = crms[provider];
    const service = await serveService();
    const url = await newStoreUrl('sqlite');
    await opened(url);
    const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 };
    const connections = { [provider]: { match: { property: match } } };
    const folder = newFolder();
    const config = join(folder, 'cvrsync.json');
    writeFileSync(config, JSON.stringify(configFor(crms, url, { connections, upstream, leaseSeconds: 5 })));
    const transfer = ['--config', config, '--json', 'transfer', provider, ENTITY, '--name', 'Fjordlys ApS'];
    const asked = (): number =>
      crm.calls.filter((call) => new RegExp(create).test(`${call.method} ${call.path}`)).length;

    crm.fault({ match: create, action: { kind: 'hang', applied: true } });
    const store = await watchStore(url);
    const first = startCommand(transfer, folder);
    const intent = () => store.db.selectFrom('kv').select('key').where('key', 'like', 'transfer:%').execute();
    await expect.poll(intent, { timeout: 120_000, interval: 20 }).toHaveLength(1);
    await expect.poll(asked, { timeout: 120_000, interval: 20 }).toBe(1);
    await first.kill('SIGKILL');

    // Its lease lasts a little longer than it did.
    await expect.poll(async () => (await runCli(transfer)).code, { timeout: 120_000, interval: 500 }).toBe(0);
    const links = await store.db.selectFrom('link').select(['record_id', 'entity', 'observed']).execute();
    expect(links).toEqual([{ record_id: expect.any(String), entity: ENTITY, observed: 'on' }]);
    expect(crm.get(links[0]?.record_id ?? '')).toMatchObject({ [match]: '95012353' });
    expect(asked()).toBe(1);
    expect(service.changes).toHaveLength(1);
    expect(await intent()).toEqual([]);
  });
});
