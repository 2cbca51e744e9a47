import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PropertyValue } from '../../providers/provider.ts';
import { listLinks } from '../../src/connector/links.ts';
import { runCli } from '../support/cli.ts';
import { connectorWith, hubspotEntry } from '../support/config.ts';
import { type FakeService, serveService, tooMany } from '../support/service.ts';
import { startCrms } from '../support/stage.ts';
import { newFolder, opened } from '../support/stores.ts';

const A = 'CVR-1-10150817';
const B = 'CVR-1-12345674';

/** Companies of the CRM, without a number. */
const ONE = '9000000001';
const TWO = '9000000002';

/** A configuration with a store of its own, and a CRM with two companies; runs command lines with it. */
const setup = async (service: FakeService | undefined) => {
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

describe('monitoring add', () => {
  it('links the record, has the company monitored and says so', async () => {
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
      { provider: 'hubspot', record: ONE, entity: A, state: 'active', monitored: 'on' },
    ]);
  });

  it('takes a CVR number too, and only warns where its check fails', async () => {
    const { run } = await setup(await serveService());
    const [right, mistyped] = [
      await run('monitoring', 'add', 'hubspot', '10 15 08 17', ONE),
      await run('monitoring', 'add', 'hubspot', 'CVR-1-10150818', TWO),
    ];
    expect([right.code, right.stderr]).toEqual([0, '']);
    expect([mistyped.code, mistyped.stderr]).toEqual([0, expect.stringContaining('modulus 11')]);
  });

  it('answers bad usage with what would be right', async () => {
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

  it('fails where the record stands for another company, and says what to do', async () => {
    const { run } = await setup(await serveService());
    await run('monitoring', 'add', 'hubspot', A, ONE);
    const second = await run('monitoring', 'add', 'hubspot', B, ONE);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`monitoring remove hubspot ${A} ${ONE}`) });
  });

  it('fails where the service refuses, in its words, and keeps the link', async () => {
    const service = await serveService();
    service.refuse(A, 404, 'No such company');
    const { run, links } = await setup(service);
    const refused = await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('No such company (404)') });
    expect(await links()).toMatchObject([
      { state: 'active', monitored: 'refused, wished on', why: 'No such company (404)' },
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
  ])('keeps the wish for the daemon after %s', async (_, action, reason) => {
    const service = await serveService();
    const { run, links } = await setup(service);
    service.fault({ match: 'POST', action });
    const kept = await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('The wish is stored') });
    expect(kept.stdout).toContain(reason);
    expect(await links()).toMatchObject([{ monitored: 'unknown, wished on' }]);
  });

  it('says that the key is wrong without saying the key', async () => {
    const { run, configure } = await setup(await serveService());
    configure('s3cret-of-mine');
    const kept = await run('monitoring', 'add', 'hubspot', A, ONE, '--json');
    expect(JSON.parse(kept.stdout)).toMatchObject({
      confirmed: false,
      monitored: 'unknown',
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

describe('monitoring add reads the record first', () => {
  const OTHER = 'CVR-1-12345674';
  const shown = async (
    run: (...line: string[]) => Promise<{ code: number; stdout: string; stderr: string }>,
    id: string,
    ...more: string[]
  ) => run('monitoring', 'add', 'hubspot', A, id, ...more);

  it('and refuses one that is missing, merged away or no record at all', async () => {
    const { run, links, hubspot } = await setup(await serveService());
    const survivor = hubspot.merge(ONE, TWO);
    const said = [];
    for (const id of ['9000000099', TWO, 'https://app.hubspot.com/contacts/1/company/9000000001', ' ', 'abc'])
      said.push(await shown(run, id));
    expect(said.map(({ code, stdout }) => [code, stdout])).toEqual([1, 1, 2, 2, 2].map((code) => [code, '']));
    expect(said.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('not in the CRM'),
      expect.stringContaining(`merged into ${survivor}`),
      expect.stringContaining('it is an address'),
      expect.stringContaining('it is blank'),
      expect.stringContaining('a HubSpot id is a number'),
    ]);
    expect(await links()).toEqual([]);
  });

  it.each([
    ['another number', '12345674', 3],
    ['its own number', '10 15 08 17', 0],
    ['no number', '', 0],
    ['a text that is no number', 'asked for', 0],
  ] as const)('and links one with %s accordingly', async (_, cvr_number, code) => {
    const { run, links, hubspot } = await setup(await serveService());
    const values: Record<string, PropertyValue> = { cvr_number };
    hubspot.edit(ONE, values);
    const added = await shown(run, ONE);
    expect(added.code).toBe(code);
    if (code === 3) expect(added.stdout).toContain(`holds the number of ${OTHER}, not of ${A}`);
    expect(await links()).toHaveLength(code === 0 ? 1 : 0);
  });

  it("and takes --yes for another company's number, which then speaks against the link no more", async () => {
    const service = await serveService();
    const { run, links, hubspot, store: url } = await setup(service);
    hubspot.edit(ONE, { cvr_number: '12345674' });
    const refused = await shown(run, ONE, '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      3,
      { provider: 'hubspot', record: ONE, entity: A, link: null, holds: OTHER },
    ]);
    expect([await links(), service.changes]).toEqual([[], []]);
    expect((await shown(run, ONE, '--yes')).code).toBe(0);
    expect(await links()).toMatchObject([{ record: ONE, entity: A, state: 'active' }]);
    const store = await opened(url);
    expect(await listLinks(store.db)).toMatchObject([{ doubt: OTHER }]);
  });

  it('and tells of one that is linked already', async () => {
    const { run } = await setup(await serveService());
    await shown(run, ONE);
    expect(await shown(run, ONE)).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
  });

  it('and links nothing where the CRM refuses to tell', async () => {
    const { run, links, hubspot } = await setup(await serveService());
    hubspot.fault({ match: 'POST /crm/objects/.*/batch/read', times: 9, action: { kind: 'status', status: 403 } });
    expect((await shown(run, ONE)).code).toBe(1);
    expect(await links()).toEqual([]);
  });
});

describe('a Salesforce record named by 15 characters on the command line', () => {
  it('is the one of 18 for every command, and one of another object is refused', async () => {
    const service = await serveService();
    const { run, links, salesforce } = await setup(service);
    const long = salesforce.add({ Name: 'Nordlys' });
    const short = long.slice(0, 15);
    expect((await run('monitoring', 'add', 'salesforce', A, short)).code).toBe(0);
    expect(service.items('salesforce')).toEqual([`${A} ${long}`]);
    expect(await links()).toMatchObject([{ record: long }]);
    expect(await run('monitoring', 'add', 'salesforce', A, long)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('already'),
    });
    expect(await links('--record', short)).toMatchObject([{ record: long }]);
    for (const line of [
      ['hold', `salesforce:${short}`],
      ['release', `salesforce:${short}`, 'Name'],
      ['explain', `salesforce:${short}`],
    ])
      expect([line, (await run(...line)).code]).toEqual([line, 0]);
    for (const line of [
      ['hold', 'salesforce:003D000000IqhSL'],
      ['explain', 'salesforce:003D000000IqhSL'],
      ['links', 'salesforce', '--record', '003D000000IqhSL'],
      ['monitoring', 'add', 'salesforce', A, '003D000000IqhSL'],
      ['monitoring', 'remove', 'salesforce', A, '003D000000IqhSL'],
    ]) {
      const said = await run(...line);
      expect([line, said.code, said.stderr]).toEqual([line, 2, expect.stringContaining('begins with 003')]);
    }
    service.put('salesforce', A, short);
    expect((await run('monitoring', 'remove', 'salesforce', A, short)).code).toBe(0);
    expect((await run('monitoring', 'remove', 'salesforce', A, short)).code).toBe(0);
    expect(service.items('salesforce')).toEqual([]);
  });
});

describe('monitoring remove', () => {
  it('ends the link and the monitoring; a second time is no failure', async () => {
    const service = await serveService();
    const { run, links } = await setup(service);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    expect(await run('monitoring', 'remove', 'hubspot', A, ONE)).toMatchObject({
      code: 0,
      stdout: `${A} is no longer linked to hubspot:${ONE}. It is no longer monitored.\n`,
    });
    expect(service.items('hubspot')).toEqual([]);
    expect(await links('--state', 'removed')).toMatchObject([{ record: ONE, monitored: 'off' }]);
    expect((await run('monitoring', 'remove', 'hubspot', A, ONE)).code).toBe(0);
  });

  it('removes an item that has no link here, and leaves the link of another company alone', async () => {
    const service = await serveService();
    const { run, links } = await setup(service);
    await run('monitoring', 'add', 'hubspot', A, ONE);
    service.put('hubspot', B, ONE);
    expect((await run('monitoring', 'remove', 'hubspot', B, ONE)).code).toBe(0);
    expect(service.items('hubspot')).toEqual([`${A} ${ONE}`]);
    expect(await links()).toMatchObject([{ entity: A, state: 'active', monitored: 'on' }]);
  });
});

describe('monitoring list and jobs', () => {
  it('show what is there, here, or both', async () => {
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

  it('fail with what the service said', async () => {
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
    expect((await run('links', '--state', 'lost')).code).toBe(2);
    const cut = await run('links', '--json', '--limit', '1');
    expect([JSON.parse(cut.stdout).length, cut.stderr]).toEqual([1, expect.stringContaining('more links')]);
  });
});
