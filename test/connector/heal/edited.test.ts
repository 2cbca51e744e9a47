/** What people edit between two events: the poll of changes finds it, and finds nothing in our own writes. */
import { describe, expect, test } from 'vitest';
import { readDifferences } from '../../../src/connector/history/differences.ts';
import { readValue } from '../../../src/store/kv.ts';
import { CRMS, ENTITY, renamed } from '../../faults/company.ts';
import { handClock } from '../../support/clock.ts';
import { startFixture } from '../../support/fixture.ts';
import { ENGINES } from '../../support/stores.ts';

const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));
const WAITING = { timeout: 120_000, interval: 50 };
const POLL_MS = 10 * 60_000;

describe.each(CASES)('a person edits a record in $crm, with $engine', ({ crm, engine, name, own, read, write }) => {
  async function polled() {
    const clock = handClock();
    const time = { now: clock.now };
    const fixture = await startFixture({
      ...{ engine, clock, hubspot: time, salesforce: time },
      connections: { [crm]: { pollMinutes: 10 } },
    });
    const { db } = fixture.app.store;
    /** Has the queues that go by the clock looked at now: by themselves they look once a second of the machine's. */
    const wake = () => fixture.app.connector?.wake();
    const cursor = () => readValue(db, `changes:${crm}`);
    await expect.poll(cursor, WAITING).toBeDefined();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    const checks = () => db.selectFrom('lane').select('key').where('queue', 'like', 'edits:%').execute();
    /** The later look for lost edits and for editors reads the history of each, once. */
    const checked = () =>
      expect
        .poll(async () => {
          await fixture.forward(30_000);
          wake();
          return checks();
        }, WAITING)
        .toEqual([]);
    await checked();
    /** Lets the CRM be asked for its changes, and what follows from them be done. */
    const poll = async (): Promise<void> => {
      const before = await cursor();
      clock.forward(POLL_MS);
      await expect
        .poll(() => {
          clock.forward(100);
          wake();
          return cursor();
        }, WAITING)
        .not.toBe(before);
      await fixture.settled();
    };
    const calls = (match: string): number =>
      fixture[crm].calls.filter(({ method, path }) => new RegExp(match, 'u').test(`${method} ${path}`)).length;
    const differences = async () =>
      (await readDifferences(db, clock.now(), {}, 10)).map(({ property, crm: held }) => `${property} ${held}`);
    return { fixture, id, poll, checked, calls, differences };
  }

  test('the difference appears once at the next poll, and disappears at the poll after the person reverts it', async () => {
    const { fixture, id, poll, checked, calls, differences } = await polled();
    fixture[crm].edit(id, { [name]: 'B ApS (VIP)' });
    await poll();
    expect(await differences()).toEqual([`${name} "B ApS (VIP)"`]);
    await checked();
    const reads = calls(read);
    await poll();
    await poll();
    expect(calls(read)).toBe(reads);
    const decided = (await fixture.history(id)).filter(({ property, rule }) => property === name && rule === 'edited');
    expect(decided).toHaveLength(1);
    fixture[crm].edit(id, { [name]: 'B ApS' });
    await poll();
    expect(await differences()).toEqual([]);
  });

  test('our own writes, and a property that is always written, cause neither reads nor writes', async () => {
    const { fixture, id, poll, calls, differences } = await polled();
    const [reads, writes] = [calls(read), calls(write)];
    await poll();
    fixture[crm].edit(id, { [own]: 'AS A WORKFLOW SPELLS IT' });
    await poll();
    await poll();
    expect([calls(read), calls(write), await differences()]).toEqual([reads, writes, []]);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'AS A WORKFLOW SPELLS IT' });
  });
});
