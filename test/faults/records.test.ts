/** Records that are merged or deleted in the CRM: the link follows, or ends. */
import { describe, expect, test } from 'vitest';
import { listLinks } from '../../src/connector/links/links.ts';
import { startFixture } from '../support/fixture.ts';
import { serveService } from '../support/service.ts';
import { CRMS, ENTITY, OTHER, renamed } from './company.ts';

const WAITING = { timeout: 120_000, interval: 20 };

describe.each(CRMS)('$crm', ({ crm, name, own }) => {
  test('a deleted record ends its link, and the monitoring of the company for it', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].remove(id);
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(await listLinks(fixture.app.store.db)).toMatchObject([{ record_id: id, state: 'gone', desired: 'off' }]);
    expect((await fixture.history(id)).at(-1)).toMatchObject({ rule: 'gone' });
  });

  test('the service is notified of every link, and of its end', async () => {
    const service = await serveService();
    const upstream = { baseUrl: service.url, accessKey: service.accessKey };
    const fixture = await startFixture({ upstream });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await expect.poll(() => service.items(crm), WAITING).toEqual([`${ENTITY} ${id}`]);
    const survivor = fixture[crm].merge(fixture[crm].add({ [name]: 'A ApS' }), id);
    await fixture.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => service.items(crm), WAITING).toEqual([`${ENTITY} ${survivor}`]);
    await fixture.settled();
    fixture[crm].remove(survivor);
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await expect.poll(() => service.items(crm), WAITING).toEqual([]);
  });

  test('after a merge the link follows the survivor, which is brought up to date', async () => {
    const fixture = await startFixture();
    const merged = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    const survivor = fixture[crm].merge(fixture[crm].add({ [name]: 'A ApS' }), merged);
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(survivor)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
    const links = await listLinks(fixture.app.store.db);
    expect(links.map(({ record_id, state, desired }) => `${record_id} ${state} ${desired}`).sort()).toEqual(
      [`${merged} merged off`, `${survivor} active on`].sort(),
    );
  });

  test('a merge with a record of another company leaves both to a person', async () => {
    const fixture = await startFixture();
    const merged = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const survivor = await fixture.addLinked(crm, OTHER, { [name]: 'O ApS' });
    await fixture.settled();
    const kept = fixture[crm].merge(survivor, merged);
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    // Where the survivor has an id of its own, that two companies meet in it shows when both have moved there.
    await fixture.post(renamed('O ApS', 'P ApS', 9, OTHER));
    await fixture.settled();
    expect(['O ApS', 'P ApS']).toContain(fixture[crm].get(kept)?.[name]);
    const states = (await listLinks(fixture.app.store.db)).map(({ state }) => state);
    expect(states.filter((state) => state !== 'merged')).toEqual(['conflict', 'conflict']);
  });
});
