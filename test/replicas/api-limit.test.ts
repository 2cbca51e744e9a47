/** The limit of calls of an API key, where several daemons on one PostgreSQL answer them. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSharedCallLimit, trimWindows } from '../../src/http/server/shared-call-limit.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { createAccess } from '../../src/service/routes/access.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { stillClock } from '../support/clock.ts';
import { newStoreUrl } from '../support/stores.ts';

const MINUTE_MS = 60_000;

async function daemons(count: number) {
  const url = await newStoreUrl('postgres');
  const stores = [];
  for (let at = 0; at < count; at += 1) {
    const store = await openStore(url);
    onTestFinished(() => store.close());
    stores.push(store);
  }
  return stores;
}

/** Calls that were let through. */
const passed = (answers: readonly (number | undefined)[]) => answers.filter((answer) => answer === undefined).length;

describe('the API limit is shared by the daemons of one store', () => {
  it('never lets more through in a minute, and nearly all of it where both are asked at once', async () => {
    const clock = stillClock();
    const stores = await daemons(2);
    const windows = stores.map((store) => createSharedCallLimit({ store, name: 'api', limit: 500, now: clock.now }));
    const burst = () => Promise.all(Array.from({ length: 800 }, async (_, at) => windows[at % 2]?.('key')));
    expect(passed(await burst())).toBe(500);
    clock.forward(MINUTE_MS);
    const next = await burst();
    expect(passed(next)).toBe(500);
    expect(next.filter((wait) => wait !== undefined && (wait < 1 || wait > 60))).toEqual([]);
  });

  it('leaves nearly all to the one that is asked when the other has calls in hand', async () => {
    const clock = stillClock();
    const [one, other] = (await daemons(2)).map((store) =>
      createSharedCallLimit({ store, name: 'api', limit: 500, now: clock.now }),
    );
    let first = 0;
    for (; first < 60; first += 1) expect(await one?.('key')).toBeUndefined();
    let rest = 0;
    while ((await other?.('key')) === undefined) rest += 1;
    expect(first + rest).toBeGreaterThanOrEqual(491);
    // What the first still has in hand, and not one more.
    while ((await one?.('key')) === undefined) rest += 1;
    expect(first + rest).toBe(500);
  });

  it('asks the store once for some ten calls, and not at all once nothing is left', async () => {
    const clock = stillClock();
    const [store] = await daemons(1);
    if (store === undefined) throw new Error('there is no store');
    let writes = 0;
    const counted: typeof store = {
      ...store,
      write: (work) => {
        writes += 1;
        return store.write(work);
      },
    };
    const call = createSharedCallLimit({ store: counted, name: 'api', limit: 500, now: clock.now });
    for (let at = 0; at < 300; at += 1) await call('key');
    expect(writes).toBeLessThan(40);
    while ((await call('key')) === undefined);
    writes = 0;
    for (let at = 0; at < 100; at += 1) expect(await call('key')).toBeGreaterThan(0);
    expect(writes).toBe(0);
  });

  it('holds for daemons whose clocks differ by some seconds', async () => {
    const clock = stillClock();
    const [one, other] = (await daemons(2)).map((store, at) =>
      createSharedCallLimit({ store, name: 'api', limit: 50, now: () => clock.now() - at * 5_000 }),
    );
    let made = 0;
    for (let at = 0; at < 100; at += 1) {
      if ((await one?.('key')) === undefined) made += 1;
      if ((await other?.('key')) === undefined) made += 1;
    }
    expect(made).toBe(50);
  });

  it('answers 429 to a key that another daemon let through so often, and to no other key', async () => {
    const clock = stillClock();
    const stores = await daemons(2);
    const doors = stores.map((store) => createAccess({ store, requestsPerMinute: 3, now: clock.now }));
    const keys: { readonly key: string }[] = [];
    const [store = expect.fail()] = stores;
    for (const name of ['A', 'B'])
      keys.push(await store.write((tx) => createKey(tx, { name, scopes: ['monitoring'] }, clock.now())));
    const call = async (door: number, key: number): Promise<string> =>
      (await doors[door]?.checkKey(keys[key]?.key ?? '', 'monitoring').then(
        () => 'in',
        (error: Error) => error.message,
      )) ?? '';
    expect([await call(0, 0), await call(1, 0), await call(0, 0)]).toEqual(['in', 'in', 'in']);
    expect(await call(1, 0)).toMatch(/limit of 3 calls a minute/);
    expect(await call(1, 1)).toBe('in');
  });

  it('forgets the counts of who has not called for a day', async () => {
    const clock = stillClock();
    const [store] = await daemons(1);
    if (store === undefined) throw new Error('there is no store');
    const call = createSharedCallLimit({ store, name: 'api', limit: 5, now: clock.now });
    await call('old');
    clock.forward(25 * 60 * MINUTE_MS);
    await call('young');
    await store.write((tx) => trimWindows(tx, clock.now()));
    const rows = await store.db.selectFrom('call_window').select('key').execute();
    expect(rows).toEqual([{ key: 'api young' }]);
  });
});
