/** Trying the webhook of a monitor, over HTTP and on the command line. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyAuth } from '../../../src/protocol/auth.ts';
import { loadSecretKey, openSecrets } from '../../../src/service/keys/secrets.ts';
import { createMonitor } from '../../../src/service/monitors/monitors.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import { runCli } from '../../support/cli.ts';
import { newFolder } from '../../support/stores.ts';
import { openHook, statuses } from '../delivering.ts';
import { openHarness } from './harness.ts';

describe('the test of a monitor', () => {
  it('posts with credentials and signature while the monitor is disabled, and does not count', async () => {
    const harness = await openHarness();
    const hook = await openHook();
    const credentials = { method: 'Header', key: 'X-Key', value: 'open-sesame' };
    const body = { name: 'Nordlys', url: hook.url, credentials, enabled: false };
    const made = await harness.call('POST', '/admin/api/monitors', { body });
    const { id, signingSecret } = made.json as { id: string; signingSecret: string };
    const tried = await harness.call('POST', `/admin/api/monitors/${id}/test`);
    expect(tried).toMatchObject({ status: 200, json: { failure: null, status: 204 } });
    const [seen] = hook.seen;
    expect(seen?.headers).toMatchObject({ 'x-key': 'open-sesame', 'webhook-test': 'true' });
    const auth = [{ method: 'Signature', secret: signingSecret }] as const;
    expect(verifyAuth(auth, seen?.headers ?? {}, Buffer.from(seen?.body ?? ''), Date.now())).toEqual({
      ok: true,
      signed: true,
    });
    expect(await harness.store.db.selectFrom('delivery').selectAll().execute()).toEqual([]);
  });

  it('names the problem of the webhook, and says when there is none', async () => {
    const harness = await openHarness();
    const hook = await openHook(statuses(500));
    const make = async (url: string | null) => {
      const emails = ['anna@example.com'];
      const made = await harness.call('POST', '/admin/api/monitors', { body: { name: 'Nordlys', url, emails } });
      return (made.json as { id: string }).id;
    };
    const failing = await harness.call('POST', `/admin/api/monitors/${await make(hook.url)}/test`);
    expect(failing).toMatchObject({ status: 200, json: { failure: 'status', status: 500 } });
    const inside = await harness.call('POST', `/admin/api/monitors/${await make('http://[::1]:9/')}/test`);
    expect(inside).toMatchObject({ status: 200, json: { failure: 'address', status: null } });
    expect((await harness.call('POST', `/admin/api/monitors/${await make(null)}/test`)).status).toBe(422);
    expect((await harness.call('POST', '/admin/api/monitors/none/test')).status).toBe(404);
    const unknown = `/admin/api/monitors/${await make(hook.url)}/test?entityId=CVR-1-10000001`;
    expect((await harness.call('POST', unknown)).status).toBe(404);
  });

  it('is a command, which fails if the webhook does', async () => {
    const folder = newFolder();
    const url = join(folder, 'store.db');
    const config = join(folder, 'cvrsync.json');
    const service = { register: { source: 'file', path: folder }, webhooks: { allow: ['127.0.0.1'] } };
    await writeFile(config, JSON.stringify({ store: url, service }));
    const [good, bad] = [await openHook(), await openHook(statuses(404))];
    const store = await openStore(url);
    const secrets = openSecrets(await loadSecretKey(undefined, url));
    const make = (hook: string) =>
      store.write((tx) => createMonitor(tx, { name: 'Nordlys', url: hook }, { secrets, now: Date.now() }));
    const [first, second] = [await make(good.url), await make(bad.url)];
    await store.close();
    expect(await runCli(['--config', config, 'monitors', 'test', first.id])).toMatchObject({ code: 0 });
    expect(good.seen).toHaveLength(1);
    const failed = await runCli(['--config', config, 'monitors', 'test', second.id]);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('(status): answered 404') });
  });
});
