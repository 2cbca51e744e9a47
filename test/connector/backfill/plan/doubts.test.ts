/** A plan whose number column was filled by dragging, or whose action column was sorted alone. */

import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tryPlan } from '../../../../src/connector/backfill/plan/import-plan.ts';
import { passesModulus11 } from '../../../../src/protocol/cvr-number.ts';
import { companyEntityId } from '../../../../src/protocol/entity-id.ts';
import { type ENGINES, SUITE_ENGINES } from '../../../support/stores.ts';
import { type Fixture, startFixture } from '../fixture.ts';
import { apply, applyLines, newFile, plan } from '../plan-runs.ts';

/** Numbers that pass the register's check. */
function numbers(count: number): readonly string[] {
  const found: string[] = [];
  for (let number = 20_000_000; found.length < count; number += 1)
    if (passesModulus11(String(number))) found.push(String(number));
  return found;
}

const HEAD = 'record;number;action';
const refusal = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => 'it was applied',
    (error: Error) => error.message,
  );

async function planned(engine: (typeof ENGINES)[number], held: readonly (string | null)[]) {
  const fixture = await startFixture({ engine });
  const ids = held.map((number) => fixture.add(number));
  await fixture.run(plan(newFile()));
  return { fixture, ids };
}

describe.each(SUITE_ENGINES)('a plan on %s needs a confirmation for', (engine) => {
  it('a number column that was filled by dragging a series', async () => {
    const { fixture, ids } = await planned(
      engine,
      Array.from({ length: 20 }, () => null),
    );
    const lines = [HEAD, ...ids.map((id, at) => `${id};${30_000_000 + at};link`)];
    const said = await refusal(applyLines(fixture, lines));
    expect(said).toContain('of 20 lines to link'.replace('of', 'Of'));
    expect(said).toMatch(/19 have a number of yours that follows the one in the line before/u);
    expect(said).toMatch(/\d+ have a number of yours that fails the register's check/u);
    expect(said).toContain('--yes');
    expect(await fixture.links()).toEqual({});
  });

  it('a number column that was filled with one number', async () => {
    const { fixture, ids } = await planned(
      engine,
      Array.from({ length: 10 }, () => null),
    );
    const [first = ''] = numbers(1);
    const said = await refusal(applyLines(fixture, [HEAD, ...ids.map((id) => `${id};${first};link`)]));
    expect(said).toContain('10 have a number that is also in other lines');
    expect(await fixture.links()).toEqual({});
  });

  it('numbers of companies without a record, in place of the numbers in the CRM', async () => {
    const all = numbers(24);
    const { fixture, ids } = await planned(engine, all.slice(0, 12));
    const lines = [HEAD, ...ids.map((id, at) => `${id};${all[12 + at]};link`)];
    expect(await refusal(applyLines(fixture, lines))).toContain('12 have a different number from the one in the CRM');
    const file = newFile();
    writeFileSync(file, lines.join('\n'));
    await fixture.run({ ...apply(file), meant: true });
    expect(Object.keys(await fixture.links())).toHaveLength(12);
  });

  it('an action column that was sorted alone', async () => {
    const twins = numbers(8).flatMap((number) => [number, `DK${number}`]);
    const { fixture, ids } = await planned(engine, [...twins, ...numbers(16).slice(8)]);
    const lines = [
      HEAD,
      ...ids.map((id, at) => `${id};${[...twins, ...numbers(16).slice(8)][at]};${at < 8 ? 'link' : 'skip'}`),
    ];
    expect(await refusal(applyLines(fixture, lines))).toContain('8 link what the scan advised against');
    expect(await fixture.links()).toEqual({});
  });

  it('neither a few corrections nor the numbers in the CRM', async () => {
    const held = numbers(12);
    const { fixture, ids } = await planned(engine, held);
    const [, , , , , , , , , , , , other = ''] = numbers(13);
    await applyLines(fixture, [HEAD, ...ids.map((id, at) => `${id};${at === 0 ? other : held[at]};link`)]);
    expect(Object.keys(await fixture.links())).toHaveLength(12);
  });

  it('nothing with --apply --dry-run, which shows the effect without a change', async () => {
    const held = numbers(3);
    const { fixture, ids } = await planned(engine, held);
    const file = newFile();
    const lines = [`${ids[0]};${held[0]};link`, `${ids[1]};${held[1]};skip`, `${ids[2]};10150817;link`];
    writeFileSync(file, [HEAD, ...lines].join('\n'));
    const before = await fixture.rows();
    expect(await tryPlan(fixture.deps, file, new AbortController().signal)).toMatchObject({
      toLink: 2,
      skipped: 1,
      warnings: { differing: 1, failing: 0, consecutive: 0, shared: 0, against: 0 },
      given: [{ record: ids[2], found: held[2], number: '10150817' }],
    });
    expect([await fixture.rows(), await fixture.links()]).toEqual([before, {}]);
  });
});

describe.each(SUITE_ENGINES)("a person's skip on %s", (engine) => {
  const linked = async (fixture: Fixture) => Object.keys(await fixture.links()).toSorted();

  it('lasts over plans, until the number changes or the person links the record', async () => {
    const held = numbers(3);
    const { fixture, ids } = await planned(engine, held);
    const [a = '', b = '', c = ''] = ids;
    await applyLines(fixture, [HEAD, ...ids.map((id, at) => `${id};${held[at]};${id === c ? 'link' : 'skip'}`)]);
    expect(await linked(fixture)).toEqual([c]);
    await fixture.run(plan(newFile()));
    expect(await fixture.note(a)).toContain('skipped it in an earlier plan');
    await fixture.run({ mode: { kind: 'apply' } });
    expect(await linked(fixture)).toEqual([c]);
    fixture.emulator.edit(a, { cvr_number: '10150817' });
    await fixture.run({ mode: { kind: 'apply' } });
    expect(await fixture.links()).toMatchObject({ [a]: `${companyEntityId('10150817')} number crm active` });
    await fixture.run(plan(newFile()));
    await applyLines(fixture, [HEAD, `${b};${held[1]};link`]);
    const { db } = fixture.deps.store;
    expect(await db.selectFrom('plan_skip').select('record_id').execute()).not.toContainEqual({ record_id: b });
    await fixture.run(plan(newFile()));
    expect((await linked(fixture)).length).toBe(3);
  });

  it('differs from a skip by the plan, which ends with its reason', async () => {
    const [number = ''] = numbers(1);
    const { fixture, ids } = await planned(engine, [number, `DK${number}`]);
    const [a = '', b = ''] = ids;
    await applyLines(fixture, [HEAD, ...ids.map((id) => `${id};${number};skip`)]);
    fixture.emulator.edit(b, { cvr_number: '10150817' });
    await fixture.run(plan(newFile()));
    await fixture.run({ mode: { kind: 'apply' } });
    expect(await linked(fixture)).toEqual([a, b].toSorted());
  });
});
