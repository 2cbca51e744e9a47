/** At a million links, on SQLite: every statement finds what it asks for by an index, and none reads a whole table. */
import { describe, expect, it, test } from 'vitest';
import { applyReceipts } from '../../src/connector/apply/apply.ts';
import { decideRows } from '../../src/connector/backfill/decide-rows.ts';
import type { ScanRow } from '../../src/connector/backfill/rows/scan-rows.ts';
import { findCompanies } from '../../src/connector/explain/find-company.ts';
import { readTimeline } from '../../src/connector/explain/timeline.ts';
import { countDifferences, readDifferences } from '../../src/connector/history/differences.ts';
import { endLink, listLinks, recordsOf } from '../../src/connector/links/links.ts';
import { countInbox, readInbox } from '../../src/connector/review/inbox.ts';
import { REVIEW_KINDS } from '../../src/connector/review/review-kinds.ts';
import { countReview, readReview } from '../../src/connector/review/review-list.ts';
import { readAffected } from '../../src/connector/undo/writes.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { readConnections } from '../../src/operations/installation/status/connections.ts';
import { readShares, readTrends } from '../../src/operations/installation/status/trends.ts';
import { wake } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import type { Db, Store } from '../../src/store/store.ts';
import { ALL_LINKS, plansOf, wholeTables } from './query-plans.ts';

/** Amid the links in conflict. */
const PLACE = { source: 2, id: 'link/hubspot/1', since: null };

describe('at a million links, no query of a person reads a whole table', () => {
  const questions: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    'links --record': (db) => listLinks(db, { recordId: '1', limit: 10 }),
    'links --state': (db) => listLinks(db, { state: 'conflict', limit: 10 }),
    'links --entity': (db) => listLinks(db, { entity: 'CVR-1-1', limit: 10 }),
    explain: (db) => readTimeline(db, 'CVR-1-1', { now: 1, emailEvent: 'email', limit: 50 }),
    'review list': (db) => readReview(db, 1, { limit: 100 }),
    'review, how much in all': (db) => countReview(db, 1, { limit: 10_001 }),
    'review list --kind difference': (db) => readDifferences(db, 1, { provider: 'hubspot' }, 100),
    'review, how many differences': (db) => countDifferences(db, 1, {}, 10_001),
    'the inbox, a page of it': (db) => readInbox(db, 1, { after: PLACE }, 50),
    'the inbox of a connection': (db) => readInbox(db, 1, { provider: 'hubspot', after: PLACE }, 50),
    'the inbox, differences of a property': (db) =>
      readInbox(db, 1, { kind: 'difference', provider: 'hubspot', property: 'name' }, 50),
    'the inbox, how much by its facets': async (db) => {
      for (const kind of REVIEW_KINDS) await countInbox(db, 1, { kind, provider: 'hubspot' }, 1_001);
    },
    'the charts on the dashboard': (db) => readTrends(db, 'hour', 1),
    'the share in sync on the dashboard': (db) => readShares(db, 1),
  };
  it('undo reads the window of history, of one connection or of all', async () => {
    for (const provider of ['hubspot', undefined]) {
      const plans = await plansOf((db) => readAffected(db, { provider, since: 1 }));
      expect(plans).toContain('SEARCH history USING INTEGER PRIMARY KEY (rowid>?)');
      expect(plans.filter((plan) => /history_record/.test(plan))).toEqual([]);
    }
    const ofRecord = await plansOf((db) => readAffected(db, { provider: 'hubspot', record: '1', since: 1 }));
    expect(ofRecord).toContainEqual(expect.stringContaining('history_record (provider=? AND record_id=?'));
  });
  it('review list reads lanes and values in the order of their indexes', async () => {
    const plans = await plansOf((db) => readReview(db, 1, { limit: 100 }));
    expect(plans.filter((plan) => /TEMP B-TREE FOR ORDER BY/.test(plan))).toEqual([]);
    expect(plans).toContainEqual(expect.stringContaining('USING INDEX lane_parked'));
  });
  it('waiting lanes are woken by their keys, without a search of all', async () => {
    const plans = await plansOf((db) =>
      db.transaction().execute((tx) => wake(tx, ['note:crm', 'sync:crm'], ['1'], { dueAt: 5, because: 'it waits' })),
    );
    expect(plans).toContainEqual(expect.stringMatching(/^SEARCH lane USING PRIMARY KEY \(queue=\? AND key=\?\)$/));
  });
  it('the newest decisions and the first names are read in the order of a key', async () => {
    const limits = { budgets: { default: { calls: 1, perMs: 1 } } } as never;
    const plans = await plansOf(async (db) => {
      await readConnections(db, [{ name: 'hubspot', limits }], 1);
      await findCompanies(db, [], { text: 'birk', limit: 50 });
    });
    expect(plans).toContainEqual(expect.stringMatching(/^SCAN history$/));
    expect(plans).toContainEqual(expect.stringMatching(/^SCAN fact USING INDEX fact_name$/));
    expect(plans.filter((plan) => /TEMP B-TREE/.test(plan))).toEqual([]);
  });
  it('refused links and differences are found by their own indexes', async () => {
    const refused = await plansOf((db) => readReview(db, 1, { kinds: ['link'], limit: 100 }));
    expect(refused).toContainEqual(expect.stringContaining('SCAN link USING INDEX link_refused'));
    const differences = await plansOf(async (db) => {
      await readDifferences(db, 1, {}, 100);
      await countDifferences(db, 1, {}, 100);
    });
    expect(differences.filter((plan) => /property_state_kept/.test(plan))).toHaveLength(2);
    expect(differences.filter((plan) => ALL_LINKS.test(plan))).toEqual([]);
  });
  test.each(Object.entries(questions))('%s', async (_, ask) => {
    const plans = await plansOf(ask);
    expect(plans).not.toEqual([]);
    expect(wholeTables(plans)).toEqual([]);
  });
});

describe('at a million links, a step of the daemon finds the links of its companies by index', () => {
  const writing = (db: Db): Store =>
    ({ db, engine: 'sqlite', write: (work) => db.transaction().execute(work) }) satisfies Partial<Store> as Store;
  const scanned = (at: number, entity: string): ScanRow => ({
    ...{ record_id: `${at}`, position: at, name: null, found: null, entity },
    ...{ verdict: 'matched', action: 'link', state: 'planned', detail: null },
  });
  const steps: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    'events are applied, with parents': (db) =>
      applyReceipts(
        {
          ...{ store: writing(db), wakeUp: createWakeUp(), metrics: createMetrics(), now: () => 1 },
          ...{ mapped: new Map([['hubspot', new Set(['name' as const])]]), parents: new Set(['hubspot']) },
        },
        [{ queue: 'apply', key: 'CVR-1-1', fence: 1, marks: 1, attempts: 0, since: 1, unended: 0 }],
      ),
    'a link ends, and its rivals are looked for': (db) =>
      db
        .transaction()
        .execute((tx) => endLink(tx, { provider: 'hubspot', recordId: '1', state: 'gone', reason: 'deleted', now: 1 })),
    'the records of companies are listed': (db) => recordsOf(db, ['CVR-1-1', 'CVR-1-2']),
    'the companies of a scan are compared with the links': (db) =>
      decideRows(db, 'hubspot', [scanned(2, 'CVR-1-1'), scanned(3, 'CVR-1-2')]),
  };
  test.each(Object.entries(steps))('%s', async (_, step) => {
    const plans = (await plansOf(step)).filter((plan) => /^S\w+ link\b/.test(plan));
    expect(plans).toContainEqual(expect.stringMatching(/USING INDEX link_entity \(entity=\?/));
    expect(plans.filter((plan) => ALL_LINKS.test(plan) || /^SCAN/.test(plan))).toEqual([]);
  });
});
