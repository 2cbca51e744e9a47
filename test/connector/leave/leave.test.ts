/** A CRM is left, and returned to, by a daemon with both CRMs emulated and the service of the installation. */
import { describe, expect, it } from 'vitest';
import { observe } from '../../../src/alerts/observe.ts';
import { readMade } from '../../../src/connector/crm/made-properties.ts';
import { SAFETY_LIMIT_KEY } from '../../../src/connector/follow/safety-limit.ts';
import { LEAVE } from '../../../src/connector/leave/leave-task.ts';
import { leaveWork } from '../../../src/connector/leave/leave-work.ts';
import { countOpenLinks } from '../../../src/connector/links/end-all.ts';
import { readLeft } from '../../../src/connector/links/left.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { readAllCounted } from '../../../src/connector/proposals/proposals.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { requestLeave, returnTo } from '../../../src/operations/connector/leaving.ts';
import { addLink } from '../../../src/operations/connector/links.ts';
import { perform } from '../../../src/operations/definition/operation.ts';
import { cancelRun, confirmRun } from '../../../src/operations/installation/runs.ts';
import { claim, mark, park } from '../../../src/runtime/lanes/lanes.ts';
import { pause } from '../../../src/runtime/limits/pause.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { countItems, readItemsOf } from '../../../src/runtime/runs/run-items.ts';
import { confirmRun as confirmStored, findRun, requestPreview } from '../../../src/runtime/runs/runs.ts';
import { workOnRuns } from '../../../src/runtime/runs/work.ts';
import { ENTITY, OTHER, renamed } from '../../faults/company.ts';
import { ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { IDA, IN_HUBSPOT, startScene } from './scene.ts';

const ALL = { undo: true, removeProperties: true };

describe.each(ENGINES)('leaving a CRM, on %s', (engine) => {
  it('ends links and monitoring, restores values, removes own properties, and can be reversed', async () => {
    const { store, hubspot, salesforce, post, settled, needs, ...scene } = await startScene({ engine });
    const { first, second, account, nameOf, items, states, preview, counts, confirm, ended } = scene;
    await expect.poll(items).toEqual([`hubspot ${ENTITY}`, `hubspot ${OTHER}`, `salesforce ${ENTITY}`]);
    expect(hubspot.get(first)).toMatchObject({ name: 'B ApS', cvr_name: 'B ApS' });
    // People edit a value that cvrsync wrote, and write into a property that it made.
    hubspot.edit(second, { name: 'Sold', cvr_city: 'Odense' });

    const id = await preview(ALL);
    expect(await counts(id)).toEqual({ link: 2, restored: 3, edited: 1, property: 1, 'in-use': 1 });
    expect([await readLeft(store.db, 'hubspot'), nameOf(first)]).toEqual([undefined, 'B ApS']);
    await confirm(id);
    expect(await ended(id, 'done')).toMatchObject({ stage: 'run', error: null });
    expect(await counts(id)).toEqual({ ended: 2, restored: 3, edited: 1, removed: 1, 'in-use': 1 });
    expect(await states()).toEqual(['hubspot removed off', 'hubspot removed off', 'salesforce active on']);
    expect(await items()).toEqual([`salesforce ${ENTITY}`]);
    expect(hubspot.get(first)).toMatchObject({ name: 'A ApS' });
    expect(hubspot.get(first)).not.toHaveProperty('cvr_name');
    expect(hubspot.get(second)).toMatchObject({ name: 'Sold', cvr_city: 'Odense' });
    expect([...(await readMade(store.db, IN_HUBSPOT)).keys()]).toEqual(['cvr_city']);

    // Nothing happens there any more, whoever asks; the other CRM goes on.
    const calls = hubspot.calls.length;
    await post(renamed('B ApS', 'E ApS', 10));
    await store.write(async (tx) => {
      const desired = { provider: 'hubspot', recordId: first, entity: ENTITY, sendUpdate: false, now: Date.now() };
      await expect(linkRecord(tx, desired)).rejects.toThrow(/^hubspot was left at .* by Ida: .*cvrsync return hubspot/);
    });
    const asked = { provider: 'hubspot', record: first, entityId: ENTITY, sendUpdate: false, yes: false };
    await expect(perform(addLink, asked, needs, IDA)).rejects.toThrow(/cvrsync return hubspot/);
    await settled();
    expect([salesforce.get(account)?.['Name'], nameOf(first), hubspot.calls.length]).toEqual(['E ApS', 'A ApS', calls]);

    const back = { provider: 'hubspot' };
    expect(await perform(returnTo, back, needs, IDA)).toEqual({ provider: 'hubspot', count: 2 });
    await settled();
    await expect.poll(items).toEqual([`hubspot ${ENTITY}`, `hubspot ${OTHER}`, `salesforce ${ENTITY}`]);
    await expect(perform(returnTo, back, needs, IDA)).rejects.toThrow('hubspot was not left');
    const entries = (await readAudit(store.db, { subject: 'hubspot' }, 20)).toReversed();
    expect(entries.map(({ action, actor, result }) => `${actor.name} ${action} ${result}`)).toEqual([
      expect.stringMatching(/^Ida connection\.leave begun for \d+ records$/),
      expect.stringMatching(/^Ida connection\.leave done; 3 restored, 2 ended/),
      'Ida connection.return 2 links restarted',
    ]);
  });

  it('resumes after it was killed, and the connection stays left for a new daemon', async () => {
    const { hubspot, app, restart, ...scene } = await startScene({ engine });
    const { preview, confirm, counts, nameOf, first } = scene;
    const id = await preview(ALL);
    // It ends the links, and hangs when it reads what to undo.
    const read = Promise.withResolvers<void>();
    hubspot.onRead = () => read.resolve();
    hubspot.fault({ match: 'POST .*/batch/read$', action: { kind: 'slow', ms: 60_000, at: 'start' } });
    await confirm(id);
    await read.promise;
    expect(await counts(id)).toEqual({ ended: 2 });
    await app.close(0);
    expect(nameOf(first)).toBe('B ApS');

    const again = await restart();
    expect(await again.ended(id, 'done')).toMatchObject({ stage: 'run', error: null });
    expect(await again.counts(id)).toEqual({ ended: 2, restored: 4, removed: 2 });
    expect(await again.states()).toEqual(['hubspot removed off', 'hubspot removed off', 'salesforce active on']);
    expect(nameOf(first)).toBe('A ApS');
    const calls = hubspot.calls.length;
    await again.post(renamed('B ApS', 'E ApS', 10));
    await again.settled();
    expect([hubspot.calls.length, (await readLeft(again.store.db, 'hubspot'))?.run]).toEqual([calls, id]);
  });
});

it('a left connection stops in every daemon of a store', async () => {
  const { restart, leave, hubspot, nameOf, first } = await startScene({ engine: 'postgres' });
  const other = await restart();
  expect(await leave()).toMatchObject({ state: 'done' });
  const calls = hubspot.calls.length;
  await other.post(renamed('B ApS', 'E ApS', 10));
  await other.store.write((tx) => mark(tx, 'sync:hubspot', [first], 1));
  await other.settled();
  expect([nameOf(first), hubspot.calls.length]).toEqual(['B ApS', calls]);
});

describe.each(SUITE_ENGINES)('a connection that was left, on %s', (engine) => {
  it('is not counted when its rules change, and is removed without a confirmation once the file lacks it', async () => {
    const { leave, reload, hubspot, app, store } = await startScene({ engine });
    await leave();
    const calls = hubspot.calls.length;
    await reload((providers) => ({ ...providers, hubspot: { ...providers['hubspot'], policy: 'always' } }));
    expect(await readAllCounted(store.db)).toEqual([]);
    await reload(({ hubspot: _, ...providers }) => providers);
    await expect.poll(() => app.connector?.crms.map(({ name }) => name)).toEqual(['salesforce']);
    expect([hubspot.calls.length, await readAllCounted(store.db)]).toEqual([calls, []]);
    expect(await readLeft(store.db, 'hubspot')).toBeDefined();
  });

  it('leaves no review entries', async () => {
    const { leave, store, hubspot, needs } = await startScene({ engine });
    await store.write(async (tx) => {
      await park(tx, 'heal:hubspot', SAFETY_LIMIT_KEY, { at: 1, error: 'too many links would end' });
      await park(tx, 'sync:hubspot', '7', { at: 1, error: 'refused' });
      await park(tx, 'poll', 'hubspot reconcile', { at: 1, error: 'a person must look' });
    });
    await needs.crms.find(({ name }) => name === 'hubspot')?.rateLimiter.block(Date.now() + 3_600_000, 'no', 'auth');
    expect((await observe(store, Date.now(), 10)).failed).not.toEqual([]);
    hubspot.revoke();
    expect(await leave()).toMatchObject({ state: 'done' });
    const { failed, limits, blocks } = await observe(store, Date.now(), 10);
    expect({ failed, limits, blocks }).toEqual({ failed: [], limits: [], blocks: [] });
  });
});

describe.each(SUITE_ENGINES)('a leaving, on %s', (engine) => {
  it('does not begin twice, or for an unknown connection', async () => {
    const { needs, preview, confirm, ended, leave } = await startScene({ engine });
    const ask = (provider: string, more = {}) =>
      perform(requestLeave, { provider, undo: false, removeProperties: false, ...more }, needs, IDA);
    await expect(ask('hubspod')).rejects.toMatchObject({
      issues: [{ path: '/provider', message: 'is no configured connection: there is hubspot, salesforce' }],
    });
    const [one, other] = [await preview(), await preview()];
    expect(other).not.toBe(one);
    await confirm(one);
    await expect(confirm(other)).rejects.toThrow(`run ${one} is leaving hubspot already`);
    await ended(one, 'done');
    await expect(ask('hubspot')).rejects.toThrow(/^hubspot was left at .* by Ida$/);
    // What was not chosen then can be done later.
    expect(await leave({ undo: true })).toMatchObject({ state: 'done' });
  });

  it('is confirmed by administrators only, and cancelled by others', async () => {
    const { store, needs, preview, states } = await startScene({ engine });
    const id = await preview();
    const olga = { ...IDA, role: 'operator' } as const;
    await expect(perform(confirmRun, { run: id }, needs, olga)).rejects.toThrow('only an administrator');
    expect(await readLeft(store.db, 'hubspot')).toBeUndefined();
    expect(await perform(cancelRun, { run: id }, needs, olga)).toMatchObject({ result: 'ended' });
    expect(await states()).toEqual(['hubspot active on', 'hubspot active on', 'salesforce active on']);
  });

  it('stops when it is cancelled, reports its progress, and resumes when it is requested again', async () => {
    const { store, hubspot, needs, preview, confirm, ended, counts, states, leave, first, nameOf } = await startScene({
      engine,
    });
    const id = await preview(ALL);
    hubspot.fault({ match: 'POST .*/batch/read$', action: { kind: 'slow', ms: 1_000, at: 'start' } });
    await confirm(id);
    await expect.poll(() => counts(id)).toEqual({ ended: 2 });
    await perform(cancelRun, { run: id }, needs, IDA);
    expect(await ended(id, 'cancelled')).toMatchObject({ stage: 'run' });
    await expect.poll(states).toEqual(['hubspot removed off', 'hubspot removed off', 'salesforce active on']);
    // The connection stays stopped, and its properties are there.
    expect([(await readLeft(store.db, 'hubspot'))?.run, nameOf(first) === undefined]).toEqual([id, false]);
    expect((await readMade(store.db, IN_HUBSPOT)).size).toBe(2);
    expect(await leave(ALL)).toMatchObject({ state: 'done' });
    expect([nameOf(first), (await readMade(store.db, IN_HUBSPOT)).size]).toEqual(['A ApS', 0]);
  });

  it('ends links and monitoring although the CRM refuses the credentials, names the failures, and can resume', async () => {
    const { hubspot, preview, confirm, ended, items, leave, states, nameOf, first, store } = await startScene({
      engine,
    });
    const id = await preview(ALL);
    hubspot.revoke();
    await confirm(id);
    expect(await ended(id, 'failed')).toMatchObject({
      error: expect.stringMatching(/HubSpot refused the access token/),
    });
    expect(await readLeft(store.db, 'hubspot')).toBeDefined();
    await expect.poll(items).toEqual([`salesforce ${ENTITY}`]);
    await expect.poll(states).toEqual(['hubspot removed off', 'hubspot removed off', 'salesforce active on']);
    expect(nameOf(first)).toBe('B ApS');
    // Nobody has to mend the account: with nothing to do in the CRM, it is not called.
    await expect(leave()).rejects.toThrow(/^hubspot was left/);
  });
});

describe.each(ENGINES)('the end of many links, on %s', (engine) => {
  const LINKS = 1_203;

  it('works in pages, calls the service for each, and names unconfirmed ones', async () => {
    const store = await newStore(engine);
    const ids = Array.from({ length: LINKS }, (_, index) => String(index).padStart(5, '0'));
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'crm', recordId: 'x', entity: ENTITY, sendUpdate: false, now: 0 });
      const [row] = await tx.selectFrom('link').selectAll().execute();
      if (row === undefined) throw new Error('no link');
      await tx.deleteFrom('link').execute();
      await tx.deleteFrom('lane').execute();
      // A statement has at most so many parameters.
      for (let at = 0; at < LINKS; at += 100)
        await tx
          .insertInto('link')
          .values(ids.slice(at, at + 100).map((record_id) => ({ ...row, record_id, observed: 'on' as const })))
          .execute();
      const refused = { observed: 'refused', state: 'conflict' } as const;
      await tx.updateTable('link').set(refused).where('record_id', '=', '00007').execute();
    });
    const input = { provider: 'crm', undo: false, removeProperties: false };
    const id = await store.write((tx) => requestPreview(tx, LEAVE, { input, ...IDA }, 0));
    const rung: string[] = [];
    const work = leaveWork({
      ...{ store, metrics: createMetrics(), now: Date.now, leaseMs: 30_000, crms: [], hasUpstream: true },
      ...{ silenceMs: 5, wait: pause, ring: (queue) => void rung.push(queue) },
    });
    const carryOut = async () => {
      const claims = await claim(store, LEAVE.queue, { limit: 1, now: Date.now(), leaseMs: 30_000 });
      await workOnRuns({ store, now: Date.now }, work, claims, new AbortController().signal);
    };
    await carryOut();
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', done: LINKS, total: LINKS });
    await store.write((tx) => confirmStored(tx, LEAVE, { ...IDA, id }, 0));
    await carryOut();
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', error: null, done: LINKS, total: LINKS });
    const counts = new Map<string, number>([
      ['unconfirmed', LINKS - 1],
      ['ended', 1],
    ]);
    expect(await countItems(store.db, id)).toEqual(counts);
    const [item] = await readItemsOf(store.db, id, 'unconfirmed', 1);
    expect(item?.detail).toContain('has not answered yet: the daemon repeats the call');
    const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'monitoring').execute();
    expect([lanes.length, rung.length]).toEqual([LINKS, 3]);
    expect((await countOpenLinks(store.db, 'crm')).links).toBe(0);
  });
});
