/** What a backfill was begun with, it goes on with: whoever starts it again need not remember how. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { newFolder } from '../../support/stores.ts';
import { startFixture } from './fixture.ts';

it('a resumed apply still requests the full update without repeating the option', async () => {
  const { add, run, service, links } = await startFixture();
  for (let at = 0; at < 3; at++) add(cvrNumber(at));
  expect((await run({ limit: 1, sendUpdate: true, trust: 'register' })).ended).toBe('limited');
  expect((await run()).ended).toBe('done');
  expect(service.changes.filter((change) => change.endsWith(' +update'))).toHaveLength(3);
  expect(Object.values(await links()).every((link) => link.includes(' register '))).toBe(true);
});

it('a plan is applied with its own options, and can still request full updates', async () => {
  for (const [planned, applied] of [
    [true, false],
    [false, true],
  ] as const) {
    const { add, run, service } = await startFixture();
    const id = add('10150817');
    const file = join(newFolder(), 'plan.csv');
    await run({ mode: { kind: 'plan', file }, sendUpdate: planned });
    await run({ mode: { kind: 'file', file }, sendUpdate: applied });
    expect(service.changes).toEqual([`add hubspot CVR-1-10150817 ${id} +update`]);
  }
});

it('a scan by another property starts over, because the earlier rows have other numbers', async () => {
  const fixture = await startFixture();
  for (let at = 0; at < 150; at++) fixture.add(cvrNumber(at));
  const stop = new AbortController();
  const { crm, report } = fixture.deps;
  const stopping = (step: Parameters<typeof report>[0]): void => {
    if (step.scanned !== undefined) stop.abort(new Error('enough'));
  };
  Object.assign(fixture.deps, { report: stopping });
  await expect(fixture.run({ mode: { kind: 'look' } }, stop.signal)).rejects.toThrow('enough');
  Object.assign(fixture.deps, { report, crm: { ...crm, match: 'phone' } });
  expect(await fixture.run({ mode: { kind: 'look' } })).toMatchObject({ scanned: 150, match: 'phone' });
  expect((await fixture.outcome()).verdicts).toEqual({ 'no-number': 150 });
});
