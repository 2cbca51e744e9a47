import { describe, expect, it } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { listLinks } from '../../../src/connector/links/links.ts';
import { serveService } from '../../support/service.ts';
import { opened } from '../../support/stores.ts';
import { A, ONE, B as OTHER, setup, TWO } from './setup.ts';

describe('monitoring add reads the record first', () => {
  const shown = async (
    run: (...line: string[]) => Promise<{ code: number; stdout: string; stderr: string }>,
    id: string,
    ...more: string[]
  ) => run('monitoring', 'add', 'hubspot', A, id, ...more);

  it('and refuses a missing, merged or invalid one', async () => {
    const { run, links, hubspot } = await setup(await serveService());
    const survivor = hubspot.merge(ONE, TWO);
    const said = [];
    for (const id of ['9000000099', TWO, 'https://app.hubspot.com/contacts/1/deal/9000000001', ' ', 'abc'])
      said.push(await shown(run, id));
    expect(said.map(({ code, stdout }) => [code, stdout])).toEqual([1, 1, 2, 2, 2].map((code) => [code, '']));
    expect(said.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('not in the CRM'),
      expect.stringContaining(`merged into ${survivor}`),
      expect.stringContaining('it is not the address of a company'),
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

  it("and accepts another company's number with --yes, which then no longer contradicts the link", async () => {
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
    expect(await listLinks(store.db)).toMatchObject([{ mismatch: OTHER }]);
  });

  it('and reports one that is already linked', async () => {
    const { run } = await setup(await serveService());
    await shown(run, ONE);
    expect(await shown(run, ONE)).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
  });

  it('and links nothing if the CRM refuses the read', async () => {
    const { run, links, hubspot } = await setup(await serveService());
    hubspot.fault({ match: 'POST /crm/objects/.*/batch/read', times: 9, action: { kind: 'status', status: 403 } });
    expect((await shown(run, ONE)).code).toBe(1);
    expect(await links()).toEqual([]);
  });
});

describe('a Salesforce record named by 15 characters on the command line', () => {
  it('equals the id of 18 for every command, and an id of another object is refused', async () => {
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
