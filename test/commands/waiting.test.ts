/** A command that waits for a CRM or for the monitoring service says so, since when and until when. */
import { expect, it } from 'vitest';
import { serveService, tooMany } from '../support/service.ts';
import { A, ONE, setup } from './monitoring/setup.ts';

const WAITING = /^waiting since \d\d:\d\d:\d\d, until \d\d:\d\d:\d\d at most: \S/mu;

it('monitoring add reports that the account is paused', async () => {
  const { run, hubspot } = await setup(await serveService());
  hubspot.fault({ match: 'POST /crm/objects/.*/batch/read', action: tooMany('1') });
  expect(await run('monitoring', 'add', 'hubspot', A, ONE)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(WAITING),
  });
});

it('reconcile reports it during the scan', async () => {
  const { run, hubspot } = await setup(undefined);
  hubspot.fault({ match: 'GET /crm/objects/[^/]*/companies', action: tooMany('1') });
  expect((await run('reconcile', 'hubspot', '--dry-run')).stderr).toMatch(WAITING);
});

it('monitoring list and reconcile report it for the lists of the service, with --json in the log', async () => {
  const service = await serveService();
  const { run } = await setup(service);
  service.fault({ match: 'GET /apps/monitoring/jobs', action: tooMany('1') });
  expect((await run('monitoring', 'list')).stderr).toMatch(WAITING);
  service.fault({ match: 'GET /apps/monitoring/jobs', action: tooMany('1') });
  const { stderr } = await run('reconcile', 'hubspot', '--dry-run', '--json');
  expect(JSON.parse(stderr.split('\n', 1)[0] ?? '')).toMatchObject({
    wait: { since: expect.any(Number), until: expect.any(Number) },
    msg: expect.stringContaining('Rate limit exceeded'),
  });
});
