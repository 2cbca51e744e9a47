/** The page of the installation and the support bundle, in the whole app and on their own. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { readGrowth, sampleSize } from '../../../src/runtime/store-size.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { adminAt, startPages } from '../visitor.ts';
import { startService } from './service.ts';

const PATIENT = { timeout: 120_000, interval: 50 };

describe('in an app', () => {
  it('the page shows version, store and configuration without secrets, and checks everything when asked', async () => {
    const smtp = { url: 'smtp://ida:secret-of-the-mail@127.0.0.1:9', from: 'ida@birk.example' };
    const { app, register } = await startService(
      {},
      { admin: { port: 0, token: 'secret-of-the-admin-listener-0123456789' } },
      { smtp },
    );
    const here = await adminAt(app.adminUrl, app.store);
    await expect.poll(async () => (await here.get('/register')).text, PATIENT).toMatch(/production units(?!.*never)/s);
    const page = await here.get('/installation');
    expect(page.status).toBe(200);
    for (const shown of ['Node 2', 'sqlite', 'GiB', register.url, '127.0.0.1:9']) expect(page.text).toContain(shown);
    expect(page.text).toMatch(/\d (?:KiB|MiB)/);
    // What does not answer within three seconds is told as such: a busy machine takes more than one try.
    let checked = page;
    const checks = async () => {
      checked = await here.post('/installation', {});
      return checked.text;
    };
    await expect.poll(checks, PATIENT).toContain('gives documents');
    expect(checked.text).toContain('fix it');
    const bundle = await here.get('/installation/bundle.json');
    expect(bundle.headers['content-disposition']).toContain('cvrsync-support.json');
    const { config, metrics, queues, version } = JSON.parse(bundle.text);
    expect(config.config.service.register.baseUrl).toBe(register.settings.baseUrl);
    expect(metrics.map(({ name }: { name: string }) => name)).toContain('cvrsync_register_documents_total');
    expect(Array.isArray(queues)).toBe(true);
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    for (const { text } of [page, checked, bundle])
      for (const secret of ['secret-of', register.settings.password]) expect(text).not.toContain(secret);
    expect(config.config.service.smtp).toMatchObject({ url: 'smtp://***@127.0.0.1:9', from: '***' });
    const [entry] = await readAudit(app.store.db, { action: 'installation.check' }, 1);
    expect(entry).toMatchObject({ via: 'page' });
  }, 180_000);
});

it('a service alone neither accepts nor offers a file of review answers', async () => {
  const { app } = await startService();
  const here = await adminAt(app.adminUrl, app.store);
  const review = await here.get('/inbox');
  expect([review.status, review.text]).toEqual([200, expect.not.stringContaining('/inbox/upload')]);
  expect((await here.get('/inbox/upload')).status).toBe(404);
});

it('the check reaches its own service on any port', async () => {
  const { app } = await startService(
    {},
    {
      connector: {
        webhook: { auth: { method: 'Header', key: 'X-Key', value: 'a-secret-that-is-long' } },
        providers: { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } },
      },
    },
  );
  const here = await adminAt(app.adminUrl, app.store);
  await here.get('/installation');
  const checks = async () => (await here.post('/installation', {})).text;
  await expect.poll(checks, PATIENT).toMatch(/accepts the key; 1 job\b/);
}, 180_000);

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  it('viewers see findings as text, and neither the configuration nor the bundle nor the check', async () => {
    const { signedIn, store } = await startPages({ engine });
    const viewer = await signedIn('viewer');
    const { text } = await viewer.get('/installation');
    for (const shown of ['cvrsync 1.2.3', 'make room', '&lt;script>alert(1)', engine]) expect(text).toContain(shown);
    for (const hidden of ['<script>alert', 'ida@example.com', 'bundle.json']) expect(text).not.toContain(hidden);
    expect((await viewer.get('/installation/bundle.json')).status).toBe(403);
    expect((await viewer.post('/installation', {})).status).toBe(403);
    const operator = await signedIn('operator');
    const { text: shown } = await operator.get('/installation');
    expect(shown).toContain('ida@example.com');
    for (const config of [shown, (await operator.get('/installation/bundle.json')).text])
      expect(config.replaceAll('&quot;', '"')).toMatch(/"smtp": \{[^}]*"user": "\*\*\*"/u);
    expect((await operator.post('/installation', {})).text).toContain('did not answer in time');
    expect((await operator.get('/installation/bundle.json')).text).not.toContain('ida@example.com');
    expect((await readAudit(store.db, { action: 'installation.check' }, 5)).map(({ result }) => result)).toEqual([
      '1 to fix',
    ]);
  });

  it('the size of the store is sampled once a day, and its growth counted from the oldest sample', async () => {
    const store = await newStore(engine);
    const DAY = 86_400_000;
    expect(await readGrowth(store.db, 1, 0)).toBeUndefined();
    const bytes = await store.sizeBytes();
    expect(bytes).toBeGreaterThan(0);
    for (const at of [1, 1.5, 2, 2.9, 3]) await sampleSize(store, at * DAY);
    const kept = await store.db
      .selectFrom('kv')
      .select('value')
      .where('key', '=', 'store-size')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(kept.value).map(({ at }: { at: number }) => at / DAY)).toEqual([1, 2, 3]);
    const first = JSON.parse(kept.value)[0].bytes;
    expect(await readGrowth(store.db, first + 5_000, 3 * DAY)).toEqual({ since: DAY, bytes: 5_000 });
    for (let day = 4; day < 40; day++) await sampleSize(store, day * DAY);
    expect((await readGrowth(store.db, first, 40 * DAY))?.since).toBe(10 * DAY);
  });
});
