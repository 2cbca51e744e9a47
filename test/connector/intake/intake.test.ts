import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { createIntake, type IntakeOptions } from '../../../src/connector/intake/intake.ts';
import type { ReceivedEvent } from '../../../src/connector/intake/receipt.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/open.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const event = (key: string, entity = 'CVR-1-99000015'): ReceivedEvent => ({
  key,
  entity,
  timestamp: '2026-08-14T09:30:00.000Z',
  body: '{}',
});

const open = (store: Store, more: Partial<IntakeOptions> = {}) => {
  const metrics = createMetrics();
  const log = { warn: () => {}, error: () => {} };
  const common = { store, wakeUp: createWakeUp(), now: () => 1_000, metrics, backlogCap: 100, log, minFreeBytes: 0 };
  return { metrics, intake: createIntake({ ...common, ...more }) };
};

const keysIn = async (store: Store): Promise<string[]> =>
  (await store.db.selectFrom('receipt').select('dedupe_key').orderBy('seq').execute()).map((row) => row.dedupe_key);

/** Makes the store refuse the row of one key, whoever inserts it. */
async function refuseKey(store: Store, key: string): Promise<void> {
  const literal = sql.lit(key);
  await store.write(async (tx) => {
    if (store.engine === 'sqlite') {
      await sql`create trigger refuse before insert on receipt when new.dedupe_key = ${literal}
        begin select raise(abort, 'not this one'); end`.execute(tx);
      return;
    }
    await sql`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not this one'; end $$`.execute(tx);
    await sql`create trigger refuse before insert on receipt for each row when (new.dedupe_key = ${literal})
      execute function refuse()`.execute(tx);
  });
}

describe('a crowd of events', () => {
  const together = (from: number, count: number) => Array.from({ length: count }, (_, at) => event(`key ${from + at}`));

  it('asks other work to make way while it comes, and only then', async () => {
    const { intake } = open(await newStore('sqlite'));
    await Promise.all(together(0, 8).map(intake.accept));
    expect(intake.inBurst()).toBe(false);
    await Promise.all(together(8, 32).map(intake.accept));
    expect(intake.inBurst()).toBe(true);
    await vi.waitUntil(() => !intake.inBurst(), 10_000);
  });

  it('makes way itself once half of what may wait does', async () => {
    const { intake } = open(await newStore('sqlite'), { backlogCap: 60 });
    await Promise.all(together(0, 32).map(intake.accept));
    expect(intake.inBurst()).toBe(false);
  });
});

describe.each(ENGINES)('the intake on %s', (engine) => {
  it('stores what comes together in one commit, in order, and marks the companies', async () => {
    const store = await newStore(engine);
    let commits = 0;
    const counting: Store = {
      ...store,
      write: (work) => {
        commits += 1;
        return store.write(work);
      },
    };
    const { intake } = open(counting);
    const events = Array.from({ length: 50 }, (_, at) => event(`key ${at}`, `CVR-1-9900000${at % 3}`));
    expect(new Set(await Promise.all(events.map(intake.accept)))).toEqual(new Set(['stored']));
    expect(commits).toBe(1);
    expect(await keysIn(store)).toEqual(events.map(({ key }) => key));
    const lanes = await store.db.selectFrom('lane').select(['queue', 'key']).orderBy('key').execute();
    expect(lanes).toEqual([0, 1, 2].map((last) => ({ queue: 'apply', key: `CVR-1-9900000${last}` })));
  });

  it('stores one of two equal events, in one commit and in two', async () => {
    const store = await newStore(engine);
    const { intake } = open(store);
    const together = await Promise.all([event('a'), event('b'), event('a'), event('a')].map(intake.accept));
    expect(together).toEqual(['stored', 'stored', 'duplicate', 'duplicate']);
    expect(await Promise.all([event('c'), event('b')].map(intake.accept))).toEqual(['stored', 'duplicate']);
    expect(await keysIn(store)).toEqual(['a', 'b', 'c']);
  });

  it('lets a row the store will not take fail alone', async () => {
    const store = await newStore(engine);
    const { intake } = open(store);
    await refuseKey(store, 'poison');
    const results = await Promise.allSettled(
      ['a', 'poison', 'b', 'poison', 'c'].map((key) => intake.accept(event(key))),
    );
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await keysIn(store)).toEqual(['a', 'b', 'c']);
    expect(await intake.accept(event('d'))).toBe('stored');
  });

  it('counts the backlog up to its cap, and what came since', async () => {
    const store = await newStore(engine);
    const { intake } = open(store, { backlogCap: 4 });
    for (const key of ['a', 'b', 'c']) await intake.accept(event(key));
    await intake.refresh();
    expect(intake.refusal()).toBeUndefined();
    await intake.accept(event('d'));
    expect(intake.refusal()).toBe('4 events wait to be applied, 4 may');
    await store.write((tx) => tx.updateTable('receipt').set({ applied_at: 5 }).execute());
    await intake.refresh();
    expect(intake.refusal()).toBeUndefined();
  });
});

describe('the intake', () => {
  it('forgets no event that comes just as a commit ends', async () => {
    const { intake } = open(await newStore('sqlite'));
    for (let at = 0; at < 20; at++) {
      const next = intake.accept(event(`first ${at}`)).then(() => intake.accept(event(`second ${at}`)));
      expect(await next).toBe('stored');
    }
  });

  it('takes at most 64 into one commit', async () => {
    const { intake, metrics } = open(await newStore('sqlite'));
    await Promise.all(Array.from({ length: 130 }, (_, at) => intake.accept(event(`key ${at}`))));
    const { values } = await metrics.commitBatchSize.get();
    const value = (name: string) => values.find(({ metricName }) => metricName === name)?.value;
    expect(value('cvrsync_commit_batch_size_sum')).toBe(130);
    expect(value('cvrsync_commit_batch_size_count')).toBe(3);
  });

  it('refuses while too many events wait to be stored', async () => {
    const { intake } = open(await newStore('sqlite'), { backlogCap: 1_000 });
    const accepted = Array.from({ length: 256 }, (_, at) => intake.accept(event(`key ${at}`)));
    expect(intake.refusal()).toBe('256 events wait to be stored');
    await Promise.all(accepted);
    expect(intake.refusal()).toBeUndefined();
  });

  it('refuses where the disk is nearly full, and takes events again when there is room', async () => {
    const store = await newStore('sqlite');
    let free = 300 * 1024 * 1024;
    const { intake } = open({ ...store, freeBytes: async () => free }, { minFreeBytes: 256 * 1024 * 1024 });
    await intake.refresh();
    expect(intake.refusal()).toBeUndefined();
    free = 255.5 * 1024 * 1024;
    await intake.refresh();
    expect(intake.refusal()).toBe('255 MiB are free on the disk of the store, 256 MiB are needed');
    free = 256 * 1024 * 1024;
    await intake.refresh();
    expect(intake.refusal()).toBeUndefined();
  });

  it('stores what it has accepted before it stops, and takes no more', async () => {
    const store = await newStore('sqlite');
    const { intake } = open(store);
    intake.start();
    const accepted = intake.accept(event('a'));
    await intake.stop();
    expect(await accepted).toBe('stored');
    expect(intake.refusal()).toBe('stopping');
    await expect(intake.accept(event('b'))).rejects.toThrow('stopping');
    expect(await keysIn(store)).toEqual(['a']);
  });

  it('rings for apply once the event is there to be found', async () => {
    const store = await newStore('sqlite');
    const wakeUp = createWakeUp();
    const { intake } = open(store, { wakeUp });
    const heard = wakeUp.wait('apply', 20_000, new AbortController().signal).then(() => keysIn(store));
    await intake.accept(event('a'));
    expect(await heard).toEqual(['a']);
  });

  it('logs once a minute that a sender gives one id to events that differ', async () => {
    const clock = { now: 100_000 };
    const warnings: object[] = [];
    const log = { warn: (details: object) => void warnings.push(details), error: () => {} };
    const { intake, metrics } = open(await newStore('sqlite'), { log, now: () => clock.now });
    const send = (key: string) => intake.accept({ ...event(key), webhookId: 'msg_1', digest: key });
    for (const key of ['a', 'b', 'c']) expect(await send(key)).toBe('stored');
    expect(warnings).toEqual([{ webhookId: 'msg_1', entity: event('b').entity }]);
    clock.now += 60_000;
    await send('d');
    expect([warnings.length, (await metrics.idsReused.get()).values[0]?.value]).toEqual([2, 3]);
    await intake.stop();
  });
});
