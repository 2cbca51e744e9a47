/** Rows of a plan file that went stale: each is looked at once more, and what a person approved no longer counts for it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, SUITE_ENGINES } from '../../support/stores.ts';
import { startFixture } from './fixture.ts';

it.each(SUITE_ENGINES)(
  'records that were deleted, merged or put on hold since the plan are not linked (%s)',
  async (engine) => {
    const fixture = await startFixture({ engine });
    const { emulator, add, run, rows, links, note, outcome, service } = fixture;
    const [gone, kept, held, loser, spelled, survivor, stays] = [
      add('10150817'),
      add('50000001', { hold: 'ja' }),
      add('12345674'),
      add('20000007'),
      add('30000005'),
      add('ukendt'),
      add('40000011'),
    ];
    const file = join(newFolder(), 'plan.csv');
    await run({ mode: { kind: 'plan', file } });
    // A hold is above the plan: only who lifts it in the CRM has the record linked.
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(';held;skip;');
    writeFileSync(file, text.replace(';held;skip;', ';held;link;'));
    emulator.remove(gone);
    emulator.edit(held, { about_us: 'ja' });
    emulator.edit(spelled, { cvr_number: 'DK 30 00 00 05' });
    const merged = emulator.merge(survivor, loser);
    expect((await run({ mode: { kind: 'file', file } })).ended).toBe('done');
    expect(await rows()).toMatchObject({
      [gone]: 'gone skip done',
      [held]: 'held skip done',
      [kept]: 'held skip done',
      [loser]: 'moved skip done',
      [spelled]: 'matched link done',
      [stays]: 'matched link done',
    });
    expect(await note(held)).toBe('on hold in the CRM');
    // The survivor holds what is no number: nothing says that it stands for the company of the one it took up.
    expect(Object.keys(await links()).toSorted()).toEqual([spelled, stays].toSorted());
    expect(service.changes).toHaveLength(2);
    expect(await outcome()).toMatchObject({ linked: 2, failed: 0 });
    expect((await rows())[merged]).not.toContain('link done');
  },
);
