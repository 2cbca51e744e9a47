/** The safety limit: far more links than usual would end. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { type Fixture, newFixture, numberOf } from '../heal/fixture.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const BRAKE = 'lane/heal:crm/*';
const entityOf = (index: number): string => `CVR-1-${10_000_000 + index}`;
const idsUpTo = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

/** Records with their numbers, linked and monitored. */
async function linked(engine: (typeof ENGINES)[number], count: number): Promise<Fixture> {
  const fixture = await newFixture(engine, { autoLink: false });
  for (const id of idsUpTo(count)) {
    fixture.put(id, { cvr: numberOf(entityOf(Number(id))) });
    await fixture.link(id, entityOf(Number(id)));
  }
  await fixture.settle(0);
  expect(fixture.items()).toHaveLength(count);
  return fixture;
}

async function countOf(fixture: Fixture, state: 'active' | 'gone' | 'removed'): Promise<number> {
  return (await fixture.store.db.selectFrom('link').select('state').where('state', '=', state).execute()).length;
}

describe.each(SUITE_ENGINES)('the safety limit on %s', (engine) => {
  it('lets a few links end, and withholds many until a person accepts them', async () => {
    const fixture = await linked(engine, 45);
    for (const id of idsUpTo(15)) fixture.remove(id);
    await fixture.hint(...idsUpTo(15));
    await fixture.settle();
    expect([await countOf(fixture, 'gone'), await readReview(fixture.store.db, fixture.now)]).toEqual([15, []]);

    // Few enough for an hour of their own, but not for this one.
    const more = idsUpTo(45).slice(15, 25);
    for (const id of more) fixture.put(id, { cvr: null });
    await fixture.hint(...more);
    await fixture.settle();
    expect([await countOf(fixture, 'active'), fixture.items().length]).toEqual([30, 30]);
    expect(await readReview(fixture.store.db, fixture.now)).toMatchObject([
      { id: BRAKE, reason: expect.stringMatching(/^15 links ended .* and 10 or more/u) },
    ]);
    // Nobody answers: nothing ends, however long it takes.
    await fixture.settle(3 * DAY_MS);
    expect([await countOf(fixture, 'active'), (await readReview(fixture.store.db, fixture.now)).length]).toEqual([
      30, 1,
    ]);

    await fixture.store.write((tx) => resolveReview(tx, 'accept', BRAKE, fixture.now));
    await fixture.settle();
    expect([await countOf(fixture, 'active'), await readReview(fixture.store.db, fixture.now)]).toEqual([20, []]);
    expect([fixture.items().length, await fixture.lanes('heal:crm')]).toEqual([20, []]);
  });

  it('counts ended links in the metrics, but not withheld ones', async () => {
    const fixture = await linked(engine, 30);
    const heal = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) fixture.remove(id);
      await fixture.hint(...ids);
      await fixture.healOnce();
    };
    await heal(idsUpTo(12));
    await heal(idsUpTo(30).slice(12));
    const valuesOf = async (name: string): Promise<unknown> =>
      (await fixture.metrics.registry.getSingleMetric(name)?.get())?.values;
    expect(await valuesOf('cvrsync_links_ended_total')).toEqual([{ labels: { provider: 'crm' }, value: 12 }]);
    expect(await valuesOf('cvrsync_link_changes_total')).toEqual([
      { labels: { provider: 'crm', decision: 'end' }, value: 12 },
    ]);
  });

  it('counts links of the last hour only', async () => {
    const fixture = await linked(engine, 45);
    for (const ids of [idsUpTo(15), idsUpTo(30).slice(15)]) {
      for (const id of ids) fixture.remove(id);
      await fixture.hint(...ids);
      await fixture.settle(HOUR_MS + 60_000);
    }
    expect([await countOf(fixture, 'gone'), await readReview(fixture.store.db, fixture.now)]).toEqual([30, []]);
  });

  it('ends all withheld links on each acceptance within the hour', async () => {
    const fixture = await linked(engine, 160);
    for (const [from, to] of [
      [0, 50],
      [50, 100],
      [100, 150],
    ] as const) {
      const ids = idsUpTo(to).slice(from);
      for (const id of ids) fixture.remove(id);
      // The first of them safety limit; the others were marked since, by whoever compares the lists.
      await fixture.hint(...ids.slice(0, 25));
      await fixture.settle();
      expect(await readReview(fixture.store.db, fixture.now)).toMatchObject([{ id: BRAKE }]);
      await fixture.hint(...ids.slice(25));
      await fixture.store.write((tx) => resolveReview(tx, 'accept', BRAKE, fixture.now));
      await fixture.settle();
      expect([await countOf(fixture, 'gone'), await readReview(fixture.store.db, fixture.now)]).toEqual([to, []]);
    }
  });

  it('reads unread records at once after an acceptance', async () => {
    const fixture = await linked(engine, 30);
    const doomed = idsUpTo(30).slice(0, 25);
    for (const id of doomed) fixture.remove(id);
    fixture.meanwhile = () => Promise.reject(new ProviderError('unavailable', 'the CRM is down'));
    await fixture.hint(...doomed);
    await fixture.healOnce();
    fixture.meanwhile = undefined;
    await fixture.settle(HOUR_MS);
    expect(await countOf(fixture, 'gone')).toBeLessThan(25);
    await fixture.store.write((tx) => resolveReview(tx, 'accept', BRAKE, fixture.now));
    await fixture.settle();
    expect([await countOf(fixture, 'gone'), await fixture.lanes('heal:crm')]).toEqual([25, []]);
  });

  it('releases repaired links by itself', async () => {
    const fixture = await linked(engine, 30);
    for (const id of idsUpTo(30)) fixture.put(id, { cvr: null });
    await fixture.hint(...idsUpTo(30));
    await fixture.settle();
    expect(await countOf(fixture, 'active')).toBe(30);
    for (const id of idsUpTo(30)) fixture.put(id, { cvr: numberOf(entityOf(Number(id))) });
    await fixture.store.write((tx) => resolveReview(tx, 'keep', BRAKE, fixture.now));
    await fixture.settle(2 * DAY_MS);
    expect([await countOf(fixture, 'active'), await fixture.lanes('heal:crm')]).toEqual([30, []]);
  });

  it('also withholds links that follow another number, and asks again after a drop', async () => {
    const fixture = await linked(engine, 30);
    for (const id of idsUpTo(30)) fixture.put(id, { cvr: numberOf(entityOf(Number(id) + 100)) });
    await fixture.hint(...idsUpTo(30));
    await fixture.settle();
    await fixture.store.write((tx) => resolveReview(tx, 'keep', BRAKE, fixture.now));
    await fixture.settle(2 * DAY_MS);
    expect([await countOf(fixture, 'active'), fixture.items().includes(`${entityOf(1)} 1`)]).toEqual([30, true]);
    expect(await readReview(fixture.store.db, fixture.now)).toMatchObject([{ id: BRAKE }]);
  });

  it('allows a share of a long list of links to end', async () => {
    const fixture = await linked(engine, 250);
    for (const id of idsUpTo(25)) fixture.remove(id);
    await fixture.hint(...idsUpTo(25));
    await fixture.settle();
    expect(await countOf(fixture, 'gone')).toBe(25);
  });

  it('stops a sync that no longer finds any record', async () => {
    const fixture = await linked(engine, 30);
    for (const id of idsUpTo(30)) fixture.remove(id);
    await fixture.store.write((tx) => mark(tx, 'sync:crm', idsUpTo(30), fixture.now));
    const claims = await claim(fixture.store, 'sync:crm', { limit: 100, now: fixture.now, leaseMs: 60_000 });
    const deps = { store: fixture.store, metrics: createMetrics(), now: () => fixture.now };
    await syncRecords(deps, fixture.crm, claims, AbortSignal.timeout(60_000));
    await fixture.settle();
    expect([await countOf(fixture, 'active'), fixture.items().length]).toEqual([30, 30]);
    expect(await readReview(fixture.store.db, fixture.now)).toMatchObject([{ id: BRAKE }]);
  });
});
