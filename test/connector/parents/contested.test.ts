/** Children whose parent's record holds another number for a while, and those of a company whose second record leaves. */
import { describe, expect, it } from 'vitest';
import type { Parents } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { openGate } from '../../../src/connector/crm/ability.ts';
import { derivedRules } from '../../../src/connector/derived.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { assignParents } from '../../../src/connector/parents/assign-parent.ts';
import { canonicalBody, dedupeKey } from '../../../src/protocol/dedupe.ts';
import { payloadOf, writePayload } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, C, newFixture, numberOf } from '../heal/fixture.ts';

/** A child of company A, which B owns. */
async function owned(engine: (typeof ENGINES)[number]) {
  const fixture = await newFixture(engine, { parent: true });
  const { store, crm, metrics } = fixture;
  const now = () => fixture.now;
  const signal = AbortSignal.timeout(60_000);
  const given = new Map<string, string | null>();
  const parents: Parents = {
    read: async (ids) => ids.map((id) => ({ kind: 'found', id, parent: given.get(id) ?? null })),
    async write({ id, parent }) {
      given.set(id, parent);
      return { kind: 'written', id };
    },
  };
  Object.assign(crm.connection, { parents });
  const gate = openGate(store, crm, 'parents', now);
  const take = (queue: string) => claim(store, queue, { limit: 50, now: now(), leaseMs: 30_000 });
  /** Applies events and assigns parents until neither is due. */
  async function give(): Promise<void> {
    const deps = { store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped: new Map() } as const;
    for (let applied = await take('apply'); applied.length > 0; applied = await take('apply'))
      await applyReceipts({ ...deps, ...derivedRules([crm]) }, applied);
    const claims = await take('parent:crm');
    if (claims.length > 0) await assignParents({ store, metrics, now, gate }, crm, claims, signal);
  }
  const { updates } = samplePayload({ now: 0 });
  const owner = { entityId: B, name: 'B A/S', type: 'Company', ownership: '100' };
  const timestamp = new Date(now() - 1_000).toISOString();
  const json = writePayload(
    payloadOf(A, timestamp, { ...updates, ownership: { added: [owner], removed: [], changed: [] } }),
  );
  const event = { key: dedupeKey(undefined, json), entity: A, timestamp };
  await store.write((tx) => insertReceipts(tx, [{ ...event, body: canonicalBody(json) }], now()));
  for (const [id, entity] of [
    ['child', A],
    ['owner', B],
  ] as const) {
    fixture.put(id, { cvr: numberOf(entity) });
    await fixture.link(id, entity);
  }
  await fixture.settle(0);
  return { fixture, given, give };
}

describe.each(ENGINES)('a child whose parent waits for its number on %s', (engine) => {
  it('gets it as soon as the number is correct again', async () => {
    const { fixture, given, give } = await owned(engine);
    fixture.put('owner', { cvr: numberOf(C) });
    await give();
    expect([given.get('child'), await fixture.lanes('parent:crm')]).toMatchObject([
      undefined,
      [{ key: 'child', error: expect.stringContaining('nothing was written') }],
    ]);
    fixture.put('owner', { cvr: numberOf(B) });
    await fixture.settle(2_000);
    await give();
    expect([given.get('child'), await fixture.lanes('parent:crm')]).toEqual(['owner', []]);
  });

  it('gets the next record of the owner as soon as that is linked', async () => {
    const { fixture, given, give } = await owned(engine);
    fixture.put('owner', { cvr: numberOf(C) });
    await give();
    fixture.put('next', { cvr: numberOf(B) });
    await fixture.settle(10_000);
    await fixture.hint('next');
    await fixture.settle(2_000);
    await give();
    expect([given.get('child'), (await fixture.row('owner'))?.entity]).toEqual(['next', C]);
  });

  it('gets the remaining one of two records of the owner, for any reason that the other leaves', async () => {
    for (const leave of ['deleted', 'merged'] as const) {
      const { fixture, given, give } = await owned(engine);
      fixture.put('second', { cvr: numberOf(B) });
      await fixture.link('second', B, 'person');
      await give();
      expect(given.get('child')).toBeUndefined();
      if (leave === 'deleted') fixture.remove('second');
      else fixture.merge('second', 'owner');
      await fixture.hint('second');
      await fixture.settle(2_000);
      await give();
      expect(given.get('child')).toBe('owner');
    }
  });
});
