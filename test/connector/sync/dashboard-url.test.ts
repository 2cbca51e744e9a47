/** The address of a company's page on the dashboard, in the record: from the CRM to "why does it say that" by one click. */
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type AppOptions, startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { type ConfigOptions, configFor, startCrms, startFixture } from '../../support/fixture.ts';
import { newFolder, newStoreUrl } from '../../support/stores.ts';

const CRMS = [
  { crm: 'hubspot', name: 'name', property: 'cvr_sync_url' },
  { crm: 'salesforce', name: 'Name', property: 'CVR_Sync_Url__c' },
] as const;
const admin = { port: 0, publicUrl: 'https://cvrsync.example.com' };
const PAGE = `https://cvrsync.example.com/companies/${ENTITY}`;

describe.each(CRMS)("the page's address in $crm", ({ crm, name, property }) => {
  test('is written with the next change, also over an edit, and stays when the change is undone', async () => {
    const fixture = await startFixture({ admin });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [property]: PAGE });
    expect(await fixture.history(id)).toContainEqual(
      expect.objectContaining({ field: 'dashboardUrl', property, rule: 'blank', outcome: 'written' }),
    );
    fixture[crm].edit(id, { [property]: 'https://example.com/mine' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS', [property]: PAGE });
    expect((await fixture.cli('undo', '--yes', '--entity', ENTITY)).code).toBe(0);
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS', [property]: PAGE });
  });

  test('has a property that check creates, and is not written before', async () => {
    const lacking = { hubspot: { missingProperties: [property] }, salesforce: { missingFields: [property] } };
    const fixture = await startFixture({ admin, ...lacking });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(id)).not.toHaveProperty(property);
    expect((await fixture.history(id)).map(({ field }) => field)).not.toContain('dashboardUrl');
    expect((await fixture.cli('check', '--create-properties')).stdout).toMatch(
      new RegExp(`${crm} ${property}\\s+created`),
    );
  });

  test('is written to every linked record once the dashboard has an address and a person accepts that', async () => {
    const crms = await startCrms();
    const url = await newStoreUrl('sqlite');
    const start = async (options: ConfigOptions, accepted: Pick<AppOptions, 'rulesAcceptedBy'> = {}) => {
      const loaded = await checkConfig(configFor(crms, url, options), join(newFolder(), 'cvrsync.yaml'), {});
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
      const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {}, ...accepted });
      onTestFinished(() => app.close(0));
      return app;
    };
    const id = crms[crm].add({ [name]: 'A ApS' });
    const first = await start({ admin: { port: 0 } });
    const link = { provider: crm, recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() };
    await first.store.write((tx) => linkRecord(tx, link));
    await first.connector?.drained();
    expect(crms[crm].get(id)?.[property] ?? null).toBeNull();
    await first.close(1_000);
    const second = await start({ admin });
    await second.connector?.drained();
    expect(crms[crm].get(id)?.[property] ?? null).toBeNull();
    await second.close(1_000);
    const third = await start({ admin }, { rulesAcceptedBy: { kind: 'user', name: 'ida' } });
    await third.connector?.drained();
    expect(crms[crm].get(id)).toMatchObject({ [property]: PAGE });
  });
});
