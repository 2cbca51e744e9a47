import { describe, expect, it } from 'vitest';
import { readCursor } from '../../../../providers/hubspot/read/changes-cursor.ts';
import type { ChangeHint, Changes, Connection } from '../../../../providers/provider.ts';
import { type Bench, faultFrom, live, openBench } from '../setup.ts';

const START = Date.parse('2026-06-10T12:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Watch extends Bench {
  forward(ms: number): void;
  /** Everything told since the last time. */
  reported(): Promise<ChangeHint[]>;
}

/** An account with a clock by hand, watched from now on. */
async function openWatch(options: Parameters<typeof openBench>[0] = {}, names = ['cvr_number']): Promise<Watch> {
  let now = START;
  const bench = await openBench({ searchRate: 'none', now: () => now, ...options });
  const forward = (ms: number) => {
    now += ms;
  };
  let { cursor } = (await bench.connection.changes?.(names, undefined, live())) ?? { cursor: '' };
  return {
    ...bench,
    forward,
    async reported() {
      const { changeHints, cursor: next } = await drain(bench.connection, names, cursor);
      cursor = next;
      return changeHints;
    },
  };
}

async function drain(connection: Connection, names: string[], from: string) {
  const changeHints: ChangeHint[] = [];
  let changes: Changes = { changeHints, cursor: from, more: true };
  while (changes.more) {
    changes = await ask(connection, names, changes.cursor);
    changeHints.push(...changes.changeHints);
  }
  return { changeHints, cursor: changes.cursor };
}

async function ask(connection: Connection, names: string[], cursor: string | undefined): Promise<Changes> {
  if (connection.changes === undefined) throw new Error('the connection does not tell changes');
  return connection.changes(names, cursor, live());
}

const idsOf = (changeHints: readonly ChangeHint[], kind: ChangeHint['kind'] = 'seen') =>
  new Set(changeHints.filter((changeHint) => changeHint.kind === kind).map(({ id }) => id));

describe('changes', () => {
  it('begin now, and return new, edited and restored companies with the requested properties', async () => {
    const { emulator, forward, reported } = await openWatch();
    const add = (name: string, cvr: string) => emulator.add({ name, cvr_number: cvr });
    const [old, edited, deleted] = [add('A', '11111111'), add('B', '22222222'), add('C', '33333333')];
    emulator.remove(deleted);
    forward(HOUR_MS);
    await reported();
    forward(HOUR_MS);
    expect(idsOf(await reported())).toEqual(new Set());
    emulator.edit(edited, { name: 'B ApS' });
    emulator.restore(deleted);
    const fresh = add('D', '44444444');
    forward(MINUTE_MS);
    const changeHints = await reported();
    expect(changeHints).toContainEqual({ kind: 'seen', id: fresh, properties: { cvr_number: '44444444' } });
    expect(idsOf(changeHints)).toEqual(new Set([edited, deleted, fresh]));
    expect(idsOf(changeHints).has(old)).toBe(false);
  });

  it('name the survivor of a merge for both of its companies', async () => {
    const { emulator, reported } = await openWatch();
    const [a, b] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
    const survivor = emulator.merge(a, b);
    expect(await reported()).toEqual(
      expect.arrayContaining([
        { kind: 'moved', id: a, to: survivor },
        { kind: 'moved', id: b, to: survivor },
        { kind: 'seen', id: survivor, properties: { cvr_number: null } },
      ]),
    );
  });

  it('include companies that the search index shows late', async () => {
    const { emulator, forward, reported } = await openWatch({ searchLagMs: 4 * MINUTE_MS });
    const late = emulator.add({ name: 'Late' });
    const seen = new Set<string>();
    for (let minute = 0; minute < 12; minute += 1) {
      // The mark goes on with HubSpot's clock, past the change that is not shown yet.
      forward(MINUTE_MS);
      for (const id of idsOf(await reported())) seen.add(id);
    }
    expect(seen).toEqual(new Set([late]));
    forward(HOUR_MS);
    await reported();
    expect(idsOf(await reported())).toEqual(new Set());
  });

  it('include deleted companies, with at most one walk over the archive an hour', async () => {
    const { emulator, forward, reported, calls } = await openWatch();
    const ids = Array.from({ length: 250 }, (_, i) => emulator.add({ name: `Nr ${i}` }));
    await reported();
    for (const id of ids) emulator.remove(id);
    calls();
    forward(HOUR_MS - 1);
    expect(idsOf(await reported(), 'gone')).toEqual(new Set());
    expect(calls().filter((line) => line.startsWith('GET'))).toEqual([]);
    forward(1);
    expect(idsOf(await reported(), 'gone')).toEqual(new Set(ids));
    expect(calls().filter((line) => line.startsWith('GET'))).toHaveLength(3);
    forward(HOUR_MS - 1);
    await reported();
    expect(calls().filter((line) => line.startsWith('GET'))).toEqual([]);
    forward(HOUR_MS);
    expect(idsOf(await reported(), 'gone')).toEqual(new Set());
  });

  it('include a company that was deleted during a walk over the archive at the next walk', async () => {
    const { emulator, connection, forward } = await openWatch();
    const ids = Array.from({ length: 150 }, (_, i) => emulator.add({ name: `Nr ${i}` }));
    let { cursor } = await ask(connection, [], undefined);
    for (const id of ids.slice(20)) emulator.remove(id);
    forward(HOUR_MS);
    for (const step of ['search', 'first page of the archive']) {
      const changes = await ask(connection, [], cursor);
      expect([step, changes.more]).toEqual([step, true]);
      cursor = changes.cursor;
    }
    const early = ids[0] ?? '';
    emulator.remove(early);
    // The walk takes long, as where a limit holds it up.
    forward(30 * MINUTE_MS);
    const rest = await drain(connection, [], cursor);
    expect(idsOf(rest.changeHints, 'gone').has(early)).toBe(false);
    forward(HOUR_MS);
    expect(idsOf((await drain(connection, [], rest.cursor)).changeHints, 'gone').has(early)).toBe(true);
  });

  it('exceed the 10,000 results of a search, even if pages are shuffled and records edited between them', async () => {
    const { emulator, connection, forward } = await openWatch({ searchPages: 'shuffled' });
    const { cursor: begin } = await ask(connection, [], undefined);
    const ids: string[] = [];
    for (let i = 0; i < 10_400; i += 1) {
      if (i % 50 === 0) forward(1);
      ids.push(emulator.add({ name: `Nr ${i}` }));
    }
    let seen: ReadonlySet<string> = new Set();
    let cursor: string | undefined = begin;
    for (let page = 0, more = true; more; page += 1) {
      const changes = await ask(connection, [], cursor);
      seen = seen.union(idsOf(changes.changeHints));
      ({ cursor, more } = changes);
      forward(1);
      // Shifts every offset by one; whoever pages by offset leaves one out.
      if (page % 5 === 0) emulator.edit(ids[page] ?? '', { name: 'Edited' });
    }
    expect(ids.filter((id) => !seen.has(id))).toEqual([]);
  });

  it('include any number of records changed in one millisecond', async () => {
    const { emulator, connection, forward } = await openWatch({ searchPages: 'shuffled' });
    const { cursor } = await ask(connection, [], undefined);
    forward(MINUTE_MS);
    const together = Array.from({ length: 650 }, (_, i) => emulator.add({ name: `Nr ${i}` }));
    forward(1);
    const after = emulator.add({ name: 'After' });
    const { changeHints } = await drain(connection, [], cursor);
    expect(idsOf(changeHints)).toEqual(new Set([...together, after]));
  });

  it('read more properties than a search may name, without the index', async () => {
    const extra = Array.from({ length: 60 }, (_, i) => ({ name: `${'long_name_of_a_property'.repeat(3)}_${i}` }));
    const names = extra.map(({ name }) => name);
    const { emulator, reported } = await openWatch({ properties: extra }, names);
    const id = emulator.add({ name: 'A', [names[7] ?? '']: 'seven' });
    const [changeHint] = await reported();
    expect(changeHint).toMatchObject({
      kind: 'seen',
      id,
      properties: { [names[7] ?? '']: 'seven', [names[8] ?? '']: null },
    });
  });

  it('resume at the same place after a call fails', async () => {
    const { emulator, connection } = await openWatch();
    const { cursor } = await ask(connection, [], undefined);
    const id = emulator.add({ name: 'A' });
    const answers = [
      [{ kind: 'status', status: 429, body: { policyName: 'SECONDLY' } }, 'rate'],
      [{ kind: 'status', status: 502, body: '<html>Bad Gateway</html>' }, 'unavailable'],
      [{ kind: 'cut', applied: true }, 'unavailable'],
      [{ kind: 'status', status: 401 }, 'auth'],
    ] as const;
    for (const [action, fault] of answers) {
      emulator.fault({ match: 'POST .*/search', action });
      expect((await faultFrom(ask(connection, [], cursor))).fault).toBe(fault);
    }
    expect(idsOf((await drain(connection, [], cursor)).changeHints)).toEqual(new Set([id]));
  });

  it('are limited by the budget of searches', async () => {
    const { connection, http } = await openWatch();
    const before = http.requests.length;
    await ask(connection, [], undefined);
    expect(http.requests.slice(before).map(({ budget }) => budget)).toEqual(['search']);
  });

  it.each(['', 'x', '{}', '[]', '{"mark":"soon"}', 'null'])(
    'begin a day back if the stored place is %j',
    async (cursor) => {
      expect(readCursor(cursor, START)).toMatchObject({ mark: START - 24 * HOUR_MS, archive: { dueAt: START } });
    },
  );
});
