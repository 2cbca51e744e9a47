/** The audit: stored, filtered, and deleted after its time. */
import { describe, expect, it } from 'vitest';
import { STORE_TASKS } from '../../src/runtime/housekeeping/periodic-tasks.ts';
import { type AuditEntry, readAudit, recordAudit } from '../../src/runtime/operators/audit.ts';
import { ENGINES, newStore } from '../support/stores.ts';

const DAY_MS = 86_400_000;
const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  actor: { kind: 'operator', name: 'Ida' },
  via: 'page',
  action: 'record.hold',
  subject: 'hubspot:1',
  result: 'held',
  ...more,
});

describe.each(ENGINES)('the audit on %s', (engine) => {
  it('shows the newest first, filtered, and page by page', async () => {
    const store = await newStore(engine);
    const all = [
      entry({ detail: { property: 'name' } }),
      entry({ actor: { kind: 'user', name: 'root' }, via: 'command', subject: undefined }),
      entry({ action: 'record.release' }),
    ];
    await store.write(async (tx) => {
      for (const [at, each] of all.entries()) await recordAudit(tx, each, at);
    });
    const rows = await readAudit(store.db, {}, 2);
    expect(rows).toMatchObject([all[2], { ...all[1], at: 1 }]);
    expect(await readAudit(store.db, { before: rows[1]?.id }, 2)).toMatchObject([all[0]]);
    const found = async (filter: Parameters<typeof readAudit>[1]) =>
      (await readAudit(store.db, filter, 9)).map(({ at }) => at);
    expect(await found({ actor: 'Ida' })).toEqual([2, 0]);
    expect(await found({ action: 'record.hold', subject: 'hubspot:1' })).toEqual([0]);
    expect(await found({ via: 'command' })).toEqual([1]);
  });

  it('is kept for 400 days', async () => {
    const store = await newStore(engine);
    await store.write((tx) => recordAudit(tx, entry(), 0));
    const prune = (now: number) => STORE_TASKS['audit']?.run({ store, now: () => now }, new AbortController().signal);
    await prune(400 * DAY_MS);
    expect(await readAudit(store.db, {}, 9)).toHaveLength(1);
    await prune(400 * DAY_MS + 1);
    expect(await readAudit(store.db, {}, 9)).toEqual([]);
  });
});
