/** Undo through faults: answers that are lost, a daemon at work, a kill between the write and our record of it. */
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../../providers/emulator.ts';
import { CRMS, ENTITY, renamed } from '../../faults/company.ts';
import { startCommand } from '../../support/command.ts';
import { type Stage, type StageOptions, startFixture } from '../../support/stage.ts';

const WAITING = { timeout: 20_000, interval: 20 };

describe.each(CRMS)('$crm', ({ crm, name, read, write }) => {
  async function renamedOnce(options: StageOptions = {}): Promise<{ stage: Stage; id: string }> {
    const stage = await startFixture(options);
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
    return { stage, id };
  }

  const undone = async (stage: Stage, id: string): Promise<readonly string[]> =>
    (await stage.history(id))
      .filter(({ rule, property }) => rule === 'undo' && property === name)
      .map(({ outcome }) => outcome);

  test.each<[string, FaultAction]>([
    ['an answer that is lost after the write', { kind: 'reset', applied: true }],
    ['a CRM that is away for a moment', { kind: 'status', status: 503 }],
  ])('%s costs another try and nothing else', async (_, action) => {
    const { stage, id } = await renamedOnce();
    stage[crm].fault({ match: write, action });
    expect((await stage.cli('undo', '--event', '1')).code).toBe(0);
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
    expect(await undone(stage, id)).toEqual(['written']);
  });

  test('a kill between the write and our record of it: the next run finds it done, and doubles nothing', async () => {
    const { stage, id } = await renamedOnce({ engine: crm === 'hubspot' ? 'postgres' : 'sqlite', leaseSeconds: 5 });
    stage[crm].fault({ match: write, action: { kind: 'hang', applied: true } });
    const folder = dirname(stage.configFile);
    const first = startCommand(['undo', '--event', '1', '--config', stage.configFile], folder);
    await expect.poll(() => stage[crm].get(id)?.[name], WAITING).toBe('A ApS');
    await first.kill('SIGKILL');
    expect(await undone(stage, id)).toEqual([]);
    // The daemon takes the record up when the lease runs out, and must not write the register's value again.
    await stage.post(renamed('B ApS', 'C ApS', 9));
    const second = await stage.cli('undo', '--event', '1', '--json');
    expect(second.code).toBe(0);
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
    expect(await undone(stage, id)).toEqual(['written']);
  });

  test('an event that comes while the record is put back waits for it, and does not write over it', async () => {
    const { stage, id } = await renamedOnce();
    stage[crm].fault({ match: write, action: { kind: 'slow', ms: 400 } });
    const undo = stage.cli('undo', '--event', '1');
    const held = () => stage.app.store.db.selectFrom('override').select('kind').where('property', '=', name).execute();
    await expect.poll(held, WAITING).toEqual([{ kind: 'hold' }]);
    await stage.post(renamed('B ApS', 'C ApS', 9));
    expect((await undo).code).toBe(0);
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
    expect((await stage.history(id)).findLast(({ property }) => property === name)).toMatchObject({ rule: 'held' });
  });

  test('a write whose answer was lost is known to history once it shows, and can be taken back', async () => {
    const stage = await startFixture();
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    stage[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.atRest();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
    const lines = (await stage.history(id)).filter(({ property }) => property === name);
    expect(lines.map(({ rule, old_value, new_value }) => [rule, old_value, new_value])).toEqual([
      ['ours-after-all', '"A ApS"', '"B ApS"'],
      ['same', '"B ApS"', '"B ApS"'],
    ]);
    expect((await stage.cli('undo', '--event', '1', '--property', name)).code).toBe(0);
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('a write whose answer was lost and that another value followed is still known', async () => {
    const stage = await startFixture();
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    stage[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
    stage[crm].fault({ match: read, after: 1, times: 1, action: { kind: 'status', status: 503 } });
    await stage.post(renamed('A ApS', 'B ApS'));
    await expect.poll(() => stage[crm].get(id)?.[name], WAITING).toBe('B ApS');
    await stage.post(renamed('B ApS', 'C ApS', 9));
    await stage.atRest();
    const lines = (await stage.history(id)).filter(
      ({ property, outcome }) => property === name && outcome === 'written',
    );
    expect(lines.map(({ old_value, new_value }) => [old_value, new_value])).toEqual([
      ['"A ApS"', '"B ApS"'],
      ['"B ApS"', '"C ApS"'],
    ]);
  });
});
