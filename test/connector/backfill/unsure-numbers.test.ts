/** Numbers that may be another company's: with a bad check digit, or padded with a zero. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkPlan } from '../../../src/connector/backfill/take-plan.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { ENGINES } from '../../support/stores.ts';
import { type Ground, setGround } from './ground.ts';
import { apply, newFile, plan } from './plan-runs.ts';

const MISTYPED = '10150818';
const PADDED = '1234560';

async function withUnsure(engine: (typeof ENGINES)[number]) {
  const ground = await setGround({ engine });
  const [sure, mistyped, padded] = [ground.add('10150817'), ground.add(MISTYPED), ground.add(PADDED)];
  return { ground, sure, mistyped, padded };
}

/** Writes a plan, and returns its file and its lines. */
async function planned(ground: Ground) {
  const file = newFile();
  await ground.run(plan(file));
  return { file, text: readFileSync(file, 'utf8') };
}

describe.each(ENGINES)('numbers with a bad check digit, or padded with a zero, on %s', (engine) => {
  it('are skipped by default in a plan, with the reason beside them', async () => {
    const { ground, sure, mistyped, padded } = await withUnsure(engine);
    const { file, text } = await planned(ground);
    expect(await ground.rows()).toEqual({
      [sure]: 'matched link planned',
      [mistyped]: 'matched skip planned',
      [padded]: 'matched skip planned',
    });
    expect(text).toMatch(new RegExp(`^${mistyped};.*;matched;skip;the number fails the register's check`, 'mu'));
    expect(text).toMatch(new RegExp(`^${padded};.*;matched;skip;its leading zero was missing`, 'mu'));
    await ground.run(apply(file));
    expect(Object.keys(await ground.links())).toEqual([sure]);
    // What nobody decided is no person's skip: the next plan still names the reason.
    await ground.run({ restart: true, ...plan(newFile()) });
    expect(await ground.note(mistyped)).toContain("fails the register's check");
  });

  it('are linked where a person sets the action', async () => {
    const { ground, sure, mistyped, padded } = await withUnsure(engine);
    const { file, text } = await planned(ground);
    writeFileSync(file, text.replaceAll(';skip;', ';link;'));
    await ground.run(apply(file));
    expect(await ground.links()).toEqual({
      [sure]: 'CVR-1-10150817 number crm active',
      [mistyped]: `CVR-1-${MISTYPED} number crm active`,
      [padded]: `CVR-1-0${PADDED} number crm active`,
    });
  });

  it('are not linked without a plan, and are counted', async () => {
    const { ground, sure } = await withUnsure(engine);
    await ground.run();
    expect(Object.keys(await ground.links())).toEqual([sure]);
    expect(await ground.outcome()).toMatchObject({ linked: 1, mistyped: 1, unsure: 2, person: 2 });
  });

  it('are not linked where a record got one since the scan', async () => {
    const ground: Ground = await setGround({
      engine,
      around: (real) => ({
        read(...args) {
          ground.emulator.edit(id, { cvr_number: MISTYPED });
          return real.read(...args);
        },
      }),
    });
    const id = ground.add('10150817');
    await ground.run();
    expect([await ground.links(), await ground.rows()]).toEqual([{}, { [id]: 'matched skip done' }]);
  });

  it('count as doubts of a plan that links many of them', async () => {
    const ground = await setGround({ engine });
    const failing = Array.from({ length: 8 }, (_, at) => String(Number(cvrNumber(at * 3)) + 1));
    for (const number of failing) ground.add(number);
    const { file, text } = await planned(ground);
    writeFileSync(file, text.replaceAll(';skip;', ';link;'));
    const { doubts } = await checkPlan(ground.store.db, ground.deps.crm, file, new AbortController().signal);
    expect(doubts.against).toBe(8);
  });
});
