/** An undo of a hundred thousand writes. */
import { expect, test } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { writeHistory } from '../../../src/connector/history/history.ts';
import type { Undone } from '../../../src/connector/undo/outcome.ts';
import { undo } from '../../../src/connector/undo/undo-run.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { ENTITY } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';

const RECORDS = 2_000;
const WRITES = 50;
const NAME = propertyOf('string', { name: 'name' });

test.each(SUITE_ENGINES)(
  'a hundred thousand writes to two thousand records are undone, each record once, in full batches (%s)',
  async (engine) => {
    const store = await newStore(engine);
    const held = new Map<string, PropertyValue>();
    for (let round = 0; round < WRITES; round += 1) {
      const decided = Array.from({ length: RECORDS }, (_, id) => {
        held.set(String(id), `v${round + 1}`);
        const [old, now] = [`v${round}`, `v${round + 1}`];
        const planned = {
          field: 'name',
          property: 'name',
          action: 'write',
          rule: 'ours',
          old,
          now,
          seq: round,
        } as const;
        return { provider: 'crm', id: String(id), entity: ENTITY, planned };
      });
      await store.write((tx) => writeHistory(tx, decided, [], round));
    }
    const calls = { read: 0, update: 0 };
    const crm = crmOf({
      store,
      now: Date.now,
      mapping: [],
      properties: [NAME],
      connection: {
        check: async () => ({ id: '1', name: 'x', notes: [] }),
        properties: async () => [NAME],
        async read(ids) {
          calls.read += 1;
          return ids.map((id) => ({ kind: 'found', id, properties: { name: held.get(id) ?? null } }));
        },
        async update(patches) {
          calls.update += 1;
          return patches.map(({ id, properties }) => {
            held.set(id, properties['name'] ?? null);
            return { kind: 'written', id };
          });
        },
        scan: async () => ({ records: [] }),
      },
      batch: 100,
    });
    const done: Undone[] = [];
    const report = (some: readonly Undone[]): void => void done.push(...some);
    const run = {
      store,
      metrics: createMetrics(),
      now: Date.now,
      leaseMs: 30_000,
      crm: async () => crm,
      dryRun: false,
      report,
    };
    await undo(run, { provider: 'crm', since: 0 }, AbortSignal.timeout(60_000));
    expect([done.length, new Set(done.map(({ kind, to }) => `${kind} ${to}`))]).toEqual([
      RECORDS,
      new Set(['restored v0']),
    ]);
    expect(new Set(held.values())).toEqual(new Set(['v0']));
    expect(calls).toEqual({ read: RECORDS / 100, update: RECORDS / 100 });
  },
  60_000,
);
