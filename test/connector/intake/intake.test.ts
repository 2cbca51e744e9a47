import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import type { Arrival } from '../../../src/connector/intake/arrivals.ts';
import { createIntake, type IntakeOptions } from '../../../src/connector/intake/intake.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { phoneEvent, readAll } from '../../support/receiver.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

/** An event that is told from others by its webhook-id, which a signature proves. */
const event = (key: string, body: object = phoneEvent(1)): Arrival => ({
  body: JSON.stringify(body),
  webhookId: key,
  isSigned: true,
});

const open = (store: Store, more: Partial<IntakeOptions> = {}) => {
  const metrics = createMetrics();
  const log = { warn: () => {}, error: () => {} };
  const common = { store, wakeUp: createWakeUp(), now: () => 1_000, metrics, log, emailEvent: 'email' };
  return { metrics, intake: createIntake({ ...common, backlogCap: 100, minFreeBytes: 0, ...more }) };
};

const arrived = async (store: Store): Promise<(string | null)[]> =>
  (await store.db.selectFrom('arrival').select('webhook_id').orderBy('seq').execute()).map((row) => row.webhook_id);

/** Makes the store refuse one id, whoever inserts it. */
async function refuseId(store: Store, id: string): Promise<void> {
  const literal = sql.lit(id);
  await store.write(async (tx) => {
    if (store.engine === 'sqlite') {
      await sql`create trigger refuse before insert on arrival when new.webhook_id = ${literal}
        begin select raise(abort, 'not this one'); end`.execute(tx);
      return;
    }
    await sql`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not this one'; end $$`.execute(tx);
    await sql`create trigger refuse before insert on arrival for each row when (new.webhook_id = ${literal})
      execute function refuse()`.execute(tx);
  });
}

describe('a burst of events', () => {
  const together = (from: number, count: number) => Array.from({ length: count }, (_, at) => event(`key ${from + at}`));

  it('delays other work while it lasts', async () => {
    const { intake } = open(await newStore('sqlite'));
    await Promise.all(together(0, 8).map(intake.accept));
    expect(intake.inBurst()).toBe(false);
    await Promise.all(together(8, 32).map(intake.accept));
    expect(intake.inBurst()).toBe(true);
    await vi.waitUntil(() => !intake.inBurst(), 120_000);
  });

  it('yields once half of the backlog limit waits', async () => {
    const { intake } = open(await newStore('sqlite'), { backlogCap: 60 });
    await Promise.all(together(0, 32).map(intake.accept));
    expect(intake.inBurst()).toBe(false);
  });
});

describe.each(ENGINES)('the intake on %s', (engine) => {
  it('stores simultaneous events in one commit, in order', async () => {
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
    const ids = Array.from({ length: 50 }, (_, at) => `key ${at}`);
    await Promise.all(ids.map((id) => intake.accept(event(id))));
    expect(commits).toBe(1);
    expect(await arrived(store)).toEqual(ids);
  });

  it('fails only the row that the store refuses', async () => {
    const store = await newStore(engine);
    const { intake } = open(store);
    await refuseId(store, 'poison');
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
    expect(await arrived(store)).toEqual(['a', 'b', 'c']);
    await intake.accept(event('d'));
    expect(await arrived(store)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('counts the backlog up to its cap, with unread and new events', async () => {
    const store = await newStore(engine);
    const { intake } = open(store, { backlogCap: 4 });
    for (const key of ['a', 'b', 'c']) await intake.accept(event(key));
    await intake.refresh();
    expect(intake.refusal()).toBeUndefined();
    await readAll(store, intake);
    await intake.accept(event('d'));
    expect(intake.refusal()).toBe('4 events wait to be applied, 4 may');
    await intake.refresh();
    expect(intake.refusal()).toBe('4 events wait to be applied, 4 may');
    await store.write((tx) => tx.updateTable('receipt').set({ applied_at: 5 }).execute());
    await intake.refresh();
    expect(intake.refusal()).toBeUndefined();
  });
});

describe('the intake', () => {
  it('counts the backlog without reading applied events', async () => {
    const store = await newStore('sqlite');
    const { rows } = await sql<{ detail: string }>`explain query plan
      select 1 from receipt where applied_at is null limit 100`.execute(store.db);
    expect(rows.map(({ detail }) => detail)).toEqual([expect.stringContaining('receipt_unapplied')]);
  });

  it('loses no event that arrives as a commit ends', async () => {
    const store = await newStore('sqlite');
    const { intake } = open(store);
    for (let at = 0; at < 20; at++)
      await intake.accept(event(`first ${at}`)).then(() => intake.accept(event(`second ${at}`)));
    expect(await arrived(store)).toHaveLength(40);
  });

  it('stores at most 64 events in one commit', async () => {
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

  it('refuses while the disk is nearly full, and accepts events again when it has space', async () => {
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

  it('stores accepted events before it stops, and accepts no more', async () => {
    const store = await newStore('sqlite');
    const { intake } = open(store);
    intake.start();
    const accepted = intake.accept(event('a'));
    await intake.stop();
    await accepted;
    expect(intake.refusal()).toBe('stopping');
    await expect(intake.accept(event('b'))).rejects.toThrow('stopping');
    expect(await arrived(store)).toEqual(['a']);
  });

  it('wakes apply once the event is stored', async () => {
    const store = await newStore('sqlite');
    const wakeUp = createWakeUp();
    const { intake } = open(store, { wakeUp });
    const heard = wakeUp.wait('apply', 20_000, new AbortController().signal).then(() => arrived(store));
    await intake.accept(event('a'));
    expect(await heard).toEqual(['a']);
  });

  it('logs once a minute that a sender reuses an id for different events', async () => {
    const clock = { now: 100_000 };
    const warnings: object[] = [];
    const log = { warn: (details: object) => void warnings.push(details), error: () => {} };
    const store = await newStore('sqlite');
    const { intake, metrics } = open(store, { log, now: () => clock.now });
    const send = async (number: number) => {
      await intake.accept({ ...event('msg_1', phoneEvent(number)), isSigned: false });
      await readAll(store, intake);
    };
    for (const number of [1, 2, 3]) await send(number);
    expect(warnings).toEqual([{ webhookId: 'msg_1', entity: phoneEvent(2).entityId }]);
    clock.now += 60_000;
    await send(4);
    expect([warnings.length, (await metrics.idsReused.get()).values[0]?.value]).toEqual([2, 3]);
    await intake.stop();
  });
});
