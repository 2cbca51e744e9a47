/** What changed, by polling: nothing is left out, nothing loops, and the clocks need not agree. */
import { describe, expect, it } from 'vitest';
import type { ChangeHint, Changes, Connection } from '../../../../providers/provider.ts';
import { live, openBench, paths } from '../setup.ts';

const NAMES = ['Name', 'CVR_Number__c'];
const MINUTE_MS = 60_000;

/** Calls until nothing is left; fails if that never comes. */
async function sweep(connection: Connection, cursor: string | undefined) {
  const changeHints: ChangeHint[] = [];
  let at = cursor;
  for (let call = 0; call < 50; call += 1) {
    const changes = await connection.changes?.(NAMES, at, live());
    if (changes === undefined) throw new Error('the connection tells no changes');
    changeHints.push(...changes.changeHints);
    at = changes.cursor;
    if (!changes.more) return { changeHints, cursor: at, calls: call + 1 };
  }
  throw new Error('the changes have no end');
}

const ids = (changeHints: readonly ChangeHint[]) => changeHints.map(({ id }) => id);

describe('the changes of accounts', () => {
  it('begin now, with no change hint, and then include new, edited, deleted, merged and restored ones', async () => {
    const { emulator, connection, clock } = await openBench();
    const [a = '', b = '', c = '', d = ''] = ['A', 'B', 'C', 'D'].map((Name) => emulator.add({ Name }));
    clock.now += 60 * MINUTE_MS;
    const start = await sweep(connection, undefined);
    expect(start.changeHints).toEqual([]);
    clock.now += MINUTE_MS;
    const fresh = emulator.add({ Name: 'Ny ApS', CVR_Number__c: '10103940' });
    emulator.edit(a, { Phone: '1' });
    emulator.merge(a, b);
    emulator.remove(c);
    emulator.remove(d);
    emulator.restore(d);
    const { changeHints } = await sweep(connection, start.cursor);
    expect(new Map(changeHints.map((one) => [one.id, one]))).toEqual(
      new Map<string, ChangeHint>([
        [a, { kind: 'seen', id: a, properties: { Name: 'A', CVR_Number__c: null } }],
        [b, { kind: 'moved', id: b, to: a }],
        [c, { kind: 'gone', id: c }],
        [d, { kind: 'seen', id: d, properties: { Name: 'D', CVR_Number__c: null } }],
        [fresh, { kind: 'seen', id: fresh, properties: { Name: 'Ny ApS', CVR_Number__c: '10103940' } }],
      ]),
    );
  });

  it('are returned again for some minutes, and then no more until they change again', async () => {
    const bench = await openBench();
    const { cursor } = await sweep(bench.connection, undefined);
    const id = bench.emulator.add({ Name: 'A' });
    const first = await sweep(bench.connection, cursor);
    const again = await sweep(await bench.connect(), first.cursor);
    bench.clock.now += 20 * MINUTE_MS;
    const late = await sweep(bench.connection, again.cursor);
    const quiet = await sweep(bench.connection, late.cursor);
    expect([first, again, quiet].map(({ changeHints }) => ids(changeHints))).toEqual([[id], [id], []]);
    bench.emulator.edit(id, { Phone: '1' });
    expect(ids((await sweep(bench.connection, quiet.cursor)).changeHints)).toEqual([id]);
  });

  it('include one that was committed after a later one was returned', async () => {
    const { emulator, connection, clock } = await openBench();
    const late = emulator.add({ Name: 'A' });
    clock.now += 60 * MINUTE_MS;
    const start = await sweep(connection, undefined);
    clock.now += 20 * MINUTE_MS;
    const began = clock.now;
    clock.now += 5 * MINUTE_MS;
    emulator.add({ Name: 'B' });
    const first = await sweep(connection, start.cursor);
    // A long transaction stamps its change when it makes it, and shows it when it ends.
    clock.now = began;
    emulator.edit(late, { Phone: '1' });
    clock.now = began + 9 * MINUTE_MS;
    expect(ids((await sweep(connection, first.cursor)).changeHints)).toContain(late);
  });

  it.each([
    ['2,000 a page', 2_000],
    ['short pages', 300],
  ])('are all returned when 4,500 carry one time, in %s', async (_label, pageSize) => {
    const { emulator, connection, clock } = await openBench({ pageSize });
    const start = await sweep(connection, undefined);
    clock.now += MINUTE_MS;
    const burst = Array.from({ length: 4_500 }, (_, at) => emulator.add({ Name: `Nr ${at}` }));
    clock.now += MINUTE_MS;
    const last = emulator.add({ Name: 'Last' });
    const { changeHints } = await sweep(connection, start.cursor);
    expect(new Set(ids(changeHints))).toEqual(new Set([...burst, last]));
  });

  it('are all returned when they spread over seconds, in their order', async () => {
    const { emulator, connection, clock } = await openBench({ pageSize: 50 });
    const start = await sweep(connection, undefined);
    const made = Array.from({ length: 300 }, (_, at) => {
      clock.now += 100;
      return emulator.add({ Name: `Nr ${at}` });
    });
    expect([...new Set(ids((await sweep(connection, start.cursor)).changeHints))]).toEqual(made);
  });

  it('resume from a stored cursor in the middle of a burst, after a restart, with a record edited meanwhile', async () => {
    const bench = await openBench({ pageSize: 200 });
    const { cursor } = await sweep(bench.connection, undefined);
    const made = Array.from({ length: 700 }, (_, at) => bench.emulator.add({ Name: `Nr ${at}` }));
    const seen: ChangeHint[] = [];
    let at: string | undefined = cursor;
    for (let call = 0; call < 3; call += 1) {
      const page: Changes | undefined = await bench.connection.changes?.(NAMES, at, live());
      seen.push(...(page?.changeHints ?? []));
      at = page?.cursor;
    }
    bench.clock.now += 2_000;
    bench.emulator.edit(made[699] ?? '', { Phone: '1' });
    bench.emulator.remove(made[650] ?? '');
    const rest = await sweep(await bench.connect(), at);
    expect(new Set(ids([...seen, ...rest.changeHints]))).toEqual(new Set(made));
    expect(rest.changeHints.find(({ id }) => id === made[650])?.kind).toBe('gone');
  });

  it.each([-30, 30])('are returned by the time of Salesforce when this machine is %i minutes off', async (minutes) => {
    const theirs = { now: Date.parse('2026-10-01T08:00:00Z') };
    const { emulator, connection, clock } = await openBench({ now: () => theirs.now });
    clock.now = theirs.now + minutes * MINUTE_MS;
    const start = await sweep(connection, undefined);
    theirs.now += MINUTE_MS;
    const id = emulator.add({ Name: 'A' });
    const next = await sweep(connection, start.cursor);
    expect(ids(next.changeHints)).toEqual([id]);
    theirs.now += 60 * MINUTE_MS;
    const late = await sweep(connection, next.cursor);
    const quiet = await sweep(connection, late.cursor);
    expect([quiet.changeHints, quiet.calls]).toEqual([[], 1]);
    expect(quiet.cursor).toBe('2026-10-01T08:51:00Z');
  });

  it('omit a field that is hidden from the user', async () => {
    const { emulator, connection } = await openBench();
    const { cursor } = await sweep(connection, undefined);
    emulator.add({ Name: 'A', CVR_Number__c: '10103940' });
    emulator.hideField('CVR_Number__c');
    expect((await sweep(connection, cursor)).changeHints).toMatchObject([{ properties: { Name: 'A' } }]);
  });

  it('cost one call if nothing happened', async () => {
    const { connection, requests, clock } = await openBench();
    const { cursor } = await sweep(connection, undefined);
    await sweep(connection, cursor);
    clock.now += 60 * MINUTE_MS;
    const before = requests.length;
    await sweep(connection, cursor);
    expect(paths(requests.slice(before))).toEqual(['GET /services/data/v67.0/queryAll']);
  });

  it.each(['now', "2026-10-01T08:00:00Z/1/x' OR", '2026-13-01T08:00:00Z/1'])('refuse the cursor %s', async (cursor) => {
    const { connection } = await openBench();
    await expect(connection.changes?.(NAMES, cursor, live())).rejects.toMatchObject({ fault: 'refused' });
  });
});
