/** The brake: far more links than usual would end. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { readAttention } from '../../../src/connector/attention.ts';
import { resolveAttention } from '../../../src/connector/resolve-attention.ts';
import { syncRecords } from '../../../src/connector/sync.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim, mark } from '../../../src/runtime/lanes.ts';
import { ENGINES } from '../../support/stores.ts';
import { type Ground, newGround, numberOf } from './ground.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const BRAKE = 'lane/heal:crm/*';
const entityOf = (index: number): string => `CVR-1-${10_000_000 + index}`;
const idsUpTo = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

/** Records with their numbers, linked and monitored. */
async function linked(engine: (typeof ENGINES)[number], count: number): Promise<Ground> {
  const ground = await newGround(engine, { autoLink: false });
  for (const id of idsUpTo(count)) {
    ground.put(id, { cvr: numberOf(entityOf(Number(id))) });
    await ground.link(id, entityOf(Number(id)));
  }
  await ground.settle(0);
  expect(ground.items()).toHaveLength(count);
  return ground;
}

async function countOf(ground: Ground, state: 'active' | 'gone' | 'removed'): Promise<number> {
  return (await ground.store.db.selectFrom('link').select('state').where('state', '=', state).execute()).length;
}

describe.each(ENGINES)('the brake on %s', (engine) => {
  it('lets a few links end, and stops where many would, until a person says so', async () => {
    const ground = await linked(engine, 45);
    for (const id of idsUpTo(15)) ground.remove(id);
    await ground.hint(...idsUpTo(15));
    await ground.settle();
    expect([await countOf(ground, 'gone'), await readAttention(ground.store.db, ground.now)]).toEqual([15, []]);

    // Few enough for an hour of their own, but not for this one.
    const more = idsUpTo(45).slice(15, 25);
    for (const id of more) ground.put(id, { cvr: null });
    await ground.hint(...more);
    await ground.settle();
    expect([await countOf(ground, 'active'), ground.items().length]).toEqual([30, 30]);
    expect(await readAttention(ground.store.db, ground.now)).toMatchObject([
      { id: BRAKE, reason: expect.stringMatching(/^15 links ended .* and 10 or more/u) },
    ]);
    // Nobody answers: nothing ends, however long it takes.
    await ground.settle(3 * DAY_MS);
    expect([await countOf(ground, 'active'), (await readAttention(ground.store.db, ground.now)).length]).toEqual([
      30, 1,
    ]);

    await ground.store.write((tx) => resolveAttention(tx, 'accept', BRAKE, ground.now));
    await ground.settle();
    expect([await countOf(ground, 'active'), await readAttention(ground.store.db, ground.now)]).toEqual([20, []]);
    expect([ground.items().length, await ground.lanes('heal:crm')]).toEqual([20, []]);
  });

  it('counts by the hour: what ended before that is nothing to what ends now', async () => {
    const ground = await linked(engine, 45);
    for (const ids of [idsUpTo(15), idsUpTo(30).slice(15)]) {
      for (const id of ids) ground.remove(id);
      await ground.hint(...ids);
      await ground.settle(HOUR_MS + 60_000);
    }
    expect([await countOf(ground, 'gone'), await readAttention(ground.store.db, ground.now)]).toEqual([30, []]);
  });

  it('lets all end that waits, however often a person said so within the hour', async () => {
    const ground = await linked(engine, 160);
    for (const [from, to] of [
      [0, 50],
      [50, 100],
      [100, 150],
    ] as const) {
      const ids = idsUpTo(to).slice(from);
      for (const id of ids) ground.remove(id);
      // The first of them brake; the others were marked since, by whoever compares the lists.
      await ground.hint(...ids.slice(0, 25));
      await ground.settle();
      expect(await readAttention(ground.store.db, ground.now)).toMatchObject([{ id: BRAKE }]);
      await ground.hint(...ids.slice(25));
      await ground.store.write((tx) => resolveAttention(tx, 'accept', BRAKE, ground.now));
      await ground.settle();
      expect([await countOf(ground, 'gone'), await readAttention(ground.store.db, ground.now)]).toEqual([to, []]);
    }
  });

  it('looks at once, when a person says so, at records that the CRM could not be asked about before', async () => {
    const ground = await linked(engine, 30);
    const doomed = idsUpTo(30).slice(0, 25);
    for (const id of doomed) ground.remove(id);
    ground.meanwhile = () => Promise.reject(new ProviderError('unavailable', 'the CRM is down'));
    await ground.hint(...doomed);
    await ground.healOnce();
    ground.meanwhile = undefined;
    await ground.settle(HOUR_MS);
    expect(await countOf(ground, 'gone')).toBeLessThan(25);
    await ground.store.write((tx) => resolveAttention(tx, 'accept', BRAKE, ground.now));
    await ground.settle();
    expect([await countOf(ground, 'gone'), await ground.lanes('heal:crm')]).toEqual([25, []]);
  });

  it('lets go by itself of what was repaired meanwhile', async () => {
    const ground = await linked(engine, 30);
    for (const id of idsUpTo(30)) ground.put(id, { cvr: null });
    await ground.hint(...idsUpTo(30));
    await ground.settle();
    expect(await countOf(ground, 'active')).toBe(30);
    for (const id of idsUpTo(30)) ground.put(id, { cvr: numberOf(entityOf(Number(id))) });
    await ground.store.write((tx) => resolveAttention(tx, 'keep', BRAKE, ground.now));
    await ground.settle(2 * DAY_MS);
    expect([await countOf(ground, 'active'), await ground.lanes('heal:crm')]).toEqual([30, []]);
  });

  it('holds back what follows another number too, and asks again where it was only dropped', async () => {
    const ground = await linked(engine, 30);
    for (const id of idsUpTo(30)) ground.put(id, { cvr: numberOf(entityOf(Number(id) + 100)) });
    await ground.hint(...idsUpTo(30));
    await ground.settle();
    await ground.store.write((tx) => resolveAttention(tx, 'keep', BRAKE, ground.now));
    await ground.settle(2 * DAY_MS);
    expect([await countOf(ground, 'active'), ground.items().includes(`${entityOf(1)} 1`)]).toEqual([30, true]);
    expect(await readAttention(ground.store.db, ground.now)).toMatchObject([{ id: BRAKE }]);
  });

  it('lets a share of a long list of links end', async () => {
    const ground = await linked(engine, 250);
    for (const id of idsUpTo(25)) ground.remove(id);
    await ground.hint(...idsUpTo(25));
    await ground.settle();
    expect(await countOf(ground, 'gone')).toBe(25);
  });

  it('holds a sync back that sees no record any more', async () => {
    const ground = await linked(engine, 30);
    for (const id of idsUpTo(30)) ground.remove(id);
    await ground.store.write((tx) => mark(tx, 'sync:crm', idsUpTo(30), ground.now));
    const claims = await claim(ground.store, 'sync:crm', { limit: 100, now: ground.now, leaseMs: 60_000 });
    const deps = { store: ground.store, metrics: createMetrics(), now: () => ground.now };
    await syncRecords(deps, ground.crm, claims, AbortSignal.timeout(20_000));
    await ground.settle();
    expect([await countOf(ground, 'active'), ground.items().length]).toEqual([30, 30]);
    expect(await readAttention(ground.store.db, ground.now)).toMatchObject([{ id: BRAKE }]);
  });
});
