/** Undo through faults: answers that are lost, a daemon at work, a kill between the write and our record of it. */
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../../providers/kit/emulator/emulator.ts';
import { CRMS, ENTITY, renamed } from '../../faults/company.ts';
import { startCommand } from '../../support/command.ts';
import { type Fixture, type FixtureOptions, startFixture } from '../../support/fixture.ts';

const WAITING = { timeout: 120_000, interval: 20 };

describe.each(CRMS)('$crm', ({ crm, name, read, write }) => {
  async function renamedOnce(options: FixtureOptions = {}): Promise<{ fixture: Fixture; id: string }> {
    const fixture = await startFixture(options);
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
    return { fixture, id };
  }

  const undone = async (fixture: Fixture, id: string): Promise<readonly string[]> =>
    (await fixture.history(id))
      .filter(({ rule, property }) => rule === 'undo' && property === name)
      .map(({ outcome }) => outcome);

  test.each<[string, FaultAction]>([
    ['an answer that is lost after the write', { kind: 'reset', applied: true }],
    ['a CRM that is away for a moment', { kind: 'status', status: 503 }],
  ])('%s costs another try that is told, and nothing else', async (_, action) => {
    const { fixture, id } = await renamedOnce();
    fixture[crm].fault({ match: write, action });
    const ran = await fixture.cli('undo', '--yes', '--event', '1');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/waiting since .*, until .* at most: /)]);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
    expect(await undone(fixture, id)).toEqual(['written']);
  });

  test('a kill between the write and our record of it: the next run finds it done, and doubles nothing', async () => {
    const { fixture, id } = await renamedOnce({ engine: crm === 'hubspot' ? 'postgres' : 'sqlite', leaseSeconds: 5 });
    fixture[crm].fault({ match: write, action: { kind: 'hang', applied: true } });
    const folder = dirname(fixture.configFile);
    const first = startCommand(['undo', '--yes', '--event', '1', '--config', fixture.configFile], folder);
    await expect.poll(() => fixture[crm].get(id)?.[name], WAITING).toBe('A ApS');
    await first.kill('SIGKILL');
    expect(await undone(fixture, id)).toEqual([]);
    // The daemon takes the record up when the lease runs out, and must not write the register's value again.
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    const second = await fixture.cli('undo', '--yes', '--event', '1', '--json');
    expect(second.code).toBe(0);
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
    expect(await undone(fixture, id)).toEqual(['written']);
  });

  test('an event that comes while the record is put back waits for it, and does not write over it', async () => {
    const { fixture, id } = await renamedOnce();
    fixture[crm].fault({ match: write, action: { kind: 'slow', ms: 400 } });
    const undo = fixture.cli('undo', '--yes', '--event', '1');
    const held = () =>
      fixture.app.store.db.selectFrom('override').select('kind').where('property', '=', name).execute();
    await expect.poll(held, WAITING).toEqual([{ kind: 'hold' }]);
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    expect((await undo).code).toBe(0);
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
    expect((await fixture.history(id)).findLast(({ property }) => property === name)).toMatchObject({ rule: 'held' });
  });

  test('a write whose answer was lost is known to history once it shows, and can be taken back', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
    const lines = (await fixture.history(id)).filter(({ property }) => property === name);
    expect(lines.map(({ rule, old, now }) => [rule, old, now])).toEqual([
      ['ours-after-all', 'A ApS', 'B ApS'],
      ['same', 'B ApS', 'B ApS'],
    ]);
    expect((await fixture.cli('undo', '--yes', '--event', '1', '--property', name)).code).toBe(0);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('a write whose answer was lost and that another value followed is still known', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
    fixture[crm].fault({ match: read, after: 1, times: 1, action: { kind: 'status', status: 503 } });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => fixture[crm].get(id)?.[name], WAITING).toBe('B ApS');
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.atRest();
    const lines = (await fixture.history(id)).filter(
      ({ property, outcome }) => property === name && outcome === 'written',
    );
    expect(lines.map(({ old, now }) => [old, now])).toEqual([
      ['A ApS', 'B ApS'],
      ['B ApS', 'C ApS'],
    ]);
  });
});
