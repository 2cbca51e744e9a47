/** Notes that are still due when the configuration wants them no longer. */
import { expect, test } from 'vitest';
import { prepareDerived } from '../../../src/connector/derived.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { newFixture } from '../derived-fixture.ts';

test.each([
  ['they are switched off', { notes: [] }, 'notes are switched off'],
  ['persons may be named no longer', { persons: false }, 'it may name persons'],
])('due notes are dropped with an entry in history if %s', async (_, change, reason) => {
  const fixture = await newFixture({ engine: 'sqlite', notes: ['status'], persons: true });
  const prepare = (crm: typeof fixture.crm) => fixture.store.write((tx) => prepareDerived(tx, [crm], fixture.time));
  const states = async () =>
    (await fixture.store.db.selectFrom('note').select('state').execute()).map(({ state }) => state);
  await prepare(fixture.crm);
  await fixture.link('1', ENTITY);
  await fixture.report(reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8));
  await prepare(fixture.crm);
  expect(await states()).toEqual(['due']);
  await prepare({ ...fixture.crm, ...change });
  expect([await states(), await fixture.lanes('note:crm')]).toEqual([['dropped'], []]);
  expect(await fixture.reported('1', 'note')).toEqual([expect.stringContaining(`not left, ${reason}`)]);
});
