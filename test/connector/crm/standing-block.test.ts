/** Calls that meet a block which stands already: they say nothing new of the account. */
import { describe, expect, it } from 'vitest';
import { patiently } from '../../../src/connector/crm/patience.ts';
import { settleFault } from '../../../src/connector/crm/settle.ts';
import { readBlocks } from '../../../src/runtime/limits/blocks.ts';
import type { CrmName } from '../../support/fixture.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { startFixture } from '../backfill/fixture.ts';

const live = new AbortController().signal;
const CRMS: readonly CrmName[] = ['hubspot', 'salesforce'];

describe.each(SUITE_ENGINES)('a block for refused credentials, on %s', (engine) => {
  async function blocked(name: CrmName) {
    const { crm, store } = (await startFixture({ engine, crm: name })).deps;
    await crm.rateLimiter.block(Date.now() + 60_000, 'the credentials are refused', 'auth');
    return { crm, blocks: () => readBlocks(store.db, Date.now()) };
  }

  it.each(CRMS)('is not changed by work for %s, which waits for its end', async (name) => {
    const { crm, blocks } = await blocked(name);
    const before = await blocks();
    const error: unknown = await crm.connection.read(['1'], ['name'], live).catch((thrown: unknown) => thrown);
    const { of, paused } = await settleFault(error, crm.rateLimiter, Date.now() + 5_000);
    expect(before).toMatchObject([{ account: name, fault: 'auth' }]);
    expect(await blocks()).toEqual(before);
    const claim = { queue: `sync:${name}`, key: '1', fence: 1, marks: 1, attempts: 0, since: 0, unended: 0 };
    expect([paused, of(claim)]).toMatchObject([true, { kind: 'again', at: before[0]?.until, free: true }]);
  });

  it.each(CRMS)('is not changed by a command that calls %s', async (name) => {
    const { crm, blocks } = await blocked(name);
    const before = await blocks();
    const stop = new AbortController();
    const wait = async () => stop.abort(new Error('it waits'));
    const asking = patiently({ crm, now: Date.now, wait }, () => crm.connection.check(live), stop.signal);
    await expect(asking).rejects.toThrow('it waits');
    expect(await blocks()).toEqual(before);
  });

  it('is not restored by a call that was refused before a person ended it', async () => {
    const { crm, blocks } = await blocked('hubspot');
    const error: unknown = await crm.connection.check(live).catch((thrown: unknown) => thrown);
    await crm.rateLimiter.clear();
    await settleFault(error, crm.rateLimiter, Date.now());
    expect(await blocks()).toEqual([]);
  });
});
