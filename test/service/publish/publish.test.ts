import { describe, expect, it } from 'vitest';
import { publish } from '../../../src/service/publish/publish.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import {
  COMPANY,
  changed,
  deliveries,
  lanes,
  listed,
  made,
  NOW,
  OTHER,
  PERSON,
  RENAMED_AND_MOVED,
} from '../monitored.ts';

const published = (store: Store, ...changes: Parameters<typeof publish>[1]) =>
  store.write((tx) => publish(tx, changes, { now: NOW }));

const changes = (store: Store) => store.db.selectFrom('change').selectAll().orderBy('seq').execute();

describe.each(ENGINES)('publish on %s', (engine) => {
  it('stores a change with its deliveries, and marks their lanes', async () => {
    const store = await newStore(engine);
    const all = await made(store, { target: 'all', events: ['website'] });
    const job = await made(store, { provider: 'crm' });
    const off = await made(store, { enabled: false, target: 'all' });
    await listed(store, job.id, COMPANY, 'r1');
    const start = (await deliveries(store)).length;
    const change = changed({ updates: RENAMED_AND_MOVED });
    await published(store, change);
    const { seq, created_at, updates, ...row } = (await changes(store)).at(-1) ?? expect.fail();
    expect({ ...row, updates: JSON.parse(updates), created_at }).toEqual({ ...change, created_at: NOW, trace: null });
    const told = (await deliveries(store)).slice(start);
    const common = { entity: COMPANY, id: change.id, state: 'due' };
    expect(told.toSorted((a, b) => a.events.localeCompare(b.events))).toEqual([
      { ...common, monitor: job.id, events: '["name","website"]' },
      { ...common, monitor: all.id, events: '["website"]' },
    ]);
    expect(await lanes(store, 'deliver')).toEqual([all.id, job.id].toSorted());
    expect(JSON.stringify(told)).not.toContain(off.id);
  });

  it('skips a stored change, and the second of two equal ones in a page', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all', emails: ['a@example.com'] });
    const change = changed();
    await published(store, change, { ...change, name: 'A second one' });
    await published(store, change, changed());
    expect((await changes(store)).map(({ name }) => name)).toEqual(['Havblik Handel ApS', 'Havblik Handel ApS']);
    expect(await deliveries(store)).toHaveLength(2);
    expect(await store.db.selectFrom('mail').select('recipient').execute()).toHaveLength(2);
    // A monitor that came later is not told what happened before.
    await made(store, { target: 'all', name: 'Late' });
    await published(store, change);
    expect(await deliveries(store)).toHaveLength(2);
  });

  it('publishes each change once if many publish the same at once, in any order', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all', emails: ['a@example.com'] });
    const page = Array.from({ length: 20 }, (_, at) => changed({ id: `same ${at}` }));
    const orders = [page, page.toReversed(), page.slice(10), page.slice(0, 10), [...page, ...page]];
    await Promise.all(orders.map((order) => published(store, ...order)));
    expect((await changes(store)).map(({ id }) => id).toSorted()).toEqual(page.map(({ id }) => id).toSorted());
    expect(await deliveries(store)).toHaveLength(20);
    expect(await store.db.selectFrom('mail').select('seq').execute()).toHaveLength(20);
  });

  it('keeps the order of a page', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    const page = Array.from({ length: 500 }, (_, at) => changed({ entity: `CVR-1-${99_000_000 + ((at * 7) % 500)}` }));
    await published(store, ...page);
    expect((await changes(store)).map(({ id }) => id)).toEqual(page.map(({ id }) => id));
    expect((await deliveries(store)).map(({ id }) => id)).toEqual(page.map(({ id }) => id));
  });

  it('stores all changes of companies, but of persons only listed ones', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    const persons = await made(store, { name: 'Persons' });
    await published(store, changed({ entity: PERSON, id: 'unlisted' }));
    await listed(store, persons.id, PERSON);
    await published(store, changed({ entity: PERSON, id: 'listed' }), changed({ id: 'company' }));
    const ids = (await changes(store)).filter(({ kind }) => kind === 'register').map(({ id }) => id);
    expect(ids).toEqual(['listed', 'company']);
    const about = (await deliveries(store)).filter(({ id }) => id === 'listed');
    expect(about.map(({ monitor }) => monitor)).toEqual([persons.id]);
  });

  it('sends what is for one monitor to no other, and stores nothing if that one is gone', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    const job = await made(store, { provider: 'crm' });
    await published(store, changed({ kind: 'state', only: job.id }), changed({ kind: 'state', only: 'nobody' }));
    expect((await deliveries(store)).map(({ monitor }) => monitor)).toEqual([job.id]);
    expect(await changes(store)).toHaveLength(1);
  });

  it('mails recipients at the frequency of their monitor', async () => {
    const store = await newStore(engine);
    const monitor = await made(store, {
      target: 'all',
      url: null,
      emails: ['a@example.com', 'b@example.com'],
      mailFrequency: 'immediate',
    });
    await published(store, changed(), changed({ entity: OTHER }));
    const mails = await store.db.selectFrom('mail').select(['recipient', 'kind', 'body']).orderBy('seq').execute();
    expect(mails.map(({ recipient, kind }) => `${recipient} ${kind}`)).toEqual([
      'a@example.com immediate',
      'b@example.com immediate',
      'a@example.com immediate',
      'b@example.com immediate',
    ]);
    expect(await lanes(store, 'mail')).toEqual([`${monitor.id} a@example.com`, `${monitor.id} b@example.com`]);
    expect(await lanes(store, 'deliver')).toEqual([]);
  });

  it('creates news of changes of companies, once', async () => {
    const store = await newStore(engine);
    const job = await made(store, { provider: 'crm' });
    await listed(store, job.id, PERSON);
    const news = {
      baseUrl: 'https://register.example',
      registryProvider: 'R',
      pressProvider: 'P',
      gazetteProvider: 'G',
    };
    const told = [changed(), changed({ entity: PERSON }), changed({ kind: 'state', only: job.id })];
    for (let times = 0; times < 2; times++) await store.write((tx) => publish(tx, told, { now: NOW, news }));
    const items = await store.db.selectFrom('news').select('body').execute();
    expect(items.map(({ body }) => JSON.parse(body).provider)).toEqual(['R']);
    const about = await store.db.selectFrom('news_entity').select('entity').execute();
    expect(about).toEqual([{ entity: COMPANY }]);
  });

  it('leaves nothing behind if the transaction fails', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all', emails: ['a@example.com'] });
    const change = changed();
    const failing = store.write(async (tx) => {
      await publish(tx, [change], { now: NOW });
      throw new Error('the power is gone');
    });
    await expect(failing).rejects.toThrow('the power is gone');
    for (const table of ['change', 'delivery', 'mail', 'lane'] as const)
      expect(await store.db.selectFrom(table).selectAll().execute()).toEqual([]);
    await published(store, change);
    expect(await deliveries(store)).toHaveLength(1);
  });

  it('stores text that not all engines accept', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    await published(
      store,
      changed({ name: 'A\u0000B\uD800', updates: { purpose: { before: null, after: 'x\u0000y' } } }),
    );
    const row = (await changes(store))[0];
    expect(row?.name).toBe('A\uFFFDB\uFFFD');
    expect(JSON.parse(row?.updates ?? '')).toMatchObject({ purpose: { after: expect.stringMatching(/^x.y$/su) } });
  });
});
