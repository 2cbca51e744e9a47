/** A poison event is quarantined after it has cost its budget: real processes that die of it. */
import { describe, expect, test } from 'vitest';
import { readFacts } from '../../../src/connector/facts/facts.ts';
import { createIntake } from '../../../src/connector/intake/intake.ts';
import { retryQuarantined } from '../../../src/connector/intake/quarantined.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { type Updates, type Writable, writePayload } from '../../../src/protocol/payload.ts';
import { claim, mark, settle } from '../../../src/runtime/lanes/lanes.ts';
import { poisonReason } from '../../../src/runtime/lanes/poison.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY, OTHER, reported } from '../../faults/company.ts';
import { live } from '../../support/dying.ts';
import { readAll } from '../../support/receiver.ts';
import { newStore, newStoreUrl, opened, SUITE_ENGINES } from '../../support/stores.ts';

const HOUR_8 = 8;
const named = (after: string): Updates => ({ name: { before: null, after } });
const phoned = (after: string): Updates => ({ phoneNumber: { before: null, after } });

/** Events that came before any worker ran: their order is known. */
async function receive(store: Store, events: readonly Writable[]): Promise<void> {
  const log = { warn: () => {}, error: () => {} };
  const intake = createIntake({
    store,
    wakeUp: createWakeUp(),
    now: Date.now,
    metrics: createMetrics(),
    backlogCap: 1_000,
    log,
    emailEvent: 'email',
    minFreeBytes: 0,
  });
  for (const event of events) {
    await intake.accept({ body: JSON.stringify(writePayload(event)), webhookId: undefined, isSigned: false });
  }
  // Read already: what a test is to find are receipts.
  await readAll(store, intake);
}

const waiting = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('receipt').select('seq').where('applied_at', 'is', null).execute()).length;

const facts = async (store: Store, entity: string): Promise<Record<string, unknown>> =>
  Object.fromEntries((await readFacts(store.db, [entity])).map(({ field, value }) => [field, value]));

describe.each(SUITE_ENGINES)('A poison event is quarantined after it has cost its budget on %s', (engine) => {
  test('the process survives after four deaths, and all other events are applied', async () => {
    const url = await newStoreUrl(engine);
    // Two seconds of CPU, once: the engine has no part in it.
    const isSlowToo = engine === 'sqlite';
    const store = await opened(url);
    await receive(store, [
      reported(named('Birk ApS'), HOUR_8),
      reported(named('Lind ApS'), HOUR_8, OTHER),
      reported(named('Gift ApS'), HOUR_8 + 1),
      reported(phoned('12345678'), HOUR_8 + 2),
      reported(named(isSlowToo ? 'Sirup ApS' : 'Saft ApS'), HOUR_8 + 1, OTHER),
    ]);
    const { deaths, log } = await live(url);
    expect(deaths).toBe(4);
    expect(await waiting(store)).toBe(0);

    expect(await facts(store, ENTITY)).toMatchObject({ name: { scalar: 'Birk ApS' }, phone: { scalar: '12345678' } });
    expect(await facts(store, OTHER)).toMatchObject({ name: { scalar: isSlowToo ? 'Sirup ApS' : 'Saft ApS' } });
    const quarantined = await store.db
      .selectFrom('receipt')
      .select(['entity', 'quarantined'])
      .where('quarantined', 'is not', null)
      .execute();
    expect(quarantined).toEqual([
      { entity: ENTITY, quarantined: expect.stringMatching(/^cvrsync began to read it 3 times, .* died/u) },
    ]);
    const [review] = (await readReview(store.db, Date.now())).filter(({ id }) => id.startsWith('event/'));
    expect(review).toMatchObject({ reason: expect.stringContaining('began to read it 3 times') });
    expect(log).toContain('an event was quarantined: see cvrsync review list');
    if (isSlowToo) expect(log).toMatch(/cvrsync took long to read an event.*"cpuSeconds":\d/u);

    // A person may have it tried again, with a whole budget.
    const poison = await store.db
      .selectFrom('receipt')
      .select('seq')
      .where('quarantined', 'is not', null)
      .executeTakeFirstOrThrow();
    expect(await store.write((tx) => retryQuarantined(tx, poison.seq, Date.now()))).toBe(true);
    const retried = await store.db
      .selectFrom('receipt')
      .select('begun')
      .where('seq', '=', poison.seq)
      .executeTakeFirst();
    expect(retried?.begun).toBe(0);
  });

  test('a claim counts earlier claims that never ended, and a settlement resets the count', async () => {
    const store = await newStore(engine);
    await store.write((tx) => mark(tx, 'apply', ['a'], 0));
    const take = async (now: number) => {
      const [taken] = await claim(store, 'apply', { limit: 1, now, leaseMs: 10 });
      if (taken === undefined) throw new Error('nothing to claim');
      return taken;
    };
    expect((await take(0)).unended).toBe(0);
    expect((await take(10)).unended).toBe(1);
    const third = await take(20);
    expect(third.unended).toBe(2);
    await store.write((tx) => settle(tx, third, { kind: 'again', at: 25 }));
    expect((await take(30)).unended).toBe(0);
  });
});

test('an event that was read completely has no count, even if its process died earlier', () => {
  expect([0, 1, 2].map(poisonReason)).toEqual([undefined, undefined, undefined]);
  expect(poisonReason(3)).toContain('3 times');
});
