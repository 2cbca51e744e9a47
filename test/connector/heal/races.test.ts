/** What others do to a link while the CRM is asked about its record. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { healRecords } from '../../../src/connector/heal/heal.ts';
import { endLink, linkRecord } from '../../../src/connector/links/links.ts';
import { healQueue } from '../../../src/connector/names/queues.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, C, type Fixture, newFixture, numberOf } from './fixture.ts';

/** Does something once, in the middle of the next read. */
function during(fixture: Fixture, work: () => Promise<unknown>): void {
  fixture.meanwhile = async () => {
    fixture.meanwhile = undefined;
    await work();
  };
}

const byHand = (fixture: Fixture, recordId: string) =>
  fixture.store.write((tx) =>
    endLink(tx, { provider: 'crm', recordId, state: 'removed', reason: 'by hand', now: fixture.now }),
  );

describe.each(ENGINES)('during a call to the CRM, on %s', (engine) => {
  it('a person unlinks a record, and it is not linked again', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    await fixture.hint('7');
    await fixture.settle();
    fixture.put('7', { cvr: numberOf(A) });
    during(fixture, () => byHand(fixture, '7'));
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'removed', reason: 'by hand' }, []]);
  });

  it('a person links a record, and its number does not replace the company', async () => {
    const fixture = await newFixture(engine);
    fixture.put('7', { cvr: numberOf(B) });
    during(fixture, () => fixture.link('7', A, 'person'));
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([
      { state: 'conflict', entity: A, origin: 'person' },
      [`${A} 7`],
    ]);
  });

  it('a backfill links the record, and it has one link with the trust of the backfill', async () => {
    const fixture = await newFixture(engine);
    fixture.put('7', { cvr: numberOf(A) });
    const desired = { provider: 'crm', recordId: '7', entity: A, origin: 'number', trust: 'register' } as const;
    during(fixture, () =>
      fixture.store.write((tx) => linkRecord(tx, { ...desired, sendUpdate: false, now: fixture.now })),
    );
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([
      { state: 'active', trust: 'register' },
      [`${A} 7`],
    ]);
  });

  it('a backfill links another record of the same number, and one of them waits for a person', async () => {
    const fixture = await newFixture(engine);
    fixture.put('7', { cvr: numberOf(A) });
    during(fixture, () => fixture.link('8', A));
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'conflict', mismatch: A }, [`${A} 8`]]);
  });

  it('a sync follows a merge, and the survivor keeps the link', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    fixture.put('9', { cvr: numberOf(A) });
    during(fixture, async () => {
      fixture.merge('7', '9');
      await fixture.store.write((tx) => moveLink(tx, { provider: 'crm', from: '7', to: '9', now: fixture.now }));
    });
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), await fixture.row('9'), fixture.items()]).toMatchObject([
      { state: 'merged' },
      { state: 'active' },
      [`${A} 9`],
    ]);
  });

  it('another process takes the lane over, and the result of this one has no effect', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    await fixture.settle(0);
    during(fixture, async () => {
      fixture.put('7', { cvr: numberOf(A) });
      const later = { limit: 9, now: fixture.now + 120_000, leaseMs: 1_000 };
      expect(await claim(fixture.store, healQueue('crm'), later)).toHaveLength(1);
    });
    const before = await fixture.row('7');
    await fixture.hint('7');
    await fixture.healOnce();
    expect(await fixture.row('7')).toEqual(before);
  });

  it('a second hint of the same record is not lost', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    fixture.put('7', { cvr: numberOf(A) });
    during(fixture, async () => {
      fixture.remove('7');
      await fixture.hint('7');
    });
    const wasRead = { kind: 'found', id: '7', properties: { cvr: numberOf(A) } } as const;
    const { read } = fixture.crm.connection;
    let first = true;
    Object.assign(fixture.crm.connection, {
      read: async (...args: Parameters<typeof read>) => {
        const reads = await read(...args);
        if (!first) return reads;
        first = false;
        return [wasRead];
      },
    });
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'gone' });
  });

  it('the CRM fails or refuses, and no link changes until the record is read again', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    await fixture.settle(0);
    during(fixture, () => Promise.reject(new ProviderError('unavailable', 'away')));
    await fixture.hint('7');
    await fixture.healOnce();
    expect(await fixture.row('7')).toMatchObject({ state: 'active' });
    expect(await fixture.lanes('heal:crm')).toMatchObject([{ key: '7', error: 'away' }]);
    during(fixture, () => Promise.reject(new ProviderError('refused', 'no such scope')));
    await fixture.settle();
    expect([await fixture.row('7'), await fixture.crm.rateLimiter.blockedUntil()]).toMatchObject([
      { state: 'active' },
      { reason: 'no such scope' },
    ]);
  });
});

it('two processes find one number in two records, and never link both', async () => {
  for (let round = 0; round < 8; round++) {
    const fixture = await newFixture('postgres');
    const ids = ['1', '2', '3', '4', '5', '6'];
    for (const id of ids) fixture.put(id, { cvr: numberOf([A, B, C][Number(id) % 3] ?? A) });
    await fixture.hint(...ids);
    const one = () => claim(fixture.store, healQueue('crm'), { limit: 3, now: fixture.now, leaseMs: 60_000 });
    const claims = [await one(), await one()];
    const deps = { store: fixture.store, metrics: createMetrics(), now: () => fixture.now };
    await Promise.all(claims.map((mine) => healRecords(deps, fixture.crm, mine, AbortSignal.timeout(60_000))));
    await fixture.settle();
    const active = await fixture.store.db.selectFrom('link').select('entity').where('state', '=', 'active').execute();
    expect(new Set(active.map(({ entity }) => entity)).size).toBe(active.length);
    const reported = await fixture.store.db
      .selectFrom('link')
      .select('entity')
      .where('state', '=', 'conflict')
      .execute();
    expect(active.length + reported.length).toBe(6);
    expect(new Set(reported.map(({ entity }) => entity)).size).toBe(3);
  }
});
