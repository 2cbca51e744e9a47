/** The emulated service takes links of the connections that it has jobs for, and `check` names those that it has none for. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { serveService } from '../../src/commands/emulate/service.ts';
import { runCli } from '../support/cli.ts';
import { connectorWith, hubspotEntry } from '../support/config.ts';
import { startCrms } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

it('accepts a link to hubspot without a webhook, and check reports the missing job of hub2', async () => {
  const options = { port: 0, seed: 1, companies: 2, faults: [], webhook: undefined, every: undefined };
  const service = await serveService({ log: pino({ level: 'silent' }) }, options);
  onTestFinished(() => service.close());
  const { hubspot } = await startCrms();
  const entry = hubspotEntry({ ...hubspot.settings, match: { property: 'cvr_number' } });
  const upstream = { baseUrl: service.url, accessKey: service.accessKey };
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const connector = connectorWith({ upstream, providers: { hubspot: entry, hub2: entry } });
  writeFileSync(file, JSON.stringify({ ...connector, store: join(folder, 's.db') }));
  const entity = service.companies[0]?.entityId ?? '';
  const added = await runCli(['--config', file, 'monitoring', 'add', 'hubspot', entity, hubspot.add({ name: 'One' })]);
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('It is monitored.')]);
  const { stdout } = await runCli(['--config', file, 'check', '--json']);
  const findings: { subject: string; level: string; found: string }[] = JSON.parse(stdout);
  expect(findings.filter(({ found }) => found.includes('no job'))).toMatchObject([{ level: 'fail', subject: 'hub2' }]);
});
