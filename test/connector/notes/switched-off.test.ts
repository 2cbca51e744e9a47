/** Notes that are still due when the configuration wants them no longer. */
import { expect, test } from 'vitest';
import { prepareDerived } from '../../../src/connector/derived.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { newGround } from '../derived-ground.ts';

test.each([
  ['they are switched off', { notes: [] }, 'notes are switched off'],
  ['persons may be named no longer', { persons: false }, 'it may name persons'],
])('notes that are still due are given up where %s, and history says so', async (_, change, reason) => {
  const stage = await newGround({ engine: 'sqlite', notes: ['status'], persons: true });
  const prepare = (crm: typeof stage.crm) => stage.store.write((tx) => prepareDerived(tx, [crm], stage.time));
  const states = async () =>
    (await stage.store.db.selectFrom('note').select('state').execute()).map(({ state }) => state);
  await prepare(stage.crm);
  await stage.link('1', ENTITY);
  await stage.report(reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8));
  await prepare(stage.crm);
  expect(await states()).toEqual(['due']);
  await prepare({ ...stage.crm, ...change });
  expect([await states(), await stage.lanes('note:crm')]).toEqual([['dropped'], []]);
  expect(await stage.reported('1', 'note')).toEqual([expect.stringContaining(`not left, ${reason}`)]);
});
