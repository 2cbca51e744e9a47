/** What others do to a link while the CRM is asked about its record. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { healRecords } from '../../../src/connector/heal/heal.ts';
import { endLink, healQueue, linkRecord } from '../../../src/connector/links.ts';
import { moveLink } from '../../../src/connector/move-link.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim } from '../../../src/runtime/lanes.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, C, type Ground, newGround, numberOf } from './ground.ts';

/** Does something once, in the middle of the next read. */
function during(ground: Ground, work: () => Promise<unknown>): void {
  ground.meanwhile = async () => {
    ground.meanwhile = undefined;
    await work();
  };
}

const byHand = (ground: Ground, recordId: string) =>
  ground.store.write((tx) =>
    endLink(tx, { provider: 'crm', recordId, state: 'removed', reason: 'by hand', now: ground.now }),
  );

describe.each(ENGINES)('while the CRM is asked, on %s', (engine) => {
  it('a person unlinks the record that would have been linked again: it stays unlinked', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    await ground.hint('7');
    await ground.settle();
    ground.put('7', { cvr: numberOf(A) });
    during(ground, () => byHand(ground, '7'));
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'removed', reason: 'by hand' }, []]);
  });

  it('a person links the record to a company: that one is not overwritten by its number', async () => {
    const ground = await newGround(engine);
    ground.put('7', { cvr: numberOf(B) });
    during(ground, () => ground.link('7', A, 'person'));
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([
      { state: 'conflict', entity: A, origin: 'person' },
      [`${A} 7`],
    ]);
  });

  it('a backfill links the same record: it is linked once, and with the trust of the backfill', async () => {
    const ground = await newGround(engine);
    ground.put('7', { cvr: numberOf(A) });
    const wish = { provider: 'crm', recordId: '7', entity: A, origin: 'number', trust: 'register' } as const;
    during(ground, () => ground.store.write((tx) => linkRecord(tx, { ...wish, sendUpdate: false, now: ground.now })));
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'active', trust: 'register' }, [`${A} 7`]]);
  });

  it('a backfill links another record of the same number: one of them waits for a person', async () => {
    const ground = await newGround(engine);
    ground.put('7', { cvr: numberOf(A) });
    during(ground, () => ground.link('8', A));
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'conflict', doubt: A }, [`${A} 8`]]);
  });

  it('a sync follows a merge: its survivor keeps the link, whatever the record was when it was asked', async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    ground.put('9', { cvr: numberOf(A) });
    during(ground, async () => {
      ground.merge('7', '9');
      await ground.store.write((tx) => moveLink(tx, { provider: 'crm', from: '7', to: '9', now: ground.now }));
    });
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), await ground.row('9'), ground.items()]).toMatchObject([
      { state: 'merged' },
      { state: 'active' },
      [`${A} 9`],
    ]);
  });

  it('another process takes the lane over: what this one saw has no effect', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    await ground.settle(0);
    during(ground, async () => {
      ground.put('7', { cvr: numberOf(A) });
      const later = { limit: 9, now: ground.now + 120_000, leaseMs: 1_000 };
      expect(await claim(ground.store, healQueue('crm'), later)).toHaveLength(1);
    });
    const before = await ground.row('7');
    await ground.hint('7');
    await ground.healOnce();
    expect(await ground.row('7')).toEqual(before);
  });

  it('a second hint of the same record is not lost', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    ground.put('7', { cvr: numberOf(A) });
    during(ground, async () => {
      ground.remove('7');
      await ground.hint('7');
    });
    const wasRead = { kind: 'found', id: '7', properties: { cvr: numberOf(A) } } as const;
    const { read } = ground.crm.connection;
    let first = true;
    Object.assign(ground.crm.connection, {
      read: async (...args: Parameters<typeof read>) => {
        const reads = await read(...args);
        if (!first) return reads;
        first = false;
        return [wasRead];
      },
    });
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'gone' });
  });

  it('the CRM is away, or refuses: no link changes, and the record is asked about again', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    await ground.settle(0);
    during(ground, () => Promise.reject(new ProviderError('unavailable', 'away')));
    await ground.hint('7');
    await ground.healOnce();
    expect(await ground.row('7')).toMatchObject({ state: 'active' });
    expect(await ground.lanes('heal:crm')).toMatchObject([{ key: '7', error: 'away' }]);
    during(ground, () => Promise.reject(new ProviderError('refused', 'no such scope')));
    await ground.settle();
    expect([await ground.row('7'), await ground.crm.pace.blockedUntil()]).toMatchObject([
      { state: 'active' },
      { reason: 'no such scope' },
    ]);
  });
});

it('two processes that see one number in two records never link both', { timeout: 60_000 }, async () => {
  for (let round = 0; round < 8; round++) {
    const ground = await newGround('postgres');
    const ids = ['1', '2', '3', '4', '5', '6'];
    for (const id of ids) ground.put(id, { cvr: numberOf([A, B, C][Number(id) % 3] ?? A) });
    await ground.hint(...ids);
    const one = () => claim(ground.store, healQueue('crm'), { limit: 3, now: ground.now, leaseMs: 60_000 });
    const claims = [await one(), await one()];
    const deps = { store: ground.store, metrics: createMetrics(), now: () => ground.now };
    await Promise.all(claims.map((mine) => healRecords(deps, ground.crm, mine, AbortSignal.timeout(20_000))));
    await ground.settle();
    const active = await ground.store.db.selectFrom('link').select('entity').where('state', '=', 'active').execute();
    expect(new Set(active.map(({ entity }) => entity)).size).toBe(active.length);
    const told = await ground.store.db.selectFrom('link').select('entity').where('state', '=', 'conflict').execute();
    expect(active.length + told.length).toBe(6);
    expect(new Set(told.map(({ entity }) => entity)).size).toBe(3);
  }
});
