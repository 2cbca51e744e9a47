/** Numbers that may be another company's: with a bad check digit, or padded with a zero. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkPlan } from '../../../src/connector/backfill/plan/import-plan.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { type Fixture, startFixture } from './fixture.ts';
import { apply, newFile, plan } from './plan-runs.ts';

const MISTYPED = '10150818';
const PADDED = '1234560';

async function withUnsure(engine: (typeof ENGINES)[number]) {
  const fixture = await startFixture({ engine });
  const [sure, mistyped, padded] = [fixture.add('10150817'), fixture.add(MISTYPED), fixture.add(PADDED)];
  return { fixture, sure, mistyped, padded };
}

/** Writes a plan, and returns its file and its lines. */
async function planned(fixture: Fixture) {
  const file = newFile();
  await fixture.run(plan(file));
  return { file, text: readFileSync(file, 'utf8') };
}

describe.each(SUITE_ENGINES)('numbers with a bad check digit, or padded with a zero, on %s', (engine) => {
  it('are skipped by default in a plan, with the reason beside them', async () => {
    const { fixture, sure, mistyped, padded } = await withUnsure(engine);
    const { file, text } = await planned(fixture);
    expect(await fixture.rows()).toEqual({
      [sure]: 'matched link planned',
      [mistyped]: 'matched skip planned',
      [padded]: 'matched skip planned',
    });
    expect(text).toMatch(new RegExp(`^${mistyped};.*;matched;skip;the number fails the register's check`, 'mu'));
    expect(text).toMatch(new RegExp(`^${padded};.*;matched;skip;its leading zero was missing`, 'mu'));
    await fixture.run(apply(file));
    expect(Object.keys(await fixture.links())).toEqual([sure]);
    // What nobody decided is no person's skip: the next plan still names the reason.
    await fixture.run({ restart: true, ...plan(newFile()) });
    expect(await fixture.note(mistyped)).toContain("fails the register's check");
  });

  it('are linked if a person sets the action', async () => {
    const { fixture, sure, mistyped, padded } = await withUnsure(engine);
    const { file, text } = await planned(fixture);
    writeFileSync(file, text.replaceAll(';skip;', ';link;'));
    await fixture.run(apply(file));
    expect(await fixture.links()).toEqual({
      [sure]: 'CVR-1-10150817 number crm active',
      [mistyped]: `CVR-1-${MISTYPED} number crm active`,
      [padded]: `CVR-1-0${PADDED} number crm active`,
    });
  });

  it('are not linked without a plan, and are counted', async () => {
    const { fixture, sure } = await withUnsure(engine);
    await fixture.run();
    expect(Object.keys(await fixture.links())).toEqual([sure]);
    expect(await fixture.outcome()).toMatchObject({ linked: 1, mistyped: 1, unsure: 2, person: 2 });
  });

  it('are not linked if a record got one since the scan', async () => {
    const fixture: Fixture = await startFixture({
      engine,
      around: (real) => ({
        read(...args) {
          fixture.emulator.edit(id, { cvr_number: MISTYPED });
          return real.read(...args);
        },
      }),
    });
    const id = fixture.add('10150817');
    await fixture.run();
    expect([await fixture.links(), await fixture.rows()]).toEqual([{}, { [id]: 'matched skip done' }]);
  });

  it('count as doubtful lines of a plan that links many of them', async () => {
    const fixture = await startFixture({ engine });
    const failing = Array.from({ length: 8 }, (_, at) => String(Number(cvrNumber(at * 3)) + 1));
    for (const number of failing) fixture.add(number);
    const { file, text } = await planned(fixture);
    writeFileSync(file, text.replaceAll(';skip;', ';link;'));
    const { warnings } = await checkPlan(fixture.store.db, fixture.deps.crm, file, new AbortController().signal);
    expect(warnings.against).toBe(8);
  });
});
