/** Commands beside a daemon without the role `service`: they call the service if the configuration says that it is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ownKey } from '../../../src/service/delivery/own-jobs.ts';
import { openSecrets } from '../../../src/service/keys/secrets.ts';
import { runCli } from '../../support/cli.ts';
import { connectorWith, hubspotEntry } from '../../support/config.ts';
import { startCrms } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';
import { newFolder, newStoreUrl } from '../../support/stores.ts';
import { A, ONE } from './setup.ts';

it('link a record and check the set-up by the public address of the daemon that has the role', async () => {
  const { hubspot } = await startCrms();
  hubspot.add({ name: 'One' });
  const key = Buffer.alloc(32, 7);
  const service = await serveService({ accessKey: ownKey(openSecrets(key)) });
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const entry = hubspotEntry({ ...hubspot.settings, match: { property: 'cvr_number' } });
  const register = { source: 'file', path: folder };
  const config = {
    ...connectorWith({ providers: { hubspot: entry } }),
    store: await newStoreUrl('postgres'),
    server: { port: 1, publicUrl: service.url },
    service: { register, secretKey: key.toString('base64') },
    roles: ['sync'],
  };
  writeFileSync(file, JSON.stringify(config));
  const added = await runCli(['--config', file, 'monitoring', 'add', 'hubspot', A, ONE]);
  expect([added.code, added.stderr]).toEqual([0, '']);
  expect(service.changes).toEqual([`add hubspot ${A} ${ONE}`]);
  const asked = service.requests.length;
  await runCli(['--config', file, 'check']);
  await runCli(['--config', file, 'backfill', 'hubspot']);
  expect(service.requests.length).toBeGreaterThan(asked);
});
