/** What admins do with monitors on pages, and what the store holds then. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { countDeliveries } from '../../../src/service/delivery/deliveries.ts';
import { endMail, readStoppedMails } from '../../../src/service/mail/stopped-mails.ts';
import { getMonitor, listMonitors } from '../../../src/service/monitors/monitors.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import type { Store } from '../../../src/store/store.ts';
import { openHook } from '../../service/delivering.ts';
import { COMPANY, changed, listed, made, OTHER, secrets } from '../../service/monitored.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Answer, startPages } from '../visitor.ts';

const HOSTILE = '<script>alert(1)</script>';
const fieldIn = ({ text }: Answer, name: string): string =>
  (new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
const secretIn = ({ text }: Answer): string | undefined => /<code class="secret">(whsec_[^<]+)</.exec(text)?.[1];
/** What the audit says, the newest first, but for the first entry: somebody signed in. */
const actions = async (store: Store) =>
  (await readAudit(store.db, {}, 20)).slice(0, -1).map(({ action, result }) => `${action}: ${result}`);

describe.each(SUITE_ENGINES)('on %s a form', (engine) => {
  it('creates a monitor once, even if it is sent repeatedly, and shows its secret once', async () => {
    const { signedIn, store } = await startPages({ engine });
    const ida = await signedIn('admin');
    const id = fieldIn(await ida.get('/monitors/new'), 'id');
    const form = {
      ...{
        id,
        name: ' Sales ',
        target: 'items',
        url: 'https://hooks.example.com/cvr',
        scope: 'chosen',
        events: 'status',
      },
      ...{ emails: 'a@example.com\r\nb@example.com', mailFrequency: 'immediate', schedule: '0, 60' },
      postsPerMinute: '120',
      ...{ method: 'Header', key: 'x-token', secret: 'their-secret', inactive: 'yes' },
    };
    const made = await ida.post('/monitors', form);
    const again = await ida.post('/monitors', form);
    expect([again.status, again.headers['location']]).toEqual([303, `/monitors/${id}`]);
    const monitors = await listMonitors(store.db, secrets);
    expect(monitors).toMatchObject([
      {
        ...{ id, name: 'Sales', target: 'items', url: form.url, events: ['status'], schedule: [0, 60], enabled: false },
        ...{ emails: ['a@example.com', 'b@example.com'], mailFrequency: 'immediate', owner: null },
        postsPerMinute: 120,
        security: { credentials: { method: 'Header', key: 'x-token', value: 'their-secret' } },
      },
    ]);
    expect(secretIn(made)).toBe(monitors[0]?.security.secrets[0]?.secret);
    expect(await actions(store)).toEqual(['monitor.create: created']);
    expect((await ida.get(`/monitors/${id}`)).text).not.toContain('whsec_');
  });

  it('changes only edited fields, and shows errors beside the typed values', async () => {
    const { signedIn, store } = await startPages({ engine });
    const { id } = await made(store, { emails: ['a@example.com'], credentials: { method: 'Bearer', token: 'kept' } });
    const ida = await signedIn('admin');
    const shown = fieldIn(await ida.get(`/monitors/${id}/edit`), 'shown');
    await store.write((tx) => tx.updateTable('monitor').set({ schedule: '[7]' }).where('id', '=', id).execute());
    const form = {
      shown,
      name: 'Sales, north',
      target: 'items',
      url: 'https://receiver.example/webhook',
      emails: '',
      mailFrequency: 'daily',
      scope: 'all',
      schedule: '',
      postsPerMinute: '90',
      method: 'keep',
      key: '',
      secret: '',
    };
    const edit = (more: object = {}) => ida.post(`/monitors/${id}/edit`, { ...form, ...more });
    expect((await edit()).status).toBe(303);
    expect((await edit()).status).toBe(303);
    expect(await getMonitor(store.db, secrets, id)).toMatchObject({
      ...{ name: 'Sales, north', emails: [], schedule: [7], postsPerMinute: 90 },
      security: { credentials: { method: 'Bearer', token: 'kept' } },
    });
    const refused = await edit({
      name: HOSTILE,
      url: 'ftp://x',
      schedule: 'soon',
      postsPerMinute: '0.5',
      method: 'Header',
      key: '',
      secret: 'not shown',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('should be an address');
    expect(refused.text).toContain('should be a whole number');
    expect(refused.text).toContain('should be a whole number from 1 to 60000');
    expect(refused.text).toContain('value="ftp://x"');
    expect(refused.text).not.toContain('not shown');
    expect(refused.text).not.toContain('<script>alert');
    expect((await edit({ url: '' })).text).toContain('nobody would be notified');
    expect((await getMonitor(store.db, secrets, id))?.name).toBe('Sales, north');
  });

  it('rotates a secret once, disables and enables, and deletes, each with an entry in the audit', async () => {
    const { signedIn, store } = await startPages({ engine });
    const { id, security } = await made(store, { target: 'all' });
    const ida = await signedIn('admin');
    const seen = fieldIn(await ida.get(`/monitors/${id}/rotate`), 'seen');
    const rotated = await ida.post(`/monitors/${id}/rotate`, { seen });
    expect((await ida.post(`/monitors/${id}/rotate`, { seen })).status).toBe(409);
    const kept = (await getMonitor(store.db, secrets, id))?.security.secrets ?? [];
    expect(kept).toHaveLength(2);
    expect(kept[0]?.secret).toBe(secretIn(rotated));
    expect(kept[1]?.secret).toBe(security.secrets[0]?.secret);
    for (const step of ['disable', 'disable', 'activate', 'activate']) await ida.post(`/monitors/${id}/${step}`, {});
    expect((await getMonitor(store.db, secrets, id))?.enabled).toBe(true);
    await ida.post(`/monitors/${id}/disable`, {});
    await store.write((tx) => publish(tx, [changed()], { now: Date.now() }));
    expect((await ida.get(`/monitors/${id}`)).text).toContain('Enable and send what was held');
    await ida.post(`/monitors/${id}/activate`, { replay: 'yes' });
    expect(await countDeliveries(store.db, { monitor: id, state: 'due' })).toBe(1);
    expect((await ida.get(`/monitors/${id}/remove`)).text).toContain('cannot be undone');
    for (let count = 0; count < 2; count++)
      expect((await ida.post(`/monitors/${id}/remove`, {})).headers['location']).toBe('/monitors');
    expect(await listMonitors(store.db, secrets)).toEqual([]);
    expect(await actions(store)).toEqual([
      'monitor.remove: removed',
      'monitor.activate: on',
      'monitor.disable: off',
      'monitor.activate: on',
      'monitor.disable: off',
      'monitor.rotate-secret: rotated',
    ]);
  });

  it('adds a company by its number in any spelling, removes it, and adds unsubscribed recipients again', async () => {
    const { signedIn, store } = await startPages({ engine });
    const { id } = await made(store, { emails: ['Ida@example.com'] });
    await listed(store, id, OTHER);
    await store.write((tx) => endMail(tx, id, 'ida@example.com', { now: 1 }));
    const ida = await signedIn('admin');
    await ida.get(`/monitors/${id}`);
    const entities = async () =>
      (await store.db.selectFrom('item').select('entity').orderBy('seq').execute()).map(({ entity }) => entity);
    for (let count = 0; count < 2; count++) await ida.post(`/monitors/${id}/items`, { entity: 'DK 99 00 00 15' });
    expect(await entities()).toEqual([OTHER, COMPANY]);
    expect((await ida.post(`/monitors/${id}/items`, { entity: 'nobody' })).status).toBe(422);
    const asked = await ida.get(`/monitors/${id}/items/remove?entity=${OTHER}&record=${encodeURIComponent(HOSTILE)}`);
    expect(asked.text).not.toContain('<script>alert');
    for (let count = 0; count < 2; count++)
      await ida.post(`/monitors/${id}/items/remove`, { entity: OTHER, record: '' });
    expect(await entities()).toEqual([COMPANY]);
    for (let count = 0; count < 2; count++)
      await ida.post(`/monitors/${id}/resubscribe`, { recipient: 'Ida@example.com' });
    expect(await readStoppedMails(store.db, id)).toEqual([]);
    expect(await actions(store)).toEqual([
      'monitor.resubscribe: mail to Ida@example.com goes on',
      `monitor.remove-entities: removed ${OTHER}`,
      `monitor.add-entities: added ${COMPANY}`,
    ]);
  });
});

describe('a test', () => {
  it('is posted with the signature of a disabled monitor, and its answer is shown as text', async () => {
    const { signedIn, store } = await startPages();
    const hook = await openHook((response) => void response.writeHead(418).end(HOSTILE));
    const { id } = await made(store, { url: hook.url, enabled: false });
    const ida = await signedIn('admin');
    expect((await ida.get(`/monitors/${id}/test`)).text).toContain('posts one payload');
    const answer = await ida.post(`/monitors/${id}/test`, { entity: '' });
    expect(answer.text).toContain('The webhook did not take it');
    expect(answer.text).toContain('418');
    expect(answer.text).not.toContain('<script>alert');
    expect(hook.seen).toHaveLength(1);
    expect(hook.seen[0]?.headers).toMatchObject({ 'webhook-test': 'true', 'webhook-signature': expect.any(String) });
    expect((await readAudit(store.db, { action: 'monitor.test' }, 5))[0]).toMatchObject({
      subject: id,
      result: expect.stringContaining('418'),
    });
    expect((await ida.post(`/monitors/${id}/test`, { entity: 'CVR-1-10000009' })).text).toContain('Nothing is known');
    expect((await ida.post(`/monitors/${id}/test`, { entity: 'x' })).status).toBe(422);
    expect(hook.seen).toHaveLength(1);
  });

  it('sends the edited payload of a delivery, and refuses one that a receiver could not read', async () => {
    const { signedIn, store } = await startPages();
    const hook = await openHook();
    const { id } = await made(store, { url: hook.url, target: 'all' });
    await store.write((tx) => publish(tx, [changed({ name: HOSTILE })], { now: 1 }));
    const [ida, bo] = [await signedIn('admin'), await signedIn('operator')];
    const link = `/monitors/${id}/test?delivery=1`;
    expect((await ida.get('/deliveries/1')).text).toContain(link);
    expect((await bo.get('/deliveries/1')).text).not.toContain(link);
    const { text } = await ida.get(link);
    const shown = /<textarea[^>]*name="payload"[^>]*>([^<]*)/u.exec(text)?.[1] ?? '';
    expect(shown).toContain('&quot;entityId&quot;: &quot;CVR-1-99000015&quot;');
    expect((await ida.get(`/monitors/${id}/test?delivery=7`)).status).toBe(200);
    const payload = shown.replaceAll('&quot;', '"').replace('Havblik Handel ApS', 'Rettet ApS');
    const bad = await ida.post(`/monitors/${id}/test`, { payload: payload.replace('CVR-1-99000015', '</textarea>') });
    expect([bad.status, bad.text]).toEqual([422, expect.stringMatching(/role="alert"[^>]*>[^<]*entityId/u)]);
    expect(bad.text).toContain('&lt;/textarea>');
    expect((await ida.post(`/monitors/${id}/test`, { payload: '{' })).status).toBe(422);
    expect(hook.seen).toHaveLength(0);
    expect((await ida.post(`/monitors/${id}/test`, { payload })).text).toContain('The webhook took it');
    expect(hook.seen.map(({ body }) => JSON.parse(body).updates.name.after)).toEqual(['Rettet ApS']);
    expect(hook.seen[0]?.headers).toMatchObject({ 'webhook-test': 'true', 'webhook-signature': expect.any(String) });
    expect((await readAudit(store.db, { action: 'monitor.test' }, 5))[0]).toMatchObject({
      detail: { payload: 'written by hand' },
    });
  });
});

it.each(['operator', 'viewer'] as const)('role %s can do none of this', async (role) => {
  const { signedIn, store } = await startPages();
  const { id } = await made(store, { emails: ['a@example.com'] });
  const before = await listMonitors(store.db, secrets);
  const bo = await signedIn(role);
  await bo.get('/sessions');
  const steps = [
    'edit',
    'rotate',
    'disable',
    'activate',
    'remove',
    'test',
    'move',
    'items',
    'items/remove',
    'resubscribe',
  ];
  for (const path of ['/monitors', '/jobs', ...steps.map((step) => `/monitors/${id}/${step}`)])
    expect((await bo.post(path, { name: 'x', entity: COMPANY, recipient: 'a@example.com' })).status, path).toBe(403);
  expect(await listMonitors(store.db, secrets)).toEqual(before);
  expect(await actions(store)).toEqual([]);
});
