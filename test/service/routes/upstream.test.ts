/** The connector's own client against the service's own routes. */
import { expect, it, onTestFinished } from 'vitest';
import { openUpstream, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { openHarness } from './harness.ts';

const never = new AbortController().signal;
const item = (index: number) => ({ entityId: `CVR-1-${10_000_000 + index}`, id: `a/b ${index}` });

const open = async (
  more: { keyHeader?: string; take?: number; wrongKey?: boolean; requestsPerMinute?: number } = {},
) => {
  const { keyHeader, take, wrongKey = false, requestsPerMinute = 500 } = more;
  const harness = await openHarness('sqlite', { requestsPerMinute });
  const { id, key } = await harness.key();
  const jobId = await harness.job(id, 'crm');
  const client = openClient({ deadlineMs: 60_000 });
  onTestFinished(() => client.close());
  const upstream = openUpstream({
    baseUrl: harness.url,
    accessKey: wrongKey ? `${key}x` : key,
    http: client.http,
    rateLimiter: upstreamRateLimiter(harness.store, 60_000, Date.now),
    ...(keyHeader !== undefined && { keyHeader }),
    ...(take !== undefined && { take }),
  });
  return { upstream, jobId };
};

it.each([undefined, 'x-access-key'])('the client adds, lists and removes, with the key in %s', async (keyHeader) => {
  const { upstream, jobId } = await open({ take: 2, ...(keyHeader !== undefined && { keyHeader }) });
  for (let index = 0; index < 5; index++)
    expect(await upstream.add(item(index), index === 0, 'crm', never)).toEqual({ kind: 'done' });
  expect(await upstream.add(item(0), false, 'crm', never)).toEqual({ kind: 'done' });
  expect(await upstream.jobs(never)).toEqual([{ id: jobId, name: 'crm', provider: 'crm' }]);
  const listed = await Array.fromAsync(upstream.items(jobId, never));
  expect(listed).toEqual([0, 1, 2, 3, 4].map((index) => ({ ...item(index), provider: 'crm' })));
  expect(await upstream.remove(item(2), 'crm', never)).toEqual({ kind: 'done' });
  expect(await upstream.remove(item(2), 'crm', never)).toEqual({ kind: 'done' });
  expect(await Array.fromAsync(upstream.items(jobId, never))).toHaveLength(4);
});

it('the client learns why it is refused: an unknown provider, a bad id, an unknown job', async () => {
  const { upstream } = await open();
  expect(await upstream.add(item(0), false, 'other', never)).toMatchObject({
    kind: 'refused',
    status: 404,
    message: expect.stringContaining('no job for other. It has: crm.'),
  });
  expect(await upstream.add({ entityId: 'CVR-1-7', id: '7' }, false, 'crm', never)).toMatchObject({
    kind: 'refused',
    status: 422,
  });
  await expect(Array.fromAsync(upstream.items('nothing', never))).rejects.toThrow('(404)');
});

it('the client learns that its key is wrong, and how long to wait at the limit', async () => {
  const wrong = await open({ wrongKey: true });
  expect(await wrong.upstream.add(item(0), false, 'crm', never)).toMatchObject({ kind: 'auth' });
  const { upstream } = await open({ requestsPerMinute: 1 });
  expect(await upstream.add(item(0), false, 'crm', never)).toEqual({ kind: 'done' });
  const late = await upstream.add(item(1), false, 'crm', never);
  expect(late).toMatchObject({ kind: 'rate', message: expect.stringContaining('(429)') });
  expect(late.kind === 'rate' && late.retryAfterMs > 50_000 && late.retryAfterMs <= 60_000).toBe(true);
});
