import { describe, expect, it } from 'vitest';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { endLink, findLink, linkRecord, listLinks, recordsOf } from '../../../src/connector/links/links.ts';
import { linkKey, readLinkKey } from '../../../src/connector/names/queues.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const A = 'CVR-1-10000001';
const B = 'CVR-1-10000002';

const link = (store: Store, recordId: string, entity: string, more: { sendUpdate?: boolean; now?: number } = {}) =>
  store.write((tx) => linkRecord(tx, { provider: 'crm', recordId, entity, sendUpdate: false, now: 100, ...more }));
const end = (store: Store, recordId: string, state: 'gone' | 'merged' | 'removed' | 'conflict') =>
  store.write((tx) => endLink(tx, { provider: 'crm', recordId, state, reason: 'as the test says', now: 200 }));
const move = (store: Store, from: string, to: string) =>
  store.write((tx) => moveLink(tx, { provider: 'crm', from, to, now: 300 }));
const rowOf = (store: Store, recordId: string) => findLink(store.db, { provider: 'crm', recordId });
const lanes = async (store: Store) =>
  (await store.db.selectFrom('lane').select(['queue', 'key']).orderBy('queue').orderBy('key').execute()).map(
    ({ queue, key }) => `${queue} ${key}`,
  );
const noLanes = (store: Store) => store.write((tx) => tx.deleteFrom('lane').execute());
const confirm = (store: Store, observed: 'on' | 'off') =>
  store.write((tx) => tx.updateTable('link').set({ observed, send_update: 0 }).execute());

it('a key converts back to its record, with any id', () => {
  expect(readLinkKey(linkKey('crm', 'a:b:c'))).toEqual({ provider: 'crm', recordId: 'a:b:c' });
});

describe.each(SUITE_ENGINES)('a link on %s', (engine) => {
  it('stores the desired state and marks its work', async () => {
    const store = await newStore(engine);
    expect(await link(store, '7', A, { sendUpdate: true })).toEqual({ kind: 'linked' });
    expect(await rowOf(store, '7')).toMatchObject({
      entity: A,
      state: 'active',
      desired: 'on',
      observed: 'unknown',
      send_update: 1,
    });
    expect(await lanes(store)).toEqual([`apply ${A}`, 'monitoring crm:7', 'sync:crm 7']);
  });

  it('is created once; a repetition only calls an unconfirmed service again', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await noLanes(store);
    expect(await link(store, '7', A)).toEqual({ kind: 'already' });
    expect(await lanes(store)).toEqual(['monitoring crm:7']);
    await confirm(store, 'on');
    await noLanes(store);
    expect(await link(store, '7', A)).toEqual({ kind: 'already' });
    expect(await lanes(store)).toEqual([]);
    await link(store, '7', A, { sendUpdate: true });
    expect([await lanes(store), await rowOf(store, '7')]).toEqual([
      ['monitoring crm:7'],
      expect.objectContaining({ send_update: 1 }),
    ]);
  });

  it('belongs to one company; a company may have several', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await link(store, '8', A);
    expect(await link(store, '7', B)).toEqual({ kind: 'taken', entity: A });
    expect((await recordsOf(store.db, [A, B])).map((row) => row.record_id)).toEqual(['7', '8']);
    expect(await rowOf(store, '7')).toMatchObject({ entity: A });
  });

  it('of one record is created once if two people link it at the same time', async () => {
    const store = await newStore(engine);
    const ends = await Promise.all([A, B, A, B].map((entity) => link(store, '7', entity)));
    const { entity } = (await rowOf(store, '7')) ?? {};
    for (const [index, made] of ends.entries())
      expect(made.kind === 'taken').toBe((index % 2 === 0 ? A : B) !== entity);
  });

  it('ends once, without relying on the state of the service', async () => {
    const store = await newStore(engine);
    await link(store, '7', A, { sendUpdate: true });
    await confirm(store, 'off');
    await noLanes(store);
    expect(await end(store, '7', 'gone')).toBe(true);
    expect(await rowOf(store, '7')).toMatchObject({
      state: 'gone',
      desired: 'off',
      observed: 'unknown',
      send_update: 0,
    });
    expect(await lanes(store)).toEqual(['apply CVR-1-10000001', 'monitoring crm:7']);
    expect(await end(store, '7', 'removed')).toBe(false);
    expect(await end(store, 'unheard-of', 'gone')).toBe(false);
    expect(await recordsOf(store.db, [A])).toEqual([]);
  });

  it('starts over after its end', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await store.write((tx) => tx.updateTable('link').set({ synced_seq: 9, observed: 'on' }).execute());
    await end(store, '7', 'removed');
    expect(await link(store, '7', A, { now: 250 })).toEqual({ kind: 'linked' });
    expect(await rowOf(store, '7')).toMatchObject({
      state: 'active',
      reason: null,
      desired: 'on',
      observed: 'unknown',
      synced_seq: 0,
      created_at: 100,
    });
  });

  it('moves to another company only after the service removed the first', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await end(store, '7', 'removed');
    expect(await link(store, '7', B)).toEqual({ kind: 'taken', entity: A });
    await noLanes(store);
    await confirm(store, 'on');
    expect(await link(store, '7', B)).toEqual({ kind: 'taken', entity: A });
    await confirm(store, 'off');
    expect(await link(store, '7', B)).toEqual({ kind: 'linked' });
    expect(await rowOf(store, '7')).toMatchObject({ entity: B, observed: 'unknown' });
  });

  it('in conflict keeps its desired state until a person ends or renews it', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    expect([await end(store, '7', 'conflict'), await end(store, '7', 'conflict')]).toEqual([true, false]);
    expect(await rowOf(store, '7')).toMatchObject({ state: 'conflict', desired: 'on' });
    expect(await link(store, '7', B)).toEqual({ kind: 'taken', entity: A });
    expect(await end(store, '7', 'removed')).toBe(true);
  });

  it('follows its record to the survivor of a merge', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await noLanes(store);
    expect(await move(store, '7', '8')).toBe('moved');
    expect(await rowOf(store, '7')).toMatchObject({ state: 'merged', desired: 'off' });
    expect(await rowOf(store, '8')).toMatchObject({ state: 'active', entity: A, desired: 'on' });
    expect(await lanes(store)).toEqual([
      `apply ${A}`,
      'heal:crm 8',
      'monitoring crm:7',
      'monitoring crm:8',
      'sync:crm 8',
    ]);
    expect(await move(store, '7', '8')).toBe('merged');
  });

  it('ends if the survivor has a link to the same company', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await link(store, '8', A);
    expect(await move(store, '7', '8')).toBe('merged');
    expect(await rowOf(store, '7')).toMatchObject({ state: 'merged', desired: 'off' });
    expect(await rowOf(store, '8')).toMatchObject({ state: 'active' });
  });

  it('waits for a person if the survivor has a link to another company', async () => {
    const store = await newStore(engine);
    await link(store, '7', A);
    await link(store, '8', B);
    await link(store, '9', B);
    expect(await move(store, '7', '8')).toBe('conflict');
    expect(await rowOf(store, '7')).toMatchObject({
      state: 'conflict',
      desired: 'on',
      reason: expect.stringContaining(B),
    });
    expect(await rowOf(store, '8')).toMatchObject({
      state: 'conflict',
      desired: 'on',
      reason: expect.stringContaining(A),
    });
    expect(await move(store, '7', '8')).toBe('conflict');
    expect(await move(store, '9', '8')).toBe('conflict');
  });

  it('is listed by filter, page by page', async () => {
    const store = await newStore(engine);
    for (const id of ['1', '2', '3']) await link(store, id, id === '2' ? B : A);
    await end(store, '3', 'gone');
    const ids = async (filter: Parameters<typeof listLinks>[1]) =>
      (await listLinks(store.db, filter)).map((row) => row.record_id);
    expect(await ids({})).toEqual(['1', '2', '3']);
    expect(await ids({ entity: A })).toEqual(['1', '3']);
    expect(await ids({ state: 'gone', provider: 'crm' })).toEqual(['3']);
    expect(await ids({ provider: 'other' })).toEqual([]);
    expect(await ids({ after: { provider: 'crm', recordId: '1' }, limit: 1 })).toEqual(['2']);
  });
});
