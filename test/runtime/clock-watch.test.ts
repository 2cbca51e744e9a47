/** The clock of a machine is earlier than the times in the store. */
import { describe, expect, it } from 'vitest';
import { clockFindings } from '../../src/commands/check/daemons.ts';
import { createClockWatch, recordClock } from '../../src/runtime/clock-watch.ts';
import { mark, park } from '../../src/runtime/lanes/lanes.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, newStoreUrl } from '../support/stores.ts';

const NOW = 1_785_000_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function watched(engine: (typeof ENGINES)[number], now: number) {
  const url = await newStoreUrl(engine);
  const store = await openStore(url, { claim: true });
  const lines: object[] = [];
  const log = { warn: (details: object, message: string) => void lines.push({ ...details, message }) };
  const clock = { now };
  return { url, store, lines, clock, look: createClockWatch({ store, now: () => clock.now, log, beatMs: 10_000 }) };
}

async function fill(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await mark(tx, 'q', ['was due'], NOW);
    await mark(tx, 'q', ['was due in a minute'], NOW + MINUTE);
    await park(tx, 'q', 'parked', { at: NOW, error: 'why' });
    await recordClock(tx, NOW);
  });
}

const dueTimes = async ({ db }: Store) => {
  const rows = await db.selectFrom('lane').select(['key', 'due_at']).orderBy('key').execute();
  return Object.fromEntries(rows.map(({ key, due_at }) => [key, due_at]));
};

describe.each(ENGINES)('a clock that was set back, on %s', (engine) => {
  it('keeps the remaining waits of waiting work, once, and is reported', async () => {
    const { store, lines, clock, look } = await watched(engine, NOW);
    await fill(store);
    await look();
    expect(lines).toEqual([]);
    expect(await clockFindings(store, NOW)).toEqual([]);

    clock.now = NOW - HOUR;
    expect(await clockFindings(store, clock.now)).toMatchObject([
      {
        level: 'warn',
        subject: 'clock',
        found: expect.stringMatching(/3600 s ahead of this machine's clock; 1 lanes wait/),
      },
    ]);
    await look();
    const moved = { 'was due': clock.now, 'was due in a minute': clock.now + MINUTE - 10_000, parked: null };
    expect(await dueTimes(store)).toEqual(moved);
    expect(lines).toMatchObject([{ aheadSeconds: 3600, moved: 2, message: expect.stringContaining('is earlier') }]);
    await look();
    expect(await dueTimes(store)).toEqual(moved);
    expect(lines).toHaveLength(1);

    await store.write((tx) => recordClock(tx, clock.now));
    await look();
    clock.now -= HOUR;
    await look();
    expect(lines).toHaveLength(2);
    await store.close();
  });

  it('is ignored if it is a few seconds', async () => {
    const { store, lines, clock, look } = await watched(engine, NOW);
    await fill(store);
    clock.now = NOW - 4_000;
    await look();
    expect([lines, (await dueTimes(store))['was due']]).toEqual([[], NOW]);
    await store.close();
  });
});

it('a clock behind that of another daemon on PostgreSQL moves nothing, and is reported once', async () => {
  const { url, store, lines, clock, look } = await watched('postgres', NOW - HOUR);
  await fill(store);
  const other = await openStore(url, { claim: true });
  await look();
  await look();
  expect((await dueTimes(store))['was due']).toBe(NOW);
  expect(lines).toMatchObject([{ message: expect.stringContaining('behind that of another daemon') }]);
  await other.close();
  clock.now = NOW;
  await look();
  expect(lines).toHaveLength(1);
  await store.close();
});
