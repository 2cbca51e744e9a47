/** Edits that fell between our read and our write in HubSpot, which has no write on a condition: found later, and put back. */
import { describe, expect, test } from 'vitest';
import type { HubspotEmulatorOptions } from '../../../providers/kit/hubspot/account/options.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import { UNDO } from '../../../src/connector/undo/undo-task.ts';
import { checkPendingWrites } from '../../../src/runtime/lanes/pending-writes.ts';
import { confirmRun, requestPreview } from '../../../src/runtime/runs/runs.ts';
import type { Tx } from '../../../src/store/store.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { type HandClock, handClock } from '../../support/clock.ts';
import { type Fixture, startFixture } from '../../support/fixture.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';

const MINUTE_MS = 60_000;
const PERSON = { kind: 'operator', name: 'Ida' } as const;
const EDIT = 'As a person wrote it';

interface World {
  readonly fixture: Fixture;
  readonly clock: HandClock;
  readonly id: string;
  name(): PropertyValue | undefined;
  /** A person writes a value right before our next write arrives. */
  editBeforeWrite(value: PropertyValue): void;
  /** Takes back all that was written since then, as the daemon does for a person: the command would go by the machine's clock. */
  undo(since?: number): Promise<void>;
  /** Lets so many minutes pass, and the daemon do what is due. */
  pass(minutes: number): Promise<void>;
  rules(): Promise<readonly string[]>;
  edits(): Promise<number>;
  putBack(): Promise<number>;
}

interface Options {
  readonly engine?: (typeof ENGINES)[number];
  readonly hubspot?: HubspotEmulatorOptions;
  readonly policy?: 'tracked' | 'always' | 'if-blank';
  /** How far HubSpot's clock is ahead of ours. */
  readonly aheadMs?: number;
}

async function open({ engine = 'sqlite', hubspot, policy = 'tracked', aheadMs = 0 }: Options = {}): Promise<World> {
  const clock = handClock();
  const fixture = await startFixture({
    engine,
    clock,
    unhurried: true,
    hubspot: { rate: 'none', ...hubspot, now: () => clock.now() + aheadMs },
    connections: { hubspot: { fields: { name: { property: 'name', policy } } } },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  const pass = async (minutes: number) => {
    await fixture.settled();
    clock.forward(minutes * MINUTE_MS);
    fixture.app.connector?.wake();
    const due = async () => (await lanes(fixture)).filter(({ due_at }) => (due_at ?? 0) <= clock.now());
    await expect.poll(due, { interval: 20, timeout: 20_000 }).toEqual([]);
    await fixture.settled();
  };
  await pass(10);
  const metric = async () => {
    const text = await (await fetch(`${fixture.app.adminUrl}/metrics`)).text();
    return Number(/cvrsync_edits_put_back_total\{provider="hubspot"\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  return {
    fixture,
    clock,
    id,
    name: () => fixture.hubspot.get(id)?.['name'],
    editBeforeWrite(value) {
      fixture.hubspot.onArrival = () => {
        fixture.hubspot.onArrival = undefined;
        fixture.hubspot.edit(id, { name: value }, 'Bo Lind');
      };
    },
    pass,
    async undo(since = 0) {
      const { store } = fixture.app;
      const work = async (request: (tx: Tx) => Promise<unknown>): Promise<void> => {
        await store.write(request);
        fixture.app.connector?.wake();
        const waiting = () => store.db.selectFrom('lane').select('key').where('queue', '=', UNDO.queue).execute();
        await expect.poll(waiting, { interval: 20, timeout: 60_000 }).toEqual([]);
      };
      let run = 0;
      await work(async (tx) => {
        run = await requestPreview(
          tx,
          UNDO,
          { input: { entity: ENTITY, since }, actor: PERSON, via: 'page' },
          clock.now(),
        );
      });
      await work((tx) => confirmRun(tx, UNDO, { id: run, actor: PERSON, via: 'page' }, clock.now()));
    },
    rules: async () => (await nameHistory(fixture, id)).map(({ rule }) => rule),
    edits: async () => (await lanes(fixture)).length,
    putBack: metric,
  };
}

const nameHistory = async (fixture: Fixture, id: string) =>
  (await fixture.history(id)).filter(({ property }) => property === 'name');

const lanes = ({ app }: Fixture) =>
  app.store.db.selectFrom('lane').selectAll().where('queue', '=', 'edits:hubspot').execute();

describe.each(SUITE_ENGINES)('an edit between our read and our write in HubSpot (%s)', (engine) => {
  test('is restored within ten minutes, and recorded', async () => {
    const world = await open({ engine });
    const { fixture, id } = world;
    world.editBeforeWrite(EDIT);
    expect(await fixture.post(renamed('A ApS', 'B ApS'))).toBe(204);
    await fixture.settled();
    expect([world.name(), await world.edits()]).toEqual(['B ApS', 1]);
    await world.pass(10);
    expect([world.name(), await world.rules()]).toEqual([EDIT, ['register', 'returned']]);
    expect((await nameHistory(fixture, id)).at(-1)).toMatchObject({
      detail: 'a person wrote this between our read of the record and our write',
    });
    expect(await world.putBack()).toBe(1);
    // The edit stays: the register's next value is a difference.
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await world.pass(10);
    await world.pass(10);
    expect([world.name(), await world.rules()]).toEqual([EDIT, ['register', 'returned', 'edited']]);
    expect(await world.edits()).toBe(0);
  });

  test('is restored after an undo overwrote it', async () => {
    const world = await open({ engine });
    const { fixture } = world;
    await fixture.post(renamed('A ApS', 'B ApS'));
    await world.pass(10);
    world.editBeforeWrite(EDIT);
    await world.undo();
    expect(world.name()).toBe('A ApS');
    await world.pass(10);
    expect([world.name(), await world.rules()]).toEqual([EDIT, ['register', 'undo', 'returned']]);
  });
});

describe('a check for lost edits', () => {
  test.each([-40, 40])('does not depend on our clock: HubSpot’s is %i minutes ahead', async (minutes) => {
    const world = await open({ aheadMs: minutes * MINUTE_MS });
    world.editBeforeWrite(EDIT);
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.pass(10);
    expect(world.name()).toBe(EDIT);
  });

  test('works if HubSpot does not name the app of the token', async () => {
    const world = await open();
    world.fixture.hubspot.fault({ match: 'access-token-info', action: { kind: 'status', status: 401, body: {} } });
    world.editBeforeWrite(EDIT);
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.pass(10);
    expect(world.name()).toBe(EDIT);
  });

  test.each([
    ['at once', 0],
    ['two days later, after cvrsync was down', 2 * 24 * 60],
  ])('restores an edit that our write with a lost answer overwrote, seen %s', async (_, minutes) => {
    const world = await open();
    world.editBeforeWrite(EDIT);
    world.fixture.hubspot.fault({ match: 'batch/update', action: { kind: 'reset', applied: true } });
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await expect.poll(world.name).toBe('B ApS');
    // Not between the write and its end: to cvrsync that would be a machine that stood still.
    await world.fixture.forward(minutes * MINUTE_MS);
    // Housekeeping may run before the record is read.
    await world.fixture.app.store.write((tx) => checkPendingWrites(tx, world.clock.now()));
    await world.pass(1);
    expect(await world.rules()).toEqual(['ours-after-all', 'same']);
    await world.pass(10);
    expect([world.name(), await world.putBack()]).toEqual([EDIT, 1]);
  });

  test('restores an edit that an undo with a lost answer overwrote', async () => {
    const world = await open();
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.pass(10);
    world.editBeforeWrite(EDIT);
    world.fixture.hubspot.fault({ match: 'batch/update', action: { kind: 'reset', applied: true } });
    await world.undo();
    expect([world.name(), await world.rules()]).toEqual(['A ApS', ['register', 'undo']]);
    await world.pass(10);
    expect([world.name(), await world.rules()]).toEqual([EDIT, ['register', 'undo', 'returned']]);
  });

  test('keeps a value that a person restored before our undo', async () => {
    const world = await open();
    world.fixture.hubspot.edit(world.id, { name: EDIT });
    await world.fixture.post(renamed(EDIT, 'A ApS'));
    await world.pass(10);
    const since = world.clock.now();
    await world.fixture.post(renamed('A ApS', 'B ApS', 9));
    await world.pass(10);
    world.fixture.hubspot.edit(world.id, { name: 'A ApS' });
    await world.undo(since);
    await world.pass(10);
    await world.pass(10);
    expect([world.name(), await world.putBack()]).toEqual(['A ApS', 0]);
  });

  test('keeps an edit after our write', async () => {
    const world = await open();
    world.editBeforeWrite(EDIT);
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.fixture.settled();
    world.fixture.hubspot.edit(world.id, { name: 'A second thought' });
    await world.pass(10);
    expect([world.name(), await world.putBack()]).toEqual(['A second thought', 0]);
  });

  test('keeps the register’s value that a person restored after another one', async () => {
    const world = await open();
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.fixture.settled();
    world.fixture.hubspot.edit(world.id, { name: EDIT });
    world.fixture.hubspot.edit(world.id, { name: 'B ApS' });
    await world.pass(10);
    expect([world.name(), await world.putBack()]).toEqual(['B ApS', 0]);
  });

  test.each([
    ['always', EDIT],
    ['tracked', 'B ApS'],
    ['tracked', 'A ApS'],
  ] as const)('changes nothing under %s where the edit was %s', async (policy, edit) => {
    const world = await open({ policy });
    world.editBeforeWrite(edit);
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.pass(10);
    expect([world.name(), await world.putBack(), await world.edits()]).toEqual(['B ApS', 0, 0]);
  });

  test('is retried if HubSpot does not answer', async () => {
    const world = await open();
    world.editBeforeWrite(EDIT);
    await world.fixture.post(renamed('A ApS', 'B ApS'));
    await world.fixture.settled();
    world.fixture.hubspot.fault({ match: 'batch/read', action: { kind: 'status', status: 503, body: {} } });
    await world.pass(10);
    expect([world.name(), await world.edits()]).toEqual(['B ApS', 1]);
    await world.pass(10);
    expect(world.name()).toBe(EDIT);
    // What was put back is a write, too.
    expect(await world.edits()).toBe(1);
    await world.pass(10);
    expect([world.name(), await world.edits()]).toEqual([EDIT, 0]);
  });
});
