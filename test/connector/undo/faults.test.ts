/** Undo through faults: answers that are lost, a daemon at work. */
import { describe, expect, test } from 'vitest';
import { CRMS, ENTITY, renamed } from '../../faults/company.ts';
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

  test('an event that arrives during the undo waits for it, and does not overwrite its result', async () => {
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

  test('a write whose answer was lost is in history once it appears, and can be undone', async () => {
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

  test('a write whose answer was lost is recognised even after another value', async () => {
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
