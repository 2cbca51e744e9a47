/** A key that is dead is no green light: who asks what needs a person hears that nothing is called. */
import { expect, test } from 'vitest';
import { UPSTREAM_ACCOUNT } from '../../src/connector/upstream.ts';
import { createPace } from '../../src/runtime/rate.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { setStage } from '../support/stage.ts';

test('an account that is not called is told of, with the reason, for as long as that lasts', async () => {
  const stage = await setStage();
  await stage.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await stage.settled();
  expect((await stage.cli('review')).stdout).toBe('Nothing needs a person.\n');
  stage.hubspot.revoke();
  await stage.post(renamed('A ApS', 'B ApS'));
  const told = async (): Promise<string> => (await stage.cli('review')).stdout;
  await expect.poll(told).toMatch(/^hubspot is not called before \d{4}-.*Z: .*(?:token|credentials)/imu);
  const { store } = stage.app;
  const pace = createPace({ store, key: UPSTREAM_ACCOUNT, budgets: {}, now: Date.now });
  await pace.block(Date.now() + 60_000, 'the key is not accepted');
  expect(await told()).toMatch(/^The monitoring service is not called before .*: the key is not accepted\./mu);
  await pace.clear();
  expect(await told()).not.toContain('The monitoring service');
});
