/** What a delivery's page tells of its attempts, and how a list shows which deliveries fail. */
import { describe, expect, it } from 'vitest';
import { attemptsOf, listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { pageDeliveries } from '../../src/service/delivery/listing/delivery-page.ts';
import { delivering, openHook } from '../service/delivering.ts';
import { changed, made, OTHER } from '../service/monitored.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages, type Visitor } from './visitor.ts';

const DAY_MS = 86_400_000;
const TOKEN = 'a-token-of-theirs';

/** The words of the state's tabs, with their counts. */
const tabsOf = async (visitor: Visitor, path = '/deliveries'): Promise<readonly string[]> => {
  const { text } = await visitor.get(path);
  const [, tabs = ''] = /<nav class="tabs"[^>]*>(.*?)<\/nav>/u.exec(text) ?? [];
  return [...tabs.matchAll(/<a [^>]*>(.*?)<\/a>/gu)].map(([, words = '']) => words.replaceAll(/<[^>]+>/gu, ''));
};

describe.each(SUITE_ENGINES)('a delivery on %s', (engine) => {
  it('shows the headers and the answer of each attempt, without secrets', async () => {
    const { signedIn, store } = await startPages({ engine });
    const hook = await openHook((response, _seen, count) => {
      response.writeHead(count === 1 ? 502 : 503, {
        'content-type': 'text/plain',
        'x-request-id': `request-${count}`,
        'x-echo': TOKEN,
        'set-cookie': 'session=of-the-receiver',
      });
      response.end(`answer ${count} ${'long '.repeat(100)}end of ${count}`);
    });
    const credentials = { method: 'Bearer', token: TOKEN } as const;
    await made(store, { url: hook.url, target: 'all', credentials, schedule: [0, 60] });
    const { publish, later } = delivering(store);
    await publish(changed());
    await later(0);
    await later(60_000);
    const [{ seq } = expect.fail()] = await listDeliveries(store.db);
    expect(await attemptsOf(store.db, seq)).toMatchObject([
      { headers: { 'x-request-id': 'request-1', 'x-echo': '***', 'set-cookie': '***' } },
      { headers: { 'x-request-id': 'request-2' } },
    ]);
    const ida = await signedIn('operator');
    const newest = (await ida.get(`/deliveries/${seq}`)).text;
    expect(newest).toContain('request-2');
    expect(newest).not.toContain('request-1');
    expect(newest).toContain('end of 2');
    const first = (await ida.get(`/deliveries/${seq}?attempt=1`)).text;
    expect(first).toContain('request-1');
    const sent = Object.fromEntries(
      [
        ...(first.split('Headers of the answer')[0] ?? '').matchAll(
          /<dt><code>([^<]+)<\/code><\/dt><dd><code class="wide">([^<]*)</gu,
        ),
      ].map(([, name, value]) => [name, value]),
    );
    const { headers } = hook.seen[0] ?? expect.fail();
    for (const name of ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-attempt'])
      expect(sent[name], name).toBe(headers[name]);
    expect([sent['authorization'], sent['webhook-signature']]).toEqual(['***', '***']);
    for (const text of [newest, first]) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('of-the-receiver');
    }
    const viewer = (await (await signedIn('viewer')).get(`/deliveries/${seq}?attempt=1`)).text;
    for (const hidden of ['request-1', 'webhook-id</code>', 'answer 1']) expect(viewer).not.toContain(hidden);
  });

  it('begins with the changes, and folds the JSON', async () => {
    const { signedIn, store } = await startPages({ engine });
    await made(store, { target: 'all' });
    const { publish } = delivering(store);
    const updates = {
      name: { before: 'Havblik ApS', after: 'Havblik <b> ApS' },
      phoneNumber: { before: null, after: '20304050' },
    };
    await publish(changed({ updates }));
    const { text } = await (await signedIn('operator')).get('/deliveries/1');
    const [open = '', folded = ''] = text.split('<details>');
    expect(open).toMatch(/Navn.*Havblik ApS.*Havblik &lt;b> ApS/u);
    expect(open).toContain('20304050');
    expect(open).not.toContain('entityId');
    expect(folded).toContain('entityId');
    expect((await (await signedIn('viewer')).get('/deliveries/1')).text).not.toContain('20304050');
  });
});

describe.each(SUITE_ENGINES)('the list on %s', (engine) => {
  it('counts failing, waiting, held and failed deliveries of the filter, and links to each', async () => {
    const { signedIn, store } = await startPages({ engine });
    const hook = await openHook((response) => void response.writeHead(500).end());
    const { id } = await made(store, { name: 'Sales', url: hook.url, target: 'all', schedule: [0, 60] });
    const { publish, later } = delivering(store);
    await publish(changed(), changed({ entity: OTHER }));
    await later(0);
    const ida = await signedIn('viewer');
    expect(await tabsOf(ida)).toEqual(['failing, tried again 2', 'due 0', 'held 0', 'failed 0', 'all']);
    await later(DAY_MS);
    expect(await tabsOf(ida)).toEqual(['failing, tried again 0', 'due 0', 'held 0', 'failed 2', 'all']);
    expect(await tabsOf(ida, `/deliveries?monitor=${id}&entity=${OTHER}`)).toContain('failed 1');
    expect(await tabsOf(ida, '/deliveries?since=2001-01-01')).toContain('failed 2');
    expect(await tabsOf(ida, '/deliveries?until=2001-01-01')).toContain('failed 0');
    const { text } = await ida.get(`/deliveries?monitor=${id}&state=failed`);
    expect(text).toMatch(/href="\/deliveries\?monitor=[^"]+&amp;state=failed#content" aria-current="page"/u);
    await store.write((tx) => tx.updateTable('delivery').set({ state: 'failed' }).execute());
    expect((await pageDeliveries(store.db, { state: 'failed' }, 5)).deliveries).toHaveLength(2);
  });

  it('begins with the strip of arrivals of the monitor’s page if it is filtered by a monitor', async () => {
    const { signedIn, store } = await startPages({ engine });
    const hook = await openHook((response, _seen, count) => void response.writeHead(count > 2 ? 500 : 204).end());
    const { id } = await made(store, { url: hook.url, target: 'all', schedule: [0] });
    const { publish, later } = delivering(store);
    for (let at = 0; at < 3; at += 1) {
      await publish(changed());
      await later(1_000);
    }
    const ida = await signedIn('viewer');
    await store.write((tx) =>
      tx.updateTable('delivery').set({ created_at: Date.now(), ended_at: Date.now() }).execute(),
    );
    for (const path of [`/deliveries?monitor=${id}`, `/monitors/${id}`]) {
      const { text } = await ida.get(path);
      expect(text, path).toContain('The last 3 deliveries of 24 hours');
      expect(text, path).toContain('1 did not arrive');
      expect(text, path).toMatch(/class="ok" x="0"[^>]* width="20".*class="bad" x="20"[^>]* width="10"/u);
    }
    expect((await ida.get('/deliveries')).text).not.toContain('class="chart strip"');
  });
});
