/** What a backfill was begun with, it goes on with: whoever starts it again need not remember how. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { newFolder } from '../../support/stores.ts';
import { setGround } from './ground.ts';

it('the first fill is asked for after a start that does not say so again', async () => {
  const { add, run, service, links } = await setGround();
  for (let at = 0; at < 3; at++) add(cvrNumber(at));
  expect((await run({ limit: 1, sendUpdate: true, trust: 'register' })).phase).toBe('apply');
  expect((await run()).phase).toBe('done');
  expect(service.changes.filter((change) => change.endsWith(' +update'))).toHaveLength(3);
  expect(Object.values(await links()).every((link) => link.includes(' register '))).toBe(true);
});

it('a plan is applied as it was made, and may still be asked to fill', async () => {
  for (const [planned, applied] of [
    [true, false],
    [false, true],
  ] as const) {
    const { add, run, service } = await setGround();
    const id = add('10150817');
    const file = join(newFolder(), 'plan.csv');
    await run({ mode: { kind: 'plan', file }, sendUpdate: planned });
    await run({ mode: { kind: 'file', file }, sendUpdate: applied });
    expect(service.changes).toEqual([`add hubspot CVR-1-10150817 ${id} +update`]);
  }
});

it('a scan by another property begins anew: half of it would speak of other numbers', async () => {
  const ground = await setGround();
  for (let at = 0; at < 150; at++) ground.add(cvrNumber(at));
  const stop = new AbortController();
  const { crm, tell } = ground.deps;
  const stopping = (step: Parameters<typeof tell>[0]): void => {
    if (step.scanned !== undefined) stop.abort(new Error('enough'));
  };
  Object.assign(ground.deps, { tell: stopping });
  await expect(ground.run({ mode: { kind: 'look' } }, stop.signal)).rejects.toThrow('enough');
  Object.assign(ground.deps, { tell, crm: { ...crm, match: 'phone' } });
  expect(await ground.run({ mode: { kind: 'look' } })).toMatchObject({ scanned: 150, match: 'phone' });
  expect((await ground.outcome()).verdicts).toEqual({ 'no-number': 150 });
});
