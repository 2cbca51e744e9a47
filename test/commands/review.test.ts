/** What `review` says where something waits: an account that nobody may call, a value that a CRM refused. */
import { expect, test } from 'vitest';
import { UPSTREAM_ACCOUNT } from '../../src/connector/monitoring/upstream.ts';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import { ENTITY, renamed, reported } from '../faults/company.ts';
import { startFixture } from '../support/fixture.ts';
import { SUITE_ENGINES } from '../support/stores.ts';

test('review never says that nothing needs a person while it lists a paused account', async () => {
  const fixture = await startFixture();
  await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await fixture.settled();
  expect(await fixture.cli('review')).toMatchObject({ code: 0, stdout: 'Nothing needs a person.\n' });
  fixture.hubspot.revoke();
  await fixture.post(renamed('A ApS', 'B ApS'));
  const shown = async (): Promise<string> => (await fixture.cli('review')).stdout;
  await expect.poll(shown).toMatch(/account\/hubspot.*(?:token|credentials)/isu);
  const { store } = fixture.app;
  const rateLimiter = createRateLimiter({ store, key: UPSTREAM_ACCOUNT, budgets: {}, now: Date.now });
  await rateLimiter.block(Date.now() + 60_000, 'the key is not accepted', 'auth');
  const { code, stdout } = await fixture.cli('review');
  expect([code, stdout]).toEqual([3, expect.stringMatching(/the monitoring service.*the key is not accepted/su)]);
  expect(stdout).not.toContain('Nothing needs a person');
  const listed: { id: string }[] = JSON.parse((await fixture.cli('review', '--json')).stdout);
  expect(listed.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['account/hubspot', `account/${UPSTREAM_ACCOUNT}`]),
  );
  await rateLimiter.clear();
  expect(await shown()).not.toContain('the monitoring service');
});

test('review mentions a short pause that ends by itself, without requiring a person', async () => {
  const fixture = await startFixture();
  const rateLimiter = createRateLimiter({ store: fixture.app.store, key: 'hubspot', budgets: {}, now: Date.now });
  await rateLimiter.block(Date.now() + 60_000, 'too many calls', 'rate');
  const { code, stdout } = await fixture.cli('review');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Nothing failed\.\nhubspot is not called before .*too many calls/u),
  ]);
});

for (const engine of SUITE_ENGINES)
  test(`review gives programs the body of an unreadable webhook, to correct and receive it, on ${engine}`, async () => {
    const fixture = await startFixture({ engine });
    const body = JSON.stringify(renamed(null, 'Å ApS')).replace('}', '');
    expect(await fixture.post(body)).toBe(400);
    const { code, stdout } = await fixture.cli('review', 'list', '--kind', 'body', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([3, [expect.objectContaining({ kind: 'body', body })]]);
    // The list of all kinds is short, and so is the table.
    expect((await fixture.cli('review', '--json')).stdout).not.toContain('Å ApS');
    const table = (await fixture.cli('review', 'list', '--kind', 'body')).stdout;
    expect(table).not.toContain('Å ApS');
    expect(table.replaceAll(/\s+/gu, ' ')).toContain('cvrsync review list --kind body --json');
  });

test('review and explain name the value that the CRM keeps when it refuses a new one', async () => {
  const fixture = await startFixture({ salesforce: { fields: [{ name: 'CVR_Status__c', length: 6 }] } });
  const id = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS', CVR_Status__c: 'gammel' });
  await fixture.post(reported({ status: { before: null, after: 'UNDERKONKURS' } }, 8));
  await fixture.settled();
  const said = expect.stringMatching(/"gammel" stays in the CRM/u);
  expect((await fixture.cli('review', '--json')).stdout.replaceAll('\\"', '"')).toEqual(said);
  expect((await fixture.cli('explain', `salesforce:${id}`)).stdout).toEqual(said);
});
