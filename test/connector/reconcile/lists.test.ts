/** Lists that cannot be had whole, and what happens to the store while they are read. */
import { expect, it, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { endLink, findLink, linkRecord } from '../../../src/connector/links/links.ts';
import { openUpstream, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import { jobsOf } from '../../../src/connector/reconcile/jobs-of.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { claimByKey } from '../../../src/runtime/lanes/claim.ts';
import { serveService } from '../../support/service.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { MATCH, numberAt, occurring, setComparison } from './comparison.ts';

const page = (...ids: readonly string[]) => ids.map((id) => ({ id, properties: { [MATCH]: numberAt(Number(id)) } }));

it('decides nothing if a page of the CRM is missing', async () => {
  const fixture = await setComparison();
  for (const record of ['1', '2', '3', '4', '5']) await fixture.agree(record, numberAt(Number(record)));
  fixture.beforePage = (cursor) => {
    if (cursor === '2') throw new ProviderError('refused', 'no scope to list companies');
    return undefined;
  };
  await expect(fixture.reconcile()).rejects.toThrow('no scope to list companies');
  expect(await fixture.lanes('heal:crm')).toEqual([]);
});

it('retries an unanswered page', async () => {
  const fixture = await setComparison();
  for (const record of ['1', '2', '3']) await fixture.agree(record, numberAt(Number(record)));
  let silences = 1;
  fixture.beforePage = (cursor) => {
    if (cursor === '2' && silences-- > 0) throw new ProviderError('unavailable', 'no answer');
    return undefined;
  };
  expect(occurring(await fixture.survey())).toEqual({});
});

it('stops if the list of the CRM is circular', async () => {
  const fixture = await setComparison();
  fixture.beforePage = (cursor) => ({ records: page('1'), cursor: cursor === 'a' ? 'b' : 'a' });
  await expect(fixture.survey()).rejects.toThrow('a cursor came twice');
});

it('stops without a decision if the items of the service repeat', async () => {
  const fixture = await setComparison();
  for (const record of ['1', '2']) await fixture.agree(record, numberAt(Number(record)));
  const results = [{ entityId: `CVR-1-${numberAt(1)}`, id: '1' }];
  const service = await serveService({ page: () => ({ results, continuationToken: '1' }) });
  service.put('crm', `CVR-1-${numberAt(1)}`, '1');
  const client = openClient();
  const upstream = openUpstream({
    baseUrl: service.url,
    accessKey: service.accessKey,
    http: client.http,
    rateLimiter: upstreamRateLimiter(fixture.store, 60_000, Date.now),
  });
  await expect(fixture.reconcile({}, { upstream })).rejects.toThrow('a continuationToken came twice');
  await client.close();
  expect(await fixture.lanes('monitoring')).toEqual([]);
});

it('decides nothing if the service answers half its pages', async () => {
  const fixture = await setComparison();
  for (const record of ['1', '2', '3', '4']) await fixture.agree(record, numberAt(Number(record)));
  fixture.service.fault({
    match: 'job-crm/items',
    after: 1,
    action: { kind: 'status', status: 422, body: { errorMessage: 'no such page' } },
  });
  await expect(fixture.reconcile()).rejects.toThrow('no such page');
  expect(await fixture.lanes('monitoring')).toEqual([]);
});

it('counts a record once that the CRM lists twice because it changed meanwhile', async () => {
  const fixture = await setComparison();
  await fixture.agree('1', numberAt(1));
  await fixture.agree('2', numberAt(2));
  fixture.beforePage = (cursor) =>
    cursor === undefined ? { records: [...page('1', '2'), ...page('2')], cursor: 'next' } : { records: page('1') };
  expect(occurring(await fixture.survey())).toEqual({});
});

test.each(SUITE_ENGINES)('two reconciles of a connection do not run at the same time (%s)', async (engine) => {
  const fixture = await setComparison({ engine });
  await fixture.agree('1', numberAt(1));
  const scanning = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  fixture.beforePage = async () => {
    scanning.resolve();
    await go.promise;
    return undefined;
  };
  const first = fixture.survey();
  await scanning.promise;
  await expect(fixture.survey()).rejects.toThrow('somebody else reconciles');
  go.resolve();
  expect(await first).toMatchObject({ records: 1 });
});

test.each(SUITE_ENGINES)('a process that lost its claim on the reconcile writes nothing (%s)', async (engine) => {
  const fixture = await setComparison({ engine });
  for (const record of ['1', '2', '3', '4', '5', '6']) await fixture.agree(record, numberAt(Number(record)));
  fixture.records.delete('1');
  fixture.beforePage = async (cursor) => {
    if (cursor !== '4') return undefined;
    // It was stopped for longer than its lease.
    await fixture.store.write((tx) =>
      tx.updateTable('lane').set({ lease_until: 0 }).where('queue', '=', 'poll').execute(),
    );
    // PostgreSQL passes a lane over that a transaction of the reconcile locks at this moment.
    const seize = () => claimByKey(fixture.store, 'poll', ['crm reconcile'], { now: fixture.at, leaseMs: 9_000 });
    await expect.poll(seize).toHaveLength(1);
    return undefined;
  };
  await expect(fixture.reconcile()).rejects.toThrow('another process reconciles crm');
  expect(await fixture.lanes('heal:crm')).toEqual([]);
});

test.each(SUITE_ENGINES)('a link that is created while its item is removed is monitored again (%s)', async (engine) => {
  const fixture = await setComparison({ engine });
  const [entity, recordId] = [`CVR-1-${numberAt(1)}`, '1'];
  fixture.service.put('crm', entity, recordId);
  const upstream = {
    ...fixture.upstream,
    async remove(...asked: Parameters<typeof fixture.upstream.remove>) {
      const desired = { provider: 'crm', recordId, entity, sendUpdate: false, now: fixture.at };
      await fixture.store.write((tx) => linkRecord(tx, desired));
      const lanes = { observed: 'on' } as const;
      // Its add was carried before the service heard of the removal.
      await fixture.store.write(async (tx) => {
        await tx.updateTable('link').set(lanes).execute();
        await tx.deleteFrom('lane').where('queue', '=', 'monitoring').execute();
      });
      return fixture.upstream.remove(...asked);
    },
  };
  await fixture.reconcile({ person: true }, { upstream });
  expect(await fixture.lanes('monitoring')).toEqual(['crm:1']);
  expect(await findLink(fixture.store.db, { provider: 'crm', recordId })).toMatchObject({
    desired: 'on',
    observed: 'unknown',
  });
});

test.each(SUITE_ENGINES)(
  'a desired state that changes between the comparison and the repair is not overwritten (%s)',
  async (engine) => {
    const fixture = await setComparison({ engine });
    for (const record of ['1', '2', '3']) await fixture.agree(record, numberAt(Number(record)));
    fixture.service.take('crm', `CVR-1-${numberAt(1)}`, '1');
    let isEnded = false;
    fixture.beforePage = async (cursor) => {
      if (cursor === undefined || isEnded) return undefined;
      isEnded = true;
      const end = { provider: 'crm', recordId: '1', state: 'removed', reason: 'asked', now: fixture.at } as const;
      await fixture.store.write((tx) => endLink(tx, end));
      return undefined;
    };
    await fixture.reconcile();
    expect(await findLink(fixture.store.db, { provider: 'crm', recordId: '1' })).toMatchObject({ desired: 'off' });
  },
);

it('finds the jobs of a connection by name, then by the name in another case, then by their items', () => {
  const named = (...names: readonly string[]) => names.map((name) => ({ id: `id-${name}`, name }));
  expect(jobsOf(named('HubSpot', 'hubspot', 'x'), 'hubspot')).toEqual({ jobs: named('hubspot'), mixed: false });
  expect(jobsOf(named('HubSpot', 'x'), 'hubspot')).toEqual({ jobs: named('HubSpot'), mixed: false });
  expect(jobsOf(named('HubSpot', 'x'), 'hubspot', new Set(['HubSpot']))).toEqual({ jobs: named('x'), mixed: true });
});
