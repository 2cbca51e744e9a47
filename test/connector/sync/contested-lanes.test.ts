/** What becomes of the lanes of records whose number speaks against their link. */
import { describe, expect, it } from 'vitest';
import { updateLink } from '../../../src/connector/links/links.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim, mark, settleAll } from '../../../src/runtime/lanes/lanes.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { A, B, type Fixture, newFixture, numberOf } from '../heal/fixture.ts';

const QUEUE = 'sync:crm';

async function syncAll({ store, crm, now }: Fixture): Promise<void> {
  const claims = await claim(store, QUEUE, { limit: 100, now, leaseMs: 60_000 });
  const deps = { store, metrics: createMetrics(), now: () => now };
  if (claims.length > 0) await syncRecords(deps, crm, claims, AbortSignal.timeout(60_000));
}

const marked = ({ store, now }: Fixture, ...ids: string[]) => store.write((tx) => mark(tx, QUEUE, ids, now));

/** A linked record that is up to its facts. */
async function linked(fixture: Fixture, id: string, entity: string): Promise<void> {
  fixture.put(id, { cvr: numberOf(entity) });
  await fixture.link(id, entity);
  await fixture.settle(0);
  await syncAll(fixture);
}

const active = async ({ store }: Fixture): Promise<number> =>
  (await store.db.selectFrom('link').select('record_id').where('state', '=', 'active').execute()).length;

/** Records whose links wait behind the safety limit: each holds something else in place of its number. */
async function behindLimit(engine: (typeof ENGINES)[number], number: (at: number) => string | null) {
  const fixture = await newFixture(engine, { autoLink: false });
  const ids = Array.from({ length: 30 }, (_, at) => String(at + 1));
  for (const id of ids) await linked(fixture, id, `CVR-1-${cvrNumber(Number(id))}`);
  for (const id of ids) fixture.put(id, { cvr: number(Number(id)) });
  await fixture.hint(...ids);
  await fixture.settle();
  return { fixture, ids };
}

describe.each(SUITE_ENGINES)('the link of a record with another number, on %s', (engine) => {
  it('stays if an operator kept it at the safety limit, and the record is still written', async () => {
    const { fixture, ids } = await behindLimit(engine, () => null);
    await fixture.store.write((tx) => resolveReview(tx, 'keep', 'lane/heal:crm/*', fixture.now));
    for (const id of ids.slice(0, 15)) {
      await marked(fixture, id);
      await syncAll(fixture);
      await fixture.settle();
    }
    expect(await active(fixture)).toBe(30);
    expect(await fixture.lanes(QUEUE)).toEqual([]);
  });

  it('waits at the safety limit with the others, and costs no reads meanwhile', async () => {
    const { fixture, ids } = await behindLimit(engine, (at) => cvrNumber(100 + at));
    await marked(fixture, ...ids);
    await syncAll(fixture);
    const before = fixture.reads.length;
    await fixture.settle();
    expect([await active(fixture), fixture.reads.length]).toEqual([30, before]);
  });

  it('follows the number, and the record is written at once even after an earlier failure', async () => {
    const fixture = await newFixture(engine);
    await linked(fixture, '1', A);
    await marked(fixture, '1');
    const claims = await claim(fixture.store, QUEUE, { limit: 1, now: fixture.now, leaseMs: 60_000 });
    const again = { kind: 'again', at: fixture.now + 1_000, error: '503' } as const;
    await fixture.store.write((tx) =>
      settleAll(
        tx,
        claims.map((one) => [one, again]),
      ),
    );
    fixture.now += 1_000;
    fixture.put('1', { cvr: numberOf(B) });
    await syncAll(fixture);
    await fixture.settle(10_000);
    expect(await fixture.row('1')).toMatchObject({ entity: B, state: 'active' });
    await syncAll(fixture);
    expect(await fixture.lanes(QUEUE)).toEqual([]);
  });

  it.each([
    { what: 'the number was put right before the link was decided', number: A, link: { entity: A, state: 'active' } },
    { what: 'a person has to decide', number: B, link: { entity: A, state: 'conflict' } },
  ])('releases waiting work if $what', async ({ number, link }) => {
    const fixture = await newFixture(engine);
    fixture.put('1', { cvr: numberOf(A) });
    await fixture.link('1', A, 'person');
    await fixture.settle(0);
    await syncAll(fixture);
    await marked(fixture, '1');
    fixture.put('1', { cvr: numberOf(B) });
    await syncAll(fixture);
    expect(await fixture.lanes(QUEUE)).toHaveLength(1);
    fixture.put('1', { cvr: numberOf(number) });
    await fixture.settle(0);
    fixture.now += 2_000;
    await syncAll(fixture);
    expect([await fixture.row('1'), await fixture.lanes(QUEUE)]).toMatchObject([link, []]);
  });

  it('stays if the account no longer shows the property, and nothing waits', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await linked(fixture, '1', A);
    fixture.schema.splice(0, 1);
    fixture.put('1', {});
    fixture.now += 5_000;
    await marked(fixture, '1');
    await syncAll(fixture);
    expect([await active(fixture), await fixture.lanes(QUEUE)]).toEqual([1, []]);
  });

  it('counts as made by a person once they accepted it for a record with two companies', async () => {
    const fixture = await newFixture(engine);
    await linked(fixture, '1', A);
    fixture.put('1', { cvr: numberOf(B) });
    const ref = { provider: 'crm', recordId: '1' };
    const conflict = { state: 'conflict', mismatch: null, reason: 'two companies claim it' } as const;
    await fixture.store.write((tx) => updateLink(tx, ref, conflict));
    await fixture.store.write((tx) => resolveReview(tx, 'accept', 'link/crm/1', fixture.now));
    await syncAll(fixture);
    await fixture.settle();
    expect(await fixture.row('1')).toMatchObject({ entity: A, state: 'conflict', mismatch: B });
    await fixture.store.write((tx) => resolveReview(tx, 'accept', 'link/crm/1', fixture.now));
    await syncAll(fixture);
    await fixture.settle();
    expect(await fixture.row('1')).toMatchObject({ entity: A, state: 'active', mismatch: B });
  });
});
