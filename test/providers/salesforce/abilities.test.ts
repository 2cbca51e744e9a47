/** The behaviour of every ability when the session ends, the org has no calls left, or Salesforce does not answer. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { FaultAction } from '../../../providers/kit/emulator/emulator.ts';
import type { Connection } from '../../../providers/provider.ts';
import { definitions } from '../../../providers/salesforce/write/custom-fields.ts';
import { type Bench, live, openBench } from './setup.ts';

const LIMIT = 'REQUEST_LIMIT_EXCEEDED';
const refusal = (status: number, errorCode: string, message: string): FaultAction => ({
  kind: 'status',
  status,
  body: [{ message, errorCode }],
});

/** The last call each verb makes, and the verb. */
const VERBS: Readonly<
  Record<
    string,
    { match: string; run: (connection: Connection, id: string, signal: AbortSignal) => Promise<unknown> | undefined }
  >
> = {
  changes: {
    match: '/queryAll',
    run: (connection, _id, signal) => connection.changes?.(['Name'], '2026-10-01T07:50:00Z', signal),
  },
  find: { match: '0/query', run: (connection, _id, signal) => connection.find?.('Name', 'A', signal) },
  create: { match: '/sobjects/Account$', run: (connection, _id, signal) => connection.create?.({ Name: 'B' }, signal) },
  define: {
    match: '/tooling/sobjects',
    run: (connection, _id, signal) => connection.defineProperties?.(definitions, signal),
  },
  rules: { match: '/tooling/query', run: (connection, _id, signal) => connection.rules?.(signal) },
  'note find': { match: '/queryAll', run: (connection, id, signal) => connection.notes?.find(id, 'm', 0, signal) },
  'note add': {
    match: '/sobjects/Task',
    run: (connection, recordId, signal) =>
      connection.notes?.add({ recordId, at: 0, subject: 's', text: 't', marker: 'm' }, signal),
  },
  'parent read': {
    match: '/composite/sobjects',
    run: (connection, id, signal) => connection.parents?.read([id], signal),
  },
  'parent write': {
    match: '/composite$',
    run: (connection, id, signal) => connection.parents?.write({ id, parent: null, was: null }, signal),
  },
};

describe.each(Object.entries(VERBS))('%s', (_name, { match, run }) => {
  let bench: Bench;
  let id = '';

  beforeEach(async () => {
    bench = await openBench({ missingFields: ['CVR_Capital__c'] });
    id = bench.emulator.add({ Name: 'A' });
    await bench.connection.properties(live());
    bench.clock.now += 60_000;
  });
  const strike = (action: FaultAction, times = 1) => bench.emulator.fault({ match, action, times });

  it('renews a session that ended, once', async () => {
    bench.emulator.expireSessions();
    const before = bench.requests.length;
    await run(bench.connection, id, live());
    expect(bench.requests.slice(before).filter(({ url }) => url.endsWith('/token')).length).toBe(1);
  });

  it('is an auth fault if the renewed session is refused too', async () => {
    strike(refusal(401, 'INVALID_SESSION_ID', 'Session expired or invalid'), 9);
    await expect(run(bench.connection, id, live())).rejects.toMatchObject({ fault: 'auth' });
  });

  it('is a rate fault with a time to wait if the org has no calls left', async () => {
    strike(refusal(403, LIMIT, 'TotalRequests Limit exceeded.'));
    await expect(run(bench.connection, id, live())).rejects.toMatchObject({ fault: 'rate', retryAfterMs: 900_000 });
    strike(refusal(403, LIMIT, 'ConcurrentPerOrgLongTxn Limit exceeded.'));
    await expect(run(bench.connection, id, live())).rejects.toMatchObject({ fault: 'rate', retryAfterMs: 5_000 });
  });

  it.each<[string, FaultAction]>([
    ['a 500', { kind: 'status', status: 500, body: 'x' }],
    ['a 503 in HTML', { kind: 'status', status: 503, body: '<html>maintenance</html>' }],
    ['a page instead of data', { kind: 'status', status: 200, body: '<html>maintenance</html>' }],
    ['an empty answer', { kind: 'status', status: 200 }],
    ['data of another shape', { kind: 'status', status: 200, body: {} }],
    ['an answer cut off', { kind: 'cut' }],
    ['a connection reset', { kind: 'reset' }],
  ])('is unavailable after %s', async (_label, action) => {
    strike(action);
    await expect(run(bench.connection, id, live())).rejects.toMatchObject({ fault: 'unavailable' });
  });

  it('stops at once with the reason of its signal', async () => {
    const stop = new AbortController();
    const reason = new Error('stopping');
    strike({ kind: 'hang' });
    const work = run(bench.connection, id, stop.signal);
    setTimeout(() => stop.abort(reason), 20);
    await expect(work).rejects.toBe(reason);
  });
});
