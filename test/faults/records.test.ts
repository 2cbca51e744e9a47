/** Records that are merged or deleted in the CRM: the link follows, or ends. */
import { describe, expect, test } from 'vitest';
import { listLinks } from '../../src/connector/links/links.ts';
import { serveService } from '../support/service.ts';
import { startFixture } from '../support/stage.ts';
import { CRMS, ENTITY, OTHER, renamed } from './company.ts';

const WAITING = { timeout: 10_000, interval: 20 };

describe.each(CRMS)('$crm', ({ crm, name, own }) => {
  test('a deleted record ends its link, and the company is no longer wished monitored for it', async () => {
    const stage = await startFixture();
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    stage[crm].remove(id);
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.settled();
    expect(await listLinks(stage.app.store.db)).toMatchObject([{ record_id: id, state: 'gone', desired: 'off' }]);
    expect((await stage.history(id)).at(-1)).toMatchObject({ rule: 'gone' });
  });

  test('upstream hears of every link, and of its end', async () => {
    const service = await serveService();
    const upstream = { baseUrl: service.url, accessKey: service.accessKey };
    const stage = await startFixture({ upstream });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await expect.poll(() => service.items(crm), WAITING).toEqual([`${ENTITY} ${id}`]);
    const survivor = stage[crm].merge(stage[crm].add({ [name]: 'A ApS' }), id);
    await stage.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => service.items(crm), WAITING).toEqual([`${ENTITY} ${survivor}`]);
    await stage.settled();
    stage[crm].remove(survivor);
    await stage.post(renamed('B ApS', 'C ApS', 9));
    await expect.poll(() => service.items(crm), WAITING).toEqual([]);
  });

  test('after a merge the link follows the survivor, which is brought up to date', async () => {
    const stage = await startFixture();
    const merged = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    const survivor = stage[crm].merge(stage[crm].add({ [name]: 'A ApS' }), merged);
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.settled();
    expect(stage[crm].get(survivor)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
    const links = await listLinks(stage.app.store.db);
    expect(links.map(({ record_id, state, desired }) => `${record_id} ${state} ${desired}`).sort()).toEqual(
      [`${merged} merged off`, `${survivor} active on`].sort(),
    );
  });

  test('a merge with a record of another company leaves both to a person', async () => {
    const stage = await startFixture();
    const merged = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const survivor = await stage.addLinked(crm, OTHER, { [name]: 'O ApS' });
    await stage.settled();
    const kept = stage[crm].merge(survivor, merged);
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.settled();
    // Where the survivor has an id of its own, that two companies meet in it shows when both have moved there.
    await stage.post(renamed('O ApS', 'P ApS', 9, OTHER));
    await stage.settled();
    expect(['O ApS', 'P ApS']).toContain(stage[crm].get(kept)?.[name]);
    const states = (await listLinks(stage.app.store.db)).map(({ state }) => state);
    expect(states.filter((state) => state !== 'merged')).toEqual(['conflict', 'conflict']);
  });
});
