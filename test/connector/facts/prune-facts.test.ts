/** PostgreSQL, where others commit between the reads and the deletion of one transaction. SQLite has one writer. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { pruneFacts } from '../../../src/connector/facts/prune-facts.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { newStore } from '../../support/stores.ts';

const BEFORE = 500;
const NOW = 900;

const fact = (field: string) => ({
  entity: ENTITY,
  field,
  value: JSON.stringify({ scalar: 'old' }),
  clock: '2020-01-01T00:00:00.000Z',
  seq: 1,
});

async function isWaited(store: Store): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(store.db);
  return rows.length > 0;
}

/** Prunes while another transaction, begun before, goes on until the pruning waits for it. */
async function pruneBeside(store: Store, other: (tx: Tx) => Promise<unknown>): Promise<void> {
  await store.write((tx) => tx.insertInto('fact').values(['name', 'phone'].map(fact)).execute());
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const beside = store.write(async (tx) => {
    await other(tx);
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  const pruned = store.write((tx) => pruneFacts(tx, { after: '', before: BEFORE, now: NOW }));
  await expect.poll(() => isWaited(store), { timeout: 60_000 }).toBe(true);
  end.resolve();
  await Promise.all([beside, pruned]);
}

const fields = async (store: Store): Promise<readonly string[]> =>
  (await store.db.selectFrom('fact').select('field').orderBy('field').execute()).map(({ field }) => field);

describe('old facts of a company', () => {
  it('stay if a record is linked to it during the pruning', async () => {
    const store = await newStore('postgres');
    const link = { provider: 'crm', recordId: '1', entity: ENTITY, sendUpdate: false, now: NOW };
    await pruneBeside(store, async (tx) => {
      await linkRecord(tx, link);
      // What makes it wait also without its lane.
      await tx.updateTable('fact').set({ seq: 2 }).where('field', '=', 'name').execute();
    });
    expect(await fields(store)).toEqual(['name', 'phone']);
  });

  it('stay if an event about it arrives during the pruning', async () => {
    const store = await newStore('postgres');
    const body = JSON.stringify(writePayload(renamed('A ApS', 'B ApS', 8)));
    const event = { key: 'k', entity: ENTITY, timestamp: '2026-03-02T08:00:00.000Z', body };
    await pruneBeside(store, async (tx) => {
      await insertReceipts(tx, [event], NOW);
      await tx.updateTable('fact').set({ seq: 2 }).where('field', '=', 'name').execute();
    });
    const claims = await claim(store, 'apply', { limit: 9, now: NOW, leaseMs: 9_000 });
    const deps = { store, wakeUp: createWakeUp(), metrics: createMetrics(), now: () => NOW, emailEvent: 'email' };
    await applyReceipts({ ...deps, mapped: new Map() }, claims);
    expect(await fields(store)).toEqual(['name', 'phone']);
  });
});
