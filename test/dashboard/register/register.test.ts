/** The page of the register, in the whole app with an emulated register, and on its own. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { cursorKey } from '../../../src/service/register/watch/watch-page.ts';
import { allowWithheld, storeWithheld } from '../../../src/service/register/watch/withheld.ts';
import { aboutRows } from '../../../src/store/count.ts';
import { setAside } from '../../../src/store/erasure/quarantine.ts';
import { tellApart } from '../../service/register/told-apart.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { adminAt, startPages } from '../visitor.ts';
import { startService } from './service.ts';

const HOSTILE = '<script>alert(1)</script>';
const PATIENT = { timeout: 120_000, interval: 50 };

describe('with a register', () => {
  it('the page shows how far it is read, and fetches a company', async () => {
    const { app, register, numbers } = await startService({ since: '2099-01-01' });
    const here = await adminAt(app.adminUrl, app.store);
    await expect.poll(async () => (await here.get('/register')).text, PATIENT).toContain('production units');
    const before = await here.get('/register');
    expect(before.text).toContain(register.url);
    expect(before.text).toContain('Companies and production units known');
    const [number = ''] = numbers;
    const asked = await here.post('/register/fetch', { company: `DK-${number}` });
    expect(asked.headers['location']).toBe(`/register?company=CVR-1-${number}#fetch`);
    const known = () => app.store.db.selectFrom('snapshot').select('entity').execute();
    await expect.poll(known, PATIENT).toEqual([{ entity: `CVR-1-${number}` }]);
    await expect
      .poll(async () => (await here.get(`/register?company=${number}`)).text, PATIENT)
      .toContain('Loaded by the register');
    const { text } = await here.get('/register');
    expect(text).toContain('Register documents');
    expect(text).not.toContain(register.settings.password);
    expect(await readAudit(app.store.db, { action: 'company.fetch' }, 5)).toMatchObject([
      { subject: `CVR-1-${number}`, via: 'page', result: 'asked for' },
    ]);
  });
});

describe.each(ENGINES)('on %s', (engine) => {
  it('with two sources it names the parts of each, and how often the second differs', async () => {
    const { signedIn, store } = await startPages({ engine });
    const now = Date.now();
    await tellApart(store, { now, companies: 11, differing: 10 });
    const viewer = await signedIn('viewer');
    const { text } = await viewer.get('/register');
    expect(text).toMatch(/datafordeler differs from the first source for.*class="state warn".*10 of 11/s);
    await tellApart(store, { now, companies: 11, differing: 0 });
    const after = await viewer.get('/register');
    expect(after.text).toMatch(/0 of 11/);
    expect(after.text).not.toMatch(/class="state warn"[^<]*(<[^>]*>)*[^<]*0 of 11/);
  });

  it('a company is fetched once, even if the form is sent repeatedly, and only for people with the role', async () => {
    const { signedIn, store } = await startPages({ engine });
    const ida = await signedIn('operator');
    await ida.get('/register');
    for (let count = 0; count < 2; count++)
      expect((await ida.post('/register/fetch', { company: '99000015' })).status).toBe(303);
    for (const company of [HOSTILE, '123', 'CVR-3-4000000001']) {
      const refused = await ida.post('/register/fetch', { company });
      expect(refused.status).toBe(422);
      expect(refused.text).not.toContain('<script>alert');
    }
    const lanes = () => store.db.selectFrom('lane').select(['queue', 'key']).where('queue', '=', 'ask').execute();
    expect(await lanes()).toEqual([{ queue: 'ask', key: 'CVR-1-99000015' }]);
    expect(await readAudit(store.db, { action: 'company.fetch' }, 5)).toHaveLength(1);
    expect((await ida.get('/register?company=99000015')).text).toContain('waiting for the register');
    const viewer = await signedIn('viewer');
    expect((await viewer.get('/register')).text).not.toContain('action="/register/fetch"');
    expect((await viewer.post('/register/fetch', { company: '99000023' })).status).toBe(403);
    expect(await lanes()).toHaveLength(1);
  });

  it('unreadable documents and withheld changes are shown with links to review', async () => {
    const { signedIn, store } = await startPages({ engine });
    const now = Date.now();
    await store.write(async (tx) => {
      await setAside(tx, { source: 'register', subject: '99000015', reason: HOSTILE, body: Buffer.from('{}'), now });
      const state = { since: now, tallies: {}, asked: {}, isAllowed: false, isOpen: false };
      await storeWithheld(tx, state, { tallies: { board: { seen: 40, lost: 40 } }, withheld: ['board'] }, now);
      await tx
        .insertInto('filing')
        .values({
          id: 'a',
          entity: 'CVR-1-99000015',
          published_at: '2026-01-01',
          attempts: 1,
          retry_at: now,
        })
        .execute();
    });
    const ida = await signedIn('viewer');
    const { text } = await ida.get('/register');
    expect(text).toContain('<a href="/inbox?kind=document">1</a>');
    expect(text).toContain('no longer states facts of many companies');
    expect(text).toMatch(/Annual reports to be tried again<\/dt><dd>1</);
    expect(text).not.toContain('<script>alert');
    await store.write((tx) => allowWithheld(tx, now));
    await store.write((tx) => tx.deleteFrom('lane').where('queue', '=', 'withheld').execute());
    expect((await ida.get('/register')).text).not.toContain('no longer states facts');
  });

  it('the first load, later reads, the gazette and the press are shown side by side', async () => {
    const { signedIn, store } = await startPages({ engine });
    const now = Date.now();
    const parts = {
      companies: { readAt: now, loadedUntil: Date.parse('2019-05-01T10:00:00Z'), more: true },
      'production units': { readAt: 0, loadedUntil: 0, more: true },
    };
    await store.write(async (tx) => {
      await tx
        .insertInto('kv')
        .values({ key: cursorKey({ name: 'cvr' }), value: JSON.stringify(parts), updated_at: now })
        .execute();
      await mark(tx, 'watch', ['cvr', 'gazette', 'press'], now + 60_000);
      await tx.updateTable('lane').set({ error: HOSTILE }).where('key', '=', 'press').execute();
    });
    const rows = (await (await signedIn('viewer')).get('/register')).text.split('<tr');
    const row = (name: string): string => rows.find((each) => each.includes(`<div>${name}</div>`)) ?? '';
    expect(row('companies')).toMatch(/loading[\s\S]*1 May 2019, 12:00/u);
    expect(row('production units')).toMatch(/not begun yet[\s\S]*never/u);
    expect(row('gazette')).toContain('up to date');
    expect(row('press')).toMatch(/behind[\s\S]*&lt;script>/u);
  });

  it('a table of many rows is estimated, and one of few is counted', async () => {
    const store = await newStore(engine);
    const row = { body: '{}', digest: '', loaded_at: '', updated_at: 1 };
    const add = (from: number, count: number) =>
      store.write(async (tx) => {
        for (let at = 0; at < count; at += 1_000) {
          const rows = Array.from({ length: 1_000 }, (_, more) => ({
            ...row,
            entity: `CVR-1-${10_000_000 + from + at + more}`,
          }));
          await tx.insertInto('snapshot').values(rows).execute();
        }
      });
    await add(0, 3_000);
    expect(await aboutRows(store.db, 'snapshot')).toEqual({ count: 3_000, isAbout: false });
    await add(3_000, 9_000);
    // As PostgreSQL does by itself, some time after many rows have come.
    if (engine === 'postgres') await sql`analyze snapshot`.execute(store.db);
    const { count, isAbout } = await aboutRows(store.db, 'snapshot');
    expect(isAbout).toBe(true);
    expect(count).toBeGreaterThanOrEqual(10_001);
    expect(count).toBeLessThanOrEqual(12_000);
  });
});
