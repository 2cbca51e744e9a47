/** What a return puts back: each link as it was when its connection was left. */
import { describe, expect, it } from 'vitest';
import { rememberMaking } from '../../../src/connector/crm/made-properties.ts';
import { endOpenLinks, restartEndedLinks } from '../../../src/connector/links/end-all.ts';
import { CAME_BY_MERGE, type Link, linkRecord, listLinks, updateLink } from '../../../src/connector/links/links.ts';
import { requestLeave, returnTo } from '../../../src/operations/connector/leaving.ts';
import { perform } from '../../../src/operations/definition/operation.ts';
import { ENTITY, OTHER, renamed } from '../../faults/company.ts';
import { ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { IDA, IN_HUBSPOT, startScene } from './scene.ts';

describe.each(ENGINES)('the links of a connection that was left, on %s', (engine) => {
  it('are as before after a return, active or in conflict, with their accepted numbers', async () => {
    const store = await newStore(engine);
    const made: Readonly<Record<string, Partial<Link>>> = {
      accepted: { mismatch: OTHER, writes_number: 1 },
      merged: { origin: 'number', mismatch: CAME_BY_MERGE },
      plain: { origin: 'number' },
      contested: { state: 'conflict', reason: 'was merged' },
      undecided: { state: 'conflict', reason: 'holds the number of another', mismatch: OTHER },
      rival: { state: 'conflict', reason: 'stands for it too', mismatch: ENTITY, desired: 'off', origin: 'number' },
    };
    const look = async () =>
      (await listLinks(store.db)).map(({ record_id, state, reason, mismatch, desired, origin, writes_number }) => ({
        ...{ record_id, state, reason, mismatch, desired, origin, writes_number },
      }));
    await store.write(async (tx) => {
      for (const [recordId, link] of Object.entries(made)) {
        await linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: 1 });
        await updateLink(tx, { provider: 'crm', recordId }, link);
      }
    });
    const before = await look();
    await store.write((tx) => endOpenLinks(tx, 'crm', '', 2));
    expect(new Set((await look()).map(({ state, desired }) => `${state} ${desired}`))).toEqual(
      new Set(['removed off']),
    );
    expect(await store.write((tx) => restartEndedLinks(tx, 'crm', '', 3))).toHaveLength(before.length);
    expect(await look()).toEqual(before);
    // What they were in conflict with may have ended meanwhile.
    const read = await store.db
      .selectFrom('lane')
      .select('key')
      .where('queue', '=', 'heal:crm')
      .orderBy('key')
      .execute();
    expect(read.map(({ key }) => key)).toEqual(['contested', 'rival', 'undecided']);
  });
});

it.each(SUITE_ENGINES)('an undo in a connection works after its hold property was removed, on %s', async (engine) => {
  const connections = { hubspot: { hold: { property: 'cvr_hold' } } };
  const { store, leave, nameOf, first, needs, post } = await startScene({ engine, connections });
  await store.write((tx) => rememberMaking(tx, IN_HUBSPOT, new Map([['cvr_hold', 'made']]), 1));
  expect(await leave({ removeProperties: true })).toMatchObject({ state: 'done', error: null });
  expect(nameOf(first)).toBe('B ApS');
  expect(await leave({ undo: true })).toMatchObject({ state: 'done', error: null });
  expect(nameOf(first)).toBe('A ApS');
  // After the return, nobody knows which records are on hold.
  await perform(returnTo, { provider: 'hubspot' }, needs, IDA);
  await post(renamed('B ApS', 'E ApS', 10));
  const crm = needs.crms.find(({ name }) => name === 'hubspot');
  await expect.poll(async () => (await crm?.rateLimiter.blockedUntil())?.reason).toMatch(/no property cvr_hold/);
  expect(nameOf(first)).toBe('A ApS');
});

it.each(SUITE_ENGINES)('a run of leaving is shared only by identical requests, on %s', async (engine) => {
  const store = await newStore(engine);
  const asked = { provider: 'crm', undo: false, removeProperties: false };
  await store.write((tx) =>
    linkRecord(tx, { provider: 'crm', recordId: '7', entity: ENTITY, sendUpdate: false, now: 1 }),
  );
  const needs = {
    store,
    now: Date.now,
    crms: [],
    wake: undefined,
    openCrm: async () => Promise.reject(new Error('none')),
  };
  const { id } = await perform(requestLeave, asked, needs, IDA);
  expect(await perform(requestLeave, asked, needs, IDA)).toEqual({ id });
  const input = JSON.stringify({ ...asked, undo: true });
  await store.write((tx) => tx.updateTable('run').set({ input }).where('id', '=', id).execute());
  const refusal = `run ${id} is leaving crm with other options: cancel it first`;
  await expect(perform(requestLeave, asked, needs, IDA)).rejects.toThrow(refusal);
});
