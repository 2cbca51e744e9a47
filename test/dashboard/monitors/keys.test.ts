/** Keys and jobs on pages, and what the store holds then. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { createKey, findKey, listKeys } from '../../../src/service/keys/keys.ts';
import { listMonitors } from '../../../src/service/monitors/monitors.ts';
import { made, secrets } from '../../service/monitored.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Answer, startPages } from '../visitor.ts';

const HOSTILE = '<script>alert(1)</script>';
const idIn = ({ text }: Answer): string => /name="id" value="([^"]+)"/.exec(text)?.[1] ?? '';

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  it('a key is created once, shown once, and works', async () => {
    const { signedIn, store } = await startPages({ engine });
    const ida = await signedIn('admin');
    const form = { id: idIn(await ida.get('/keys')), name: HOSTILE, scope: 'news' };
    const made = await ida.post('/keys', form);
    expect((await ida.post('/keys', form)).status).toBe(409);
    const key = /<code class="secret">(cvrsync_[^<]+)</.exec(made.text)?.[1] ?? '';
    expect(await findKey(store.db, key)).toEqual({ id: form.id, scopes: ['news'] });
    expect(await listKeys(store.db)).toHaveLength(1);
    const { text } = await ida.get('/keys');
    expect(text).toContain('&lt;script>alert(1)');
    for (const hidden of ['<script>alert', key]) expect(text).not.toContain(hidden);
    for (const wrong of [{ name: ' ' }, { scope: 'all' }, { id: '../x' }])
      expect((await ida.post('/keys', { ...form, id: crypto.randomUUID(), ...wrong })).status).toBe(422);
    const [entry] = await readAudit(store.db, { action: 'key.create' }, 5);
    expect(entry).toMatchObject({ subject: form.id, detail: { name: HOSTILE, scopes: ['news'] } });
    expect(JSON.stringify(entry)).not.toContain(key);
  });

  it('a key is revoked with its jobs, which are named first, or without them', async () => {
    const { signedIn, store } = await startPages({ engine });
    const keyOf = (name: string) => store.write((tx) => createKey(tx, { name, scopes: ['monitoring'] }, 1));
    const [one, two] = [await keyOf('one'), await keyOf('two')];
    await made(store, { name: 'Job of one', owner: one.id, provider: 'salesforce' });
    await made(store, { name: 'Job of two', owner: two.id, provider: 'salesforce' });
    const ida = await signedIn('admin');
    expect((await ida.get(`/keys/${one.id}/revoke`)).text).toContain('Job of one');
    for (let count = 0; count < 2; count++) expect((await ida.post(`/keys/${one.id}/revoke`, {})).status).toBe(303);
    await ida.post(`/keys/${two.id}/revoke`, { keepJobs: 'yes' });
    expect(await findKey(store.db, one.key)).toBeUndefined();
    expect(await findKey(store.db, two.key)).toBeUndefined();
    const jobs = await listMonitors(store.db, secrets);
    expect(jobs.map(({ owner, enabled }) => [owner, enabled])).toEqual(
      expect.arrayContaining([
        [one.id, false],
        [two.id, true],
      ]),
    );
    expect((await readAudit(store.db, { action: 'key.revoke' }, 5)).map(({ result }) => result)).toEqual([
      'revoked; 1 jobs left on',
      'revoked; 1 jobs switched off',
    ]);
    expect((await ida.post('/keys/nobody/revoke', {})).status).toBe(404);
    const operator = await signedIn('operator');
    await operator.get('/sessions');
    for (const path of ['/keys', `/keys/${one.id}/revoke`])
      expect((await operator.post(path, { id: crypto.randomUUID(), name: 'x', scope: 'admin' })).status).toBe(403);
    expect(await listKeys(store.db)).toHaveLength(2);
  });

  it('a job is created for a key, keeps its mail settings when it is edited, moves to another key, and is deleted', async () => {
    const { signedIn, store } = await startPages({ engine });
    const ida = await signedIn('admin');
    expect((await ida.get('/jobs/new')).text).toContain('Create such a key first');
    const keyOf = (name: string) => store.write((tx) => createKey(tx, { name, scopes: ['monitoring'] }, 1));
    const [one, two] = [await keyOf('one'), await keyOf('two')];
    const form = {
      id: idIn(await ida.get('/jobs/new')),
      provider: 'salesforce',
      owner: one.id,
      name: '',
      scope: 'all',
      method: 'None',
    };
    expect((await ida.post('/jobs', { ...form, url: 'ftp://x' })).status).toBe(422);
    const url = 'https://hooks.example.com/cvr';
    expect((await ida.post('/jobs', { ...form, url })).text).toContain('whsec_');
    expect((await ida.post('/jobs', { ...form, url })).status).toBe(303);
    expect((await ida.post('/jobs', { ...form, id: crypto.randomUUID(), url })).text).toContain(
      'has a job of this key already',
    );
    const job = async () => (await listMonitors(store.db, secrets))[0];
    expect(await job()).toMatchObject({
      id: form.id,
      name: 'salesforce',
      owner: one.id,
      target: 'items',
      url,
      enabled: true,
    });
    await store.write((tx) => tx.updateTable('monitor').set({ emails: '["a@example.com"]' }).execute());
    const shown = (
      /name="shown" value="([^"]*)"/.exec((await ida.get(`/monitors/${form.id}/edit`)).text)?.[1] ?? ''
    ).replaceAll('&quot;', '"');
    await ida.post(`/monitors/${form.id}/edit`, {
      shown,
      name: 'Byg',
      url,
      scope: 'all',
      schedule: '',
      method: 'keep',
      key: '',
    });
    expect(await job()).toMatchObject({ name: 'Byg', emails: ['a@example.com'] });
    expect((await ida.get('/jobs')).text).toContain('Byg');
    expect((await ida.get('/monitors')).text).not.toContain('Byg');
    for (let count = 0; count < 2; count++) await ida.post(`/monitors/${form.id}/move`, { owner: two.id });
    expect((await job())?.owner).toBe(two.id);
    expect((await ida.post(`/monitors/${form.id}/move`, { owner: 'nobody' })).status).toBe(422);
    expect(await readAudit(store.db, { action: 'job.move' }, 5)).toHaveLength(1);
    expect((await ida.post(`/monitors/${form.id}/remove`, {})).headers['location']).toBe('/jobs');
    expect(await job()).toBeUndefined();
  });
});
