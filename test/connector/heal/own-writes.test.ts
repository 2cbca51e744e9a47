/** A CRM that posts of cvrsync's own writes, too. */
import { expect, it } from 'vitest';
import type { Property } from '../../../providers/provider.ts';
import { fold } from '../../../src/connector/facts/fact.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { A, newFixture, numberOf } from './fixture.ts';

const text = (name: string): Property => ({ name, label: name, type: 'string', writable: true });

it('our own writes do not repeat the write of a record that waits for the end of a hold', async () => {
  const fixture = await newFixture('sqlite');
  const { store } = fixture;
  const now = () => fixture.now;
  fixture.schema.push(text('name'), text('phone'));
  fixture.put('1', { cvr: numberOf(A), name: 'AS A WORKFLOW SPELLS IT', phone: '10203040' });
  await fixture.link('1', A);
  await fixture.settle(0);
  const said = [
    { field: 'name', now: 'Birk ApS', clock: '2026-03-02T08:00:00.000Z' },
    { field: 'phone', now: '20304050', clock: '2026-03-02T08:00:00.000Z' },
  ] as const;
  const facts = said.map((each) => fold(undefined, A, each, 1).fact);
  const hold = { kind: 'hold', once: false, until: now() + 86_400_000, reason: null } as const;
  await store.write(async (tx) => {
    for (const { field, value, clock, seq } of facts)
      await tx
        .insertInto('fact')
        .values({ entity: A, field, value: JSON.stringify(value), clock, seq })
        .execute();
    await setOverride(tx, { provider: 'crm', recordId: '1', property: 'phone' }, hold, now());
  });
  let writes = 0;
  const crm: typeof fixture.crm = {
    ...fixture.crm,
    mapping: said.map(({ field }) => ({ field, property: field, policy: 'always' })),
    connection: {
      ...fixture.crm.connection,
      // The workflow puts its own value back, and the CRM posts that the record was edited.
      async update(patches) {
        writes += 1;
        await fixture.hint(...patches.map(({ id }) => id));
        return patches.map(({ id }) => ({ kind: 'written', id }));
      },
    },
  };
  for (let second = 0; second < 10; second += 1) {
    const claims = await claim(store, 'sync:crm', { limit: 100, now: now(), leaseMs: 60_000 });
    const deps = { store, metrics: createMetrics(), now };
    if (claims.length > 0) await syncRecords(deps, crm, claims, AbortSignal.timeout(60_000));
    await fixture.settle(1_000);
  }
  expect(writes).toBe(1);
});
