/** A CRM, a monitoring service and a configuration: what the commands about monitoring are tried on. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../support/cli.ts';
import { connectorWith, hubspotEntry } from '../../support/config.ts';
import { startCrms } from '../../support/fixture.ts';
import type { FakeService } from '../../support/service.ts';
import { newFolder } from '../../support/stores.ts';

export const A = 'CVR-1-10150817';
export const B = 'CVR-1-12345674';

/** Companies of the CRM, without a number. */
export const ONE = '9000000001';
export const TWO = '9000000002';

/** A configuration with a store of its own, and a CRM with two companies; runs command lines with it. */
export const setup = async (service: FakeService | undefined) => {
  const crms = await startCrms();
  expect([crms.hubspot.add({ name: 'One' }), crms.hubspot.add({ name: 'Two' })]).toEqual([ONE, TWO]);
  const folder = newFolder();
  const file = path.join(folder, 'cvrsync.json');
  const configure = (accessKey = service?.accessKey) => {
    const upstream = service && { upstream: { baseUrl: service.url, accessKey, requestsPerMinute: 60_000 } };
    const entry = hubspotEntry({ ...crms.hubspot.settings, match: { property: 'cvr_number' } });
    const providers = {
      hubspot: entry,
      crm2: entry,
      salesforce: { use: 'salesforce', ...crms.salesforce.settings, match: { property: 'CVR_Number__c' } },
    };
    writeFileSync(
      file,
      JSON.stringify({ ...connectorWith({ ...upstream, providers }), store: path.join(folder, 's.db') }),
    );
  };
  configure();
  const run = (...line: string[]) => runCli(['--config', file, ...line]);
  const links = async (...more: string[]) => JSON.parse((await run('links', '--json', ...more)).stdout);
  return { run, links, configure, store: path.join(folder, 's.db'), ...crms };
};
