/** Pages and actions of deliveries, on real stores with real webhooks. */
import { describe, expect, it } from 'vitest';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { workOnRuns } from '../../src/runtime/runs/work.ts';
import { listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { pageDeliveries } from '../../src/service/delivery/listing/delivery-page.ts';
import { REPLAY } from '../../src/service/delivery/replay/replay-task.ts';
import { replayWork } from '../../src/service/delivery/replay/replay-work.ts';
import { disable } from '../../src/service/monitors/monitors.ts';
import { delivering, openHook, statuses } from '../service/delivering.ts';
import { COMPANY, changed, made, OTHER, PERSON } from '../service/monitored.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

const HOSTILE = '<script>alert(1)</script>';

describe.each(SUITE_ENGINES)('deliveries on %s', (engine) => {
  it('are shown with their attempts and payload, and with foreign markup as text', async () => {
    const { signedIn, store } = await startPages({ engine });
    const hook = await openHook((response) => void response.writeHead(500).end(HOSTILE));
    await made(store, { url: hook.url, target: 'all' });
    const { publish, worker } = delivering(store);
    await publish(changed({ name: HOSTILE, updates: { name: { before: 'Birk ApS', after: HOSTILE } } }));
    await worker.drained();
    const [delivery] = await listDeliveries(store.db);
    const ida = await signedIn('operator');
    const list = await ida.get('/deliveries');
    expect(list.text).toContain(`/deliveries/${delivery?.seq}`);
    const one = await ida.get(`/deliveries/${delivery?.seq}`);
    expect(one.status).toBe(200);
    for (const { text } of [list, one]) {
      expect(text).not.toContain('<script>alert');
      expect(text).toContain('&lt;script>alert(1)');
    }
    expect(one.text).toContain('entityId');
    expect(one.text).toContain('<td class="number" data-label="Attempt">');
    const viewer = await (await signedIn('viewer')).get(`/deliveries/${delivery?.seq}`);
    expect(viewer.text).not.toContain('entityId');
    expect(viewer.text).not.toContain('/resend');
    expect((await ida.get('/deliveries/999999')).status).toBe(404);
    expect((await ida.get('/deliveries/x')).status).toBe(404);
  });

  it('name events as the configuration does', async () => {
    const { signedIn, store } = await startPages({ engine, monitorOptions: { emailEvent: 'companyMail' } });
    await made(store, { target: 'all' });
    const { publish } = delivering(store);
    await publish(changed({ updates: { email: { before: null, after: 'post@example.com' } } }));
    const [delivery] = await listDeliveries(store.db);
    const ida = await signedIn('operator');
    for (const path of ['/deliveries', `/deliveries/${delivery?.seq}`])
      expect((await ida.get(path)).text).toMatch(/>companyMail</);
  });

  it('are filtered by the name of a monitor as the list shows it, and by days in the time zone', async () => {
    const { signedIn, store } = await startPages({ engine });
    const hook = await openHook((response) => void response.writeHead(500).end());
    const [sales, support] = [
      await made(store, { name: 'Sales', url: hook.url, target: 'all' }),
      await made(store, { name: 'Support', url: hook.url, target: 'all' }),
    ];
    const { publish, worker } = delivering(store);
    await publish(changed());
    await worker.drained();
    const ida = await signedIn('operator');
    const rows = ({ text }: { readonly text: string }) => [
      ...(text.split('<tbody>')[1] ?? '').matchAll(/deliveries\?monitor=([^"]+)"/gu),
    ];
    const idsIn = (answer: { readonly text: string }) => rows(answer).map(([, id]) => id);
    const named = await ida.get('/deliveries?monitor=sales');
    expect(idsIn(named)).toEqual([sales.id]);
    expect(idsIn(await ida.get(`/deliveries?monitor=${support.id}`))).toEqual([support.id]);
    expect(named.text).toContain('Send these again');
    expect((await ida.post('/runs/replay', { monitor: 'Sales' })).headers['location']).toMatch(/^\/runs\/\d+$/u);
    const none = await ida.get('/deliveries?monitor=Nobody');
    expect(none.text).toContain('No delivery fits this filter');
    expect(none.text).not.toContain('Send these again');
    expect(named.text).toContain('Created from (Europe/Copenhagen)');
    expect(named.text).toContain('id="since" name="since" type="datetime-local"');
    await made(store, { name: 'Sales', url: hook.url, target: 'all' });
    const several = await ida.get('/deliveries?monitor=Sales');
    expect([several.status, several.text]).toEqual([422, expect.stringContaining('Several monitors are called Sales')]);
    expect(several.text).toContain(`/deliveries?monitor=${sales.id}`);
  });

  it('are filtered by monitor, company, state and time, and paged without gaps', async () => {
    const { store } = await startPages({ engine });
    const hook = await openHook();
    const [one, two] = [
      await made(store, { url: hook.url, target: 'all' }),
      await made(store, { url: hook.url, target: 'all' }),
    ];
    const { publish, worker, now } = delivering(store);
    await publish(changed(), changed({ entity: OTHER }));
    await worker.drained();
    await store.write((tx) => disable(tx, two.id, 'person', now()));
    await publish(changed());
    await worker.drained();
    const all = (await listDeliveries(store.db)).map(({ seq }) => seq);
    const paged = async (filter: Parameters<typeof pageDeliveries>[1]): Promise<readonly number[]> => {
      const { deliveries, older } = await pageDeliveries(store.db, filter, 2);
      const seqs = deliveries.map(({ seq }) => seq);
      return older === undefined ? seqs : [...seqs, ...(await paged({ ...filter, before: older }))];
    };
    expect(await paged({})).toEqual(all);
    expect(await paged({ monitor: one.id })).toHaveLength(3);
    expect(await paged({ monitor: two.id, state: 'held' })).toHaveLength(1);
    expect(await paged({ state: 'held' })).toHaveLength(1);
    expect(await paged({ entity: OTHER })).toHaveLength(2);
    expect(await paged({ until: now() + 1 })).toEqual(all);
    expect(await paged({ until: 1 })).toEqual([]);
    expect(await paged({ since: now() + 1 })).toEqual([]);
  });

  it('are sent again once, even if the form is sent repeatedly, with an entry in the audit', async () => {
    const { signedIn, store } = await startPages({ engine });
    const hook = await openHook();
    await made(store, { url: hook.url, target: 'all' });
    const { publish, worker } = delivering(store);
    await publish(changed());
    await worker.drained();
    // What is asked for below stays due.
    await worker.stop(0);
    const seq = (await listDeliveries(store.db))[0]?.seq ?? 0;
    const ida = await signedIn('operator');
    const seen = /name="seen" value="([^"]+)"/.exec((await ida.get(`/deliveries/${seq}`)).text)?.[1] ?? '';
    const resend = () => ida.post(`/deliveries/${seq}/resend`, { seen });
    expect((await resend()).headers['location']).toBe(`/deliveries/${seq}`);
    expect((await resend()).status).toBe(303);
    expect((await listDeliveries(store.db))[0]?.state).toBe('due');
    expect(await readAudit(store.db, { action: 'delivery.send' }, 10)).toMatchObject([
      { action: 'delivery.send', subject: String(seq), actor: { name: 'the operator' }, via: 'page' },
    ]);
    const viewer = await signedIn('viewer');
    await viewer.get('/');
    expect((await viewer.post(`/deliveries/${seq}/resend`, { seen })).status).toBe(403);
    expect((await ida.post('/deliveries/999999/resend', { seen })).status).toBe(404);
  });

  it('are not sent again while their monitor is off, and the page says so', async () => {
    const { signedIn, store } = await startPages({ engine });
    const { id } = await made(store, { target: 'all' });
    const { publish, now } = delivering(store);
    await store.write((tx) => disable(tx, id, 'person', now()));
    await publish(changed());
    const seq = (await listDeliveries(store.db))[0]?.seq ?? 0;
    const ida = await signedIn('operator');
    await ida.get('/');
    const answer = await ida.post(`/deliveries/${seq}/resend`, { seen: 'held 0' });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('Its monitor is off');
    expect(await readAudit(store.db, { action: 'delivery.send' }, 10)).toEqual([]);
  });
});

describe('a replay', () => {
  it('is requested from a filter, previews each delivery, and sends them after the confirmation', async () => {
    const { signedIn, store } = await startPages();
    const hook = await openHook(statuses(410));
    const { id } = await made(store, { url: hook.url, target: 'all', schedule: [0] });
    const { publish, now } = delivering(store);
    await store.write((tx) => disable(tx, id, 'person', now()));
    await publish(changed(), changed({ entity: OTHER }));
    await store.write((tx) => tx.updateTable('monitor').set({ enabled: 1 }).execute());
    const ida = await signedIn('operator');
    await ida.get('/deliveries');
    expect((await ida.post('/runs/replay', {})).status).toBe(422);
    const asked = await ida.post('/runs/replay', { monitor: id, entity: COMPANY });
    const run = String(asked.headers['location']);
    const deps = { store, now: () => Date.now() + 60_000 };
    const carryOut = async (): Promise<void> => {
      const claims = await claim(store, REPLAY.queue, { limit: 1, now: deps.now(), leaseMs: 30_000 });
      await workOnRuns(deps, replayWork({ ...deps, ring: () => undefined }), claims, new AbortController().signal);
    };
    await carryOut();
    const preview = (await ida.get(run)).text;
    expect(preview).toContain('would be sent again');
    expect(preview).toContain(COMPANY);
    expect(preview).not.toContain(OTHER);
    const held = async () => (await listDeliveries(store.db, { state: 'held' })).length;
    expect(await held()).toBe(2);
    expect((await ida.post(`${run}/confirm`, {})).headers['location']).toBe(run);
    await carryOut();
    expect((await ida.get(run)).text).toContain('is sent again');
    expect(await held()).toBe(1);
    const file = (await ida.get(`${run}/results.csv`)).text;
    expect(file).toMatch(/key;result;delivery;monitor;entity;was;created/u);
    expect(file).toMatch(new RegExp(`due;\\d+;${id};${COMPANY};held;`, 'u'));
    expect(await readAudit(store.db, { action: 'delivery.replay' }, 10)).toMatchObject([
      { result: 'done; 1 due' },
      { actor: { name: 'the operator' }, result: 'begun for 1 deliveries' },
    ]);
    expect((await ida.get('/runs?task=replay')).text).toContain(run);
    const viewer = await signedIn('viewer');
    await viewer.get('/deliveries');
    expect((await viewer.post('/runs/replay', { monitor: id })).status).toBe(403);
  });
});

describe('a viewer', () => {
  it('sees that a delivery is about a person, but not the name; nobody sees pages of a half that does not run', async () => {
    const { signedIn, store } = await startPages();
    await made(store, { target: 'all' });
    const { publish, now } = delivering(store);
    await store.write((tx) => tx.updateTable('monitor').set({ enabled: 0 }).execute());
    await publish(changed());
    await store.write((tx) => tx.updateTable('delivery').set({ entity: PERSON, created_at: now() }).execute());
    const text = (await (await signedIn('viewer')).get('/deliveries')).text;
    expect(text).toContain('H••• H••• A•••');
    expect(text).not.toContain('Havblik');
    const half = await startPages({ halves: { connector: true, service: false } });
    expect((await (await half.admin()).get('/deliveries')).status).toBe(404);
    const bad = await (await signedIn('operator')).get('/deliveries?since=yesterday');
    expect(bad.status).toBe(422);
  });
});
