/** What a person may do to a plan and not notice: a trial with other options, a column that was sorted on its own. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { startFixture } from './fixture.ts';
import { apply, applyLines, newFile, plan } from './plan-runs.ts';

it.each(SUITE_ENGINES)(
  'a plan on %s is applied with its own options, not with those of an earlier apply',
  async (engine) => {
    const fixture = await startFixture({ engine });
    const ids = Array.from({ length: 3 }, (_, at) => fixture.add(cvrNumber(at)));
    await fixture.run({ ...plan(newFile()), sendUpdate: true });
    const files = ids.map(newFile);
    for (const [at, file] of files.entries())
      writeFileSync(file, `record;number;action\n${ids[at]};${cvrNumber(at)};link\n`);
    const [trial = '', rest = '', more = ''] = files;
    await fixture.run({ ...apply(trial), trust: 'register' });
    await fixture.run(apply(rest));
    await fixture.run({ ...apply(more), trust: 'register' });
    expect(Object.values(await fixture.links()).map((link) => link.split(' ')[2])).toEqual([
      'register',
      'crm',
      'register',
    ]);
    expect(fixture.service.changes.map((change) => change.endsWith('+update'))).toEqual([true, false, false]);
  },
);

it.each(SUITE_ENGINES)('a plan on %s is applied without the options of a later dry run', async (engine) => {
  const fixture = await startFixture({ engine });
  const id = fixture.add(cvrNumber(0));
  const file = newFile();
  await fixture.run(plan(file));
  expect(await fixture.run({ mode: { kind: 'look' }, trust: 'register', sendUpdate: true })).toMatchObject({
    trust: 'crm',
    sendUpdate: false,
  });
  await fixture.run(apply(file));
  expect(await fixture.links()).toEqual({ [id]: `CVR-1-${cvrNumber(0)} number crm active` });
  expect(fixture.service.changes.map((change) => change.endsWith('+update'))).toEqual([false]);
});

it.each(SUITE_ENGINES)(
  'a plan on %s with one sorted column is refused, and a few changed numbers are corrections',
  async (engine) => {
    const fixture = await startFixture({ engine });
    const numbers = Array.from({ length: 40 }, (_, at) => cvrNumber(at));
    const ids = numbers.map((number) => fixture.add(number));
    await fixture.run(plan(newFile()));
    const lines = (of: readonly string[]) => [
      'record;number;action',
      ...ids.map((id, at) => `${id};${of[at] ?? ''};link`),
    ];
    const sorted = await applyLines(fixture, lines(numbers.toReversed())).catch((error: Error) => error.message);
    expect(sorted).toMatch(/line 1: 40 records would get the number of another record: was a column sorted/u);
    expect(sorted).toContain(
      `line 2: record ${ids[0]} holds ${cvrNumber(0)}; ${cvrNumber(39)} is the number of record ${ids[39]}`,
    );
    expect(sorted).toContain('and 21 more');
    expect(await fixture.links()).toEqual({});
    const [first = '', second = '', ...rest] = numbers;
    await applyLines(fixture, lines([second, first, ...rest]));
    expect((await fixture.links())[ids[0] ?? '']).toBe(`CVR-1-${second} person crm active`);
  },
);
