/** An undo from the command line: counted, previewed and asked for; in parts; and the holds that it leaves. */
import { describe, expect, test } from 'vitest';
import { CRMS, ENTITY, renamed } from '../faults/company.ts';
import { askCli } from '../support/cli.ts';
import { handClock } from '../support/clock.ts';
import { type Fixture, type FixtureOptions, startFixture } from '../support/fixture.ts';
import { ENGINES } from '../support/stores.ts';

const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));
const DAY_MS = 86_400_000;

describe.each(CASES)('undo in $crm on $engine', ({ crm, engine, name, own }) => {
  /** Three records that the register renamed from A to B. */
  async function renamedThree(options: FixtureOptions = {}): Promise<{ fixture: Fixture; ids: readonly string[] }> {
    const fixture = await startFixture({ engine, ...options });
    const ids = [];
    for (let count = 0; count < 3; count++) ids.push(await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' }));
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    return { fixture, ids: ids.toSorted() };
  }
  const namesIn = (fixture: Fixture, ids: readonly string[]): readonly unknown[] =>
    ids.map((id) => fixture[crm].get(id)?.[name]);
  const ALL_B = ['B ApS', 'B ApS', 'B ApS'];

  test('asks after a preview with the count, and restores only after a yes', async () => {
    const { fixture, ids } = await renamedThree();
    const ask = (typed: string) => askCli(typed, ['--config', fixture.configFile, 'undo', '--since', '2h']);
    const no = await ask('n\n');
    expect(no.shown).toContain('6 would be restored. Nothing was written.');
    expect(no.shown).toContain('Restore 6 values in 3 records? [y/N]');
    expect([no.code, namesIn(fixture, ids)]).toEqual([0, ALL_B]);
    const yes = await ask('y\n');
    expect(yes.shown).toContain('6 restored.');
    expect([yes.code, namesIn(fixture, ids)]).toEqual([0, ['A ApS', 'A ApS', 'A ApS']]);
    expect(yes.shown.trim().split('\n').at(-1)).toBe('Nothing is left to restore of what you named.');
  });

  test('needs --yes without a terminal, and shows the count without calling the CRM', async () => {
    const { fixture, ids } = await renamedThree();
    const calls = fixture[crm].calls.length;
    const ran = await fixture.cli('undo', '--event', '1');
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('up to 6 values in 3 records. cvrsync cannot ask here: add --yes');
    expect([fixture[crm].calls.length, namesIn(fixture, ids)]).toEqual([calls, ALL_B]);
    expect(await fixture.cli('undo', '--since', '2999-01-01')).toMatchObject({ code: 0, stderr: '' });
  });

  test('restores a limited number of records at a time, and ends with the command that continues', async () => {
    const { fixture, ids } = await renamedThree();
    const first = await fixture.cli(
      'undo',
      '--yes',
      '--since',
      '2h',
      '--property',
      name,
      '--limit',
      '2',
      '--hold',
      '90d',
    );
    const [, next = ''] =
      /^1 record left by --limit\. To continue: cvrsync (.*)$/u.exec(first.stdout.trim().split('\n').at(-1) ?? '') ??
      [];
    expect(namesIn(fixture, ids)).toEqual(['A ApS', 'A ApS', 'B ApS']);
    expect(next).toMatch(/--property \w+ --limit 2 --since \d{4}-\S+Z --hold 90d --config \S+$/u);
    const second = await fixture.cli(...next.replace(/ --config \S+/u, '').split(' '), '--yes');
    expect(second.stderr).toBe('');
    expect(second.stdout.trim().split('\n').at(-1)).toBe('Nothing is left to restore of what you named.');
    expect(namesIn(fixture, ids)).toEqual(['A ApS', 'A ApS', 'A ApS']);
  });

  test('holds restored values for 30 days, or as long as requested', async () => {
    const clock = handClock();
    const { fixture, ids } = await renamedThree({ clock });
    const [id = ''] = ids;
    await fixture.cli('undo', '--yes', '--event', '1', '--property', name);
    await fixture.cli('undo', '--yes', '--event', '1', '--property', own, '--hold', 'forever');
    await fixture.settled();
    clock.forward(29 * DAY_MS);
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS', [own]: null });
    clock.forward(DAY_MS);
    await expect.poll(() => fixture[crm].get(id)?.[name], { timeout: 120_000 }).toBe('B ApS');
    expect(fixture[crm].get(id)).toMatchObject({ [own]: null });
  });

  test('creates holds that can be listed, filtered and ended in bulk', async () => {
    const { fixture, ids } = await renamedThree();
    const [id = ''] = ids;
    await fixture.cli('undo', '--yes', '--event', '1');
    await fixture.cli('hold', `${crm}:${id}`, '--reason', 'asked by sales');
    const listed = async (...argv: string[]): Promise<readonly { record: string; property: string; until: string }[]> =>
      JSON.parse((await fixture.cli('hold', 'list', '--json', ...argv)).stdout);
    expect(await listed()).toHaveLength(7);
    expect(await listed('--reason', 'asked by sales')).toMatchObject([
      { record: `${crm}:${id}`, property: '*', entity: ENTITY, until: 'cleared' },
    ]);
    expect(await listed('--property', name, '--origin', 'undo')).toHaveLength(3);
    expect(await listed('--provider', crm, '--older-than', '1h')).toEqual([]);
    expect((await fixture.cli('hold', 'list', '--limit', '2')).stderr).toContain('"shown":2');

    const clear = ['hold', `${crm}:*`, '--clear'];
    const asked = await fixture.cli(...clear);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('End 6 holds that undo placed in')]);
    expect((await fixture.cli(...clear, '--older-than', '1h', '--yes')).stdout).toBe(
      '0 holds that undo placed have ended.\n',
    );
    expect((await fixture.cli('hold', `${crm}:*`, name, '--clear', '--yes')).stdout).toBe(
      '3 holds that undo placed have ended.\n',
    );
    await fixture.settled();
    // The first is held as a whole, too.
    expect(namesIn(fixture, ids)).toEqual(['A ApS', 'B ApS', 'B ApS']);
    expect((await fixture.cli(...clear, '--all', '--yes')).stdout).toBe('4 holds have ended.\n');
    await fixture.settled();
    expect(await listed()).toEqual([]);
    expect(namesIn(fixture, ids)).toEqual(ALL_B);
  });
});
