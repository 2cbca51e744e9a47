import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hubspot } from '../../../../providers/hubspot/provider.ts';
import { signatureOf } from '../../../../providers/hubspot/read/signature.ts';
import type { EmulatedWebhookOptions } from '../../../../providers/kit/hubspot/account/options.ts';
import type { CrmRequest } from '../../../../providers/provider.ts';
import { openBench, settingsOf } from '../setup.ts';

const SECRET = 'a-client-secret';
const NOW = 1_780_000_000_000;
const URL = 'https://sync.example.dk/providers/hubspot/webhook';

const read = (request: CrmRequest, secret: string | undefined = SECRET, now = NOW) =>
  hubspot.webhook?.(
    request,
    settingsOf({ accessToken: 'x', ...(secret === undefined ? {} : { clientSecret: secret }) }),
    now,
  );

function posted(body: string): CrmRequest {
  const bytes = new TextEncoder().encode(body);
  return {
    method: 'POST',
    url: URL,
    headers: {
      'x-hubspot-signature-v3': signatureOf(SECRET, { method: 'POST', url: URL, body: bytes }, String(NOW)),
      'x-hubspot-request-timestamp': String(NOW),
    },
    body: bytes,
  };
}

const readEvents = (...events: object[]) => read(posted(JSON.stringify(events)));

describe('a webhook of HubSpot', () => {
  it('names the companies of its events in the old shape and in the new one, each once', () => {
    expect(
      readEvents(
        { subscriptionType: 'company.creation', objectId: 1, eventId: 7 },
        { subscriptionType: 'company.propertyChange', objectId: 2, propertyName: 'cvr_number', propertyValue: '' },
        { subscriptionType: 'object.restore', objectTypeId: '0-2', objectId: 3 },
        { eventType: 'company.deletion', objectId: '4' },
        { subscriptionType: 'company.deletion', objectId: 2 },
      ),
    ).toEqual({ kind: 'records', ids: ['1', '2', '3', '4'] });
  });

  it('names all companies of a merge', () => {
    const merge = { objectId: 30, primaryObjectId: 10, mergedObjectIds: [20, 21], newObjectId: 30 };
    for (const shape of [
      { subscriptionType: 'company.merge' },
      { subscriptionType: 'object.merge', objectTypeId: '0-2' },
    ])
      expect(readEvents({ ...shape, ...merge })).toEqual({ kind: 'records', ids: ['30', '10', '20', '21'] });
  });

  it('ignores other objects, associations and unknown events', () => {
    expect(
      readEvents(
        { subscriptionType: 'contact.deletion', objectId: 1 },
        { subscriptionType: 'object.deletion', objectTypeId: '0-1', objectId: 2 },
        { subscriptionType: 'company.associationChange', fromObjectId: 3, toObjectId: 4 },
        { subscriptionType: 'company.creation', objectId: '../5' },
        { subscriptionType: 'company.creation' },
        {},
      ),
    ).toEqual({ kind: 'records', ids: [] });
  });

  it.each(['', 'null', '7', '"text"', '[1]', '[null]', '[[]]', '{"a":', '<html>'])('is unreadable as %j', (body) => {
    expect(read(posted(body))).toMatchObject({ kind: 'unreadable', reason: expect.any(String) });
  });

  it('is refused with a wrong signature, a stale one, and without a configured secret', () => {
    const good = posted('[]');
    expect(read(good)).toEqual({ kind: 'records', ids: [] });
    expect(read(good, 'another')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('clientSecret') });
    expect(read(good, SECRET, NOW + 600_000)).toMatchObject({ kind: 'refused' });
    const settings = settingsOf({ accessToken: 'x' });
    expect(hubspot.webhook?.(good, settings, NOW)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('clientSecret'),
    });
  });

  it('shows no secret in any reason', () => {
    const reasons = [
      read(posted('['))?.kind,
      JSON.stringify(read(posted('[]'), 'another')),
      JSON.stringify(read(posted('['))),
    ];
    expect(reasons.join()).not.toContain(SECRET);
  });
});

describe('the emulated account posts', () => {
  async function openReceiver(status: () => number = () => 204) {
    const requests: CrmRequest[] = [];
    const server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
        requests.push({ method: req.method ?? '', url: `${url}${req.url}`, headers, body: Buffer.concat(chunks) });
        res.writeHead(status()).end();
      });
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    onTestFinished(() => void server.close());
    return { requests, url: `${url}/webhook` };
  }
  const eventsOf = (requests: CrmRequest[]): Record<string, unknown>[] =>
    requests.flatMap(({ body }) => JSON.parse(Buffer.from(body).toString('utf8')));
  const subscription = (url: string, shape: EmulatedWebhookOptions['shape'] = 'object') => ({
    url,
    shape,
    clientSecret: SECRET,
  });

  it.each(['company', 'object'] as const)(
    'everything that happened, in the shape %s, so that it verifies',
    async (shape) => {
      const { requests, url } = await openReceiver();
      const { emulator } = await openBench({ webhook: subscription(url, shape) });
      const [a, b, c] = ['Æblegård', 'B', 'C'].map((name) => emulator.add({ name }));
      if (a === undefined || b === undefined || c === undefined) throw new Error('not reached');
      emulator.edit(a, { cvr_number: '12345678', city: 'Sorø' });
      emulator.remove(c);
      emulator.restore(c);
      const survivor = emulator.merge(a, b);
      await emulator.webhooksSettled();
      const ids = new Set<string>();
      for (const request of requests) {
        const answer = read(request, SECRET, Date.now());
        if (answer?.kind !== 'records') throw new Error(JSON.stringify(answer));
        for (const id of answer.ids) ids.add(id);
      }
      expect(ids).toEqual(new Set([a, b, c, survivor]));
      const kinds = eventsOf(requests).map((event) => String(event.subscriptionType).split('.')[1]);
      const reported = new Map(kinds.map((kind) => [kind, kinds.filter((other) => other === kind).length]));
      expect(reported.get('deletion')).toBeGreaterThanOrEqual(3);
      // Only subscribed properties are told, and not what a merge changes.
      expect(reported.get('propertyChange')).toBeGreaterThanOrEqual(1);
      expect(eventsOf(requests).every((event) => (event.objectTypeId === '0-2') === (shape === 'object'))).toBe(true);
    },
  );

  it('some events twice and out of order, the same for the same seed', async () => {
    const orders = await Promise.all(
      [1, 1, 2].map(async (seed) => {
        const { requests, url } = await openReceiver();
        const { emulator } = await openBench({ seed, webhook: subscription(url) });
        for (let i = 0; i < 30; i += 1) emulator.add({ name: `Nr ${i}` });
        await emulator.webhooksSettled();
        return eventsOf(requests).map(({ eventId }) => Number(eventId));
      }),
    );
    const [first, again, other] = orders;
    expect(first).toEqual(again);
    expect(first).not.toEqual(other);
    expect(first).toHaveLength(36);
    expect(first).not.toEqual([...(first ?? [])].sort((a, b) => a - b));
  });

  it('again after a failure, a hundred at most at once', async () => {
    let tries = 0;
    const { requests, url } = await openReceiver(() => {
      tries += 1;
      return tries <= 2 ? 503 : 200;
    });
    const { emulator } = await openBench();
    emulator.subscribe(subscription(url));
    for (let i = 0; i < 150; i += 1) emulator.add({ name: `Nr ${i}` });
    await emulator.webhooksSettled();
    expect(requests.length).toBeGreaterThan(2);
    for (const { body } of requests)
      expect(JSON.parse(Buffer.from(body).toString('utf8')).length).toBeLessThanOrEqual(100);
    expect(Math.max(...eventsOf(requests).map(({ attemptNumber }) => Number(attemptNumber)))).toBe(1);
  });
});
