import { describe, expect, it } from 'vitest';
import { serveService, tooMany } from '../support/service.ts';
import { opened } from '../support/stores.ts';
import { A, B, ONE, setup, TWO } from './monitoring/setup.ts';

describe('monitoring add', () => {
  it('links the record, starts the monitoring and says so', async () => {
    const service = await serveService();
    const { run, links } = await setup(service);
    const added = await run('monitoring', 'add', 'hubspot', 'cvr-1-10150817', ONE, '--send-update');
    expect([added.code, added.stdout, added.stderr]).toEqual([
      0,
      `${A} is linked to hubspot:${ONE}. It is monitored.\n`,
      '',
    ]);
    expect(service.changes).toEqual([`add hubspot ${A} ${ONE} +update`]);
    expect(await links()).toMatchObject([
      { provider: 'hubspot', record: ONE, entity: A, state: 'active', observed: 'on' },
    ]);
  });

  it('accepts a CVR number, too, and only warns if its check fails', async () => {
    const { run } = await setup(await serveService());
    const [right, mistyped] = [
      await run('monitoring', 'add', 'hubspot', '10 15 08 17', ONE),
      await run('monitoring', 'add', 'hubspot', 'CVR-1-10150818', TWO),
    ];
    expect([right.code, right.stderr]).toEqual([0, '']);
    expect([mistyped.code, mistyped.stderr]).toEqual([0, expect.stringContaining('modulus 11')]);
  });

  it('answers bad usage with the correct one', async () => {
    const { run } = await setup(await serveService());
    const lines = [
      await run('monitoring', 'add', 'hubspto', A, '1'),
      await run('monitoring', 'add', 'hubspot', 'Nordlys ApS', '1'),
      await run('monitoring', 'add', 'hubspot', 'CVR-3-4999000001', '1'),
    ];
    expect(lines.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(lines.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('did you mean hubspot?'),
      expect.stringContaining('CVR-1-12345678'),
      expect.stringContaining('set persons: true in connector.providers.hubspot'),
    ]);
  });

  it('fails if the record belongs to another company, and names the remedy', async () => {
    const { run } = await setup(await serveService());
    await run('monitoring', 'add', 'hubspot', A, ONE);
    const second = await run('monitoring', 'add', 'hubspot', B, ONE);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`monitoring remove hubspot ${A} ${ONE}`) });
  });

  it('fails with the reason of the service if it refuses, and keeps the link', async () => {
    const service = await serveService();
    service.refuse(A, 404, 'No such company');
    const { run, links } = await setup(service);
    const refused = await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('No such company (404)') });
    expect(await links()).toMatchObject([
      { state: 'active', observed: 'refused, desired on', why: 'No such company (404)' },
    ]);
    service.allow(A);
    expect(await run('monitoring', 'add', 'hubspot', A, ONE)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('It is monitored'),
    });
  });

  it.each([
    ['a fault', { kind: 'status', status: 503 } as const, '503'],
    ['a pause', tooMany('60'), 'Rate limit exceeded'],
  ])('keeps the desired state for the daemon after %s', async (_, action, reason) => {
    const service = await serveService();
    const { run, links } = await setup(service);
    service.fault({ match: 'POST', action });
    const kept = await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('The desired state is stored') });
    expect(kept.stdout).toContain(reason);
    expect(await links()).toMatchObject([{ observed: 'unknown, desired on' }]);
  });

  it('says that the key is wrong without showing it', async () => {
    const { run, configure } = await setup(await serveService());
    configure('s3cret-of-mine');
    const kept = await run('monitoring', 'add', 'hubspot', A, ONE, '--json');
    expect(JSON.parse(kept.stdout)).toMatchObject({
      confirmed: false,
      observed: 'unknown',
      reason: expect.stringContaining('connector.upstream.accessKey'),
    });
    expect(kept.stdout + kept.stderr).not.toContain('s3cret-of-mine');
  });

  it('links without a service', async () => {
    const { run, links } = await setup(undefined);
    const added = await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('No monitoring service is configured') });
    expect(await links()).toMatchObject([{ state: 'active' }]);
    expect((await run('monitoring', 'jobs')).code).toBe(2);
  });
});

describe('monitoring remove', () => {
  it('ends the link and the monitoring, and can be repeated', async () => {
    const service = await serveService();
    const { run, links } = await setup(service);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(await run('monitoring', 'remove', 'hubspot', A, ONE)).toMatchObject({
      code: 0,
      stdout: `${A} is no longer linked to hubspot:${ONE}. It is no longer monitored.\n`,
    });
    expect(service.items('hubspot')).toEqual([]);
    expect(await links('--state', 'removed')).toMatchObject([{ record: ONE, observed: 'off' }]);
    expect((await run('monitoring', 'remove', 'hubspot', A, ONE)).code).toBe(0);
  });

  it('removes an item without a link here, and keeps the link of another company', async () => {
    const service = await serveService();
    const { run, links } = await setup(service);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    service.put('hubspot', B, ONE);
    expect((await run('monitoring', 'remove', 'hubspot', B, ONE)).code).toBe(0);
    expect(service.items('hubspot')).toEqual([`${A} ${ONE}`]);
    expect(await links()).toMatchObject([{ entity: A, state: 'active', observed: 'on' }]);
  });
});

describe('monitoring list and jobs', () => {
  it('show items of the service, of the store, or of both', async () => {
    const service = await serveService();
    const { run } = await setup(service);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    await run('monitoring', 'add', 'crm2', A, TWO);
    service.put('hubspot', B, '3');
    service.put('elsewhere', B, '4');
    await run('monitoring', 'add', 'hubspot', B, TWO);
    const list = async (...more: string[]) =>
      JSON.parse((await run('monitoring', 'list', '--json', ...more)).stdout).map(
        (row: Record<string, unknown>) => `${row['job']} ${row['provider']} ${row['record']} ${row['state']}`,
      );
    expect(await list()).toEqual([
      `hubspot hubspot ${ONE} linked`,
      'hubspot hubspot 3 not linked here',
      `hubspot hubspot ${TWO} linked`,
      `crm2 crm2 ${TWO} linked`,
      'elsewhere null 4 not linked here',
    ]);
    service.take('hubspot', B, TWO);
    expect(await list('hubspot')).toEqual([
      `hubspot hubspot ${ONE} linked`,
      'hubspot hubspot 3 not linked here',
      `null hubspot ${TWO} linked here but not upstream`,
    ]);
    expect((await run('monitoring', 'jobs')).stdout).toContain('job-hubspot');
  });

  it('fail with the answer of the service', async () => {
    const service = await serveService();
    const { run } = await setup(service);
    service.fault({ match: 'GET', action: { kind: 'status', status: 404, body: { errorMessage: 'No module' } } });
    expect(await run('monitoring', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No module (404)'),
    });
  });
});

describe('links', () => {
  it('are empty at first, and remain after their connection was removed', async () => {
    const { run, links, store: url } = await setup(undefined);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    const store = await opened(url);
    await store.write((tx) => tx.updateTable('link').set({ provider: 'old' }).execute());
    expect(await links('old')).toHaveLength(1);
    await store.write((tx) => tx.deleteFrom('link').execute());
    expect((await run('links')).stdout).toContain('No record is linked.');
  });

  it('are listed by company, record and state', async () => {
    const { run, links } = await setup(undefined);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    await run('monitoring', 'add', 'hubspot', B, TWO);
    await run('monitoring', 'remove', 'hubspot', B, TWO);
    const records = async (...more: string[]) => (await links(...more)).map((row: { record: string }) => row.record);
    expect(await records()).toEqual([ONE, TWO]);
    expect(await records('--entity', A.toLowerCase())).toEqual([ONE]);
    expect(await records('--record', TWO)).toEqual([TWO]);
    expect(await records('--state', 'removed')).toEqual([TWO]);
    expect(await records('crm2')).toEqual([]);
    expect((await run('links', 'crm2')).stdout).toContain('No link matches');
    expect((await run('links', '--entity', '10000009')).stdout).toContain('No link matches');
    expect(await run('links', 'hubspott')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('hubspott is not configured under connector.providers; did you mean hubspot?'),
    });
    expect((await run('links', '--state', 'lost')).code).toBe(2);
    const cut = await run('links', '--json', '--limit', '1');
    expect([JSON.parse(cut.stdout).length, cut.stderr]).toEqual([1, expect.stringContaining('more links')]);
  });
});
