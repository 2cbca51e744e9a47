/** Addresses of webhooks that hold a secret: sealed in the store, and masked if they are listed or named. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { viewOf, viewOfCreated } from '../../../src/operations/service/monitor-view.ts';
import { post, webhookAt } from '../../../src/service/delivery/post.ts';
import { openTransports } from '../../../src/service/delivery/transport.ts';
import { getMonitor, updateMonitor } from '../../../src/service/monitors/monitors.ts';
import { maskedAddress } from '../../../src/service/monitors/webhook-address.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { openHook } from '../delivering.ts';
import { COMPANY, made, secrets } from '../monitored.ts';

const ADDRESS = 'https://hooks.example.com/services/T0/xoxb-of-ours?token=open-sesame';

describe.each(SUITE_ENGINES)('an address that is stored, on %s', (engine) => {
  it('is sealed', async () => {
    const store = await newStore(engine);
    const { id } = await made(store, { url: ADDRESS });
    const mails = await made(store, { url: null, emails: ['bo@example.com'] });
    const stored = await store.db.selectFrom('monitor').select('url').where('id', '=', id).executeTakeFirst();
    expect(stored?.url).not.toContain('xoxb');
    expect((await getMonitor(store.db, secrets, id))?.url).toBe(ADDRESS);
    expect((await getMonitor(store.db, secrets, mails.id))?.url).toBeNull();
  });

  it('is hidden from programs, and a masked one that is sent back changes nothing', async () => {
    const store = await newStore(engine);
    const monitor = await made(store, { url: ADDRESS });
    const { url } = viewOf(monitor);
    expect(JSON.stringify([viewOf(monitor), viewOfCreated(monitor)])).not.toMatch(/xoxb|sesame/u);
    const change = (to: string) => store.write((tx) => updateMonitor(tx, monitor.id, { url: to }, { secrets, now: 9 }));
    expect((await change(url ?? ''))?.url).toBe(ADDRESS);
    expect((await change('https://hooks.example.com/new'))?.url).toBe('https://hooks.example.com/new');
  });
});

it.each([
  [ADDRESS, 'https://hooks.example.com/•••'],
  ['https://hooks.example.com:8443/?key=x', 'https://hooks.example.com:8443/•••'],
  ['https://hooks.example.com', 'https://hooks.example.com'],
])('%s is listed as %s', (address, shown) => {
  expect(maskedAddress(address)).toBe(shown);
});

it('a webhook address is in no error and no stored answer', async () => {
  const { http, close } = openTransports({ allowPrivate: true, allow: [] });
  onTestFinished(close);
  const echo = await openHook((response, { path }) => response.writeHead(500).end(`no such path: ${path}`));
  const cut = await openHook((response) => response.destroy());
  const postTo = async (url: string) => {
    const webhook = webhookAt(`${url}/xoxb-of-ours?token=open-sesame-7`, {
      credentials: { method: 'None' },
      secrets: [],
    });
    const message = { id: 'msg_1', body: JSON.stringify({ entityId: COMPANY }), attempt: 1 };
    return await post(http, webhook, message, { now: Date.now, signal: new AbortController().signal });
  };
  const [echoed, failed] = [await postTo(echo.url), await postTo(cut.url)];
  expect([echoed?.status, echoed?.answer]).toEqual([500, expect.stringContaining('no such path: ***')]);
  expect(failed?.error).toContain(`${new URL(cut.url).origin}/•••`);
  for (const kept of [echoed, failed]) expect(JSON.stringify(kept)).not.toMatch(/xoxb|sesame/);
});
