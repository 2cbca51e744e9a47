/** SIGHUP to the real daemon: it reads its configuration again, takes up what it can, and names what needs a restart. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { totalsOf } from '../../src/connector/proposals/preview.ts';
import { readCounted } from '../../src/connector/proposals/proposals.ts';
import { readBlocks } from '../../src/runtime/limits/blocks.ts';
import { ENTITY, renamed, reported } from '../faults/company.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, lanesBehind, postWebhook, startCrms } from '../support/fixture.ts';
import { type ENGINES, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly changed?: readonly string[];
  readonly keys?: readonly string[];
  readonly problems?: readonly object[];
}

const [BEFORE, AFTER] = ['the-secret-of-before', 'the-secret-of-after'];
const header = (value: string) => ({ auth: { method: 'Header', key: 'X-Webhook-Key', value } });

const ADMIN_TOKEN = 'a-token-of-some-length';

async function scene(engine: (typeof ENGINES)[number], accessToken?: string) {
  const crms = await startCrms();
  const url = await newStoreUrl(engine);
  const config = (hubspot: object | false, webhook: string, more: object = {}): object => {
    const base = Object(configFor(crms, url, { connections: { hubspot }, admin: { token: ADMIN_TOKEN } }));
    return { ...base, ...more, connector: { ...base.connector, webhook: header(webhook) } };
  };
  const daemon = await daemonWith(config({ ...(accessToken && { accessToken }) }, BEFORE));
  await daemon.start();
  const store = await opened(url);
  const recordId = crms.hubspot.add({ name: 'Havblik ApS', phone: '70101010' });
  await store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId, entity: ENTITY, sendUpdate: false, now: Date.now() }),
  );
  const said = (msg: string): readonly Line[] =>
    daemon.log.map((line) => JSON.parse(line)).filter((line) => line.msg === msg);
  return {
    store,
    config,
    said,
    log: () => daemon.log.join('\n'),
    record: () => crms.hubspot.get(recordId),
    post: (event: Parameters<typeof postWebhook>[1], secret: string) =>
      postWebhook(`${daemon.url}/webhook`, event, { 'x-webhook-key': secret }),
    rewrite: daemon.rewrite,
    async reload(next: object | string): Promise<void> {
      await daemon.rewrite(next);
      daemon.signal('SIGHUP');
    },
    /** Accepts over the API what the daemon's file proposes. */
    async accept(provider: string): Promise<number> {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ provider });
      return (await fetch(`${daemon.adminUrl}/admin/api/config/apply`, { method: 'POST', headers, body })).status;
    },
  };
}

describe.each(SUITE_ENGINES)('a daemon on %s that gets SIGHUP', (engine) => {
  it('applies secrets, rules and the log level, and names changes that need a restart', async () => {
    const { store, config, said, log, record, post, reload } = await scene(engine, 'pat-of-before');
    expect(await post(renamed('Havblik ApS', 'Havblik A/S'), BEFORE)).toBe(204);
    await expect.poll(async () => (await readBlocks(store.db, Date.now())).map(({ fault }) => fault)).toEqual(['auth']);

    await reload(config({ fields: { phone: false }, batch: 7 }, AFTER, { logLevel: 'debug', storeConnections: 3 }));
    await expect.poll(() => record()?.['name']).toBe('Havblik A/S');
    await expect
      .poll(() => said('the configuration was read again'))
      .toMatchObject([
        {
          changed: [
            'connector.providers.hubspot.batch',
            'connector.providers.hubspot.mapping',
            'connector.providers.hubspot.settings',
            'connector.webhook.auth',
            'logLevel',
          ],
        },
      ]);
    await expect
      .poll(() => said('a change of the configuration needs a restart'))
      .toMatchObject([{ keys: ['storeConnections'] }]);
    expect(await post(renamed('Havblik A/S', 'Havblik', 9), BEFORE)).toBe(401);
    const phone = { before: null, after: '33112233' };
    const both = reported({ name: { before: 'Havblik A/S', after: 'Havblik K/S' }, phoneNumber: phone }, 10);
    expect(await post(both, AFTER)).toBe(204);
    await expect.poll(() => record()?.['name']).toBe('Havblik K/S');
    expect(record()).not.toHaveProperty('phone', '33112233');
    await expect.poll(() => said('a webhook was answered')).toHaveLength(1);
    expect(log()).not.toMatch(/the-secret-of|pat-of-before/u);
  });

  it('requires acceptance of rules that would replace edits of people', async () => {
    const { store, config, said, record, post, reload } = await scene(engine);
    const phone = (policy: string) => ({ fields: { phone: { property: 'phone', policy } } });
    await reload(config(phone('if-blank'), BEFORE));
    await expect.poll(() => said('the configuration was read again')).toHaveLength(1);
    const told = { before: null, after: '33112233' };
    expect(await post(reported({ name: { before: null, after: 'Havblik A/S' }, phoneNumber: told }, 8), BEFORE)).toBe(
      204,
    );
    await expect.poll(() => lanesBehind(store)).toEqual([]);
    expect(record()?.['phone']).toBe('70101010');
    const waiting = async (): Promise<number | undefined> => {
      const preview = (await readCounted(store.db, 'hubspot'))?.preview;
      return preview && totalsOf(preview).edits;
    };
    await reload(config(phone('always'), BEFORE));
    await expect.poll(waiting).toBe(1);
    expect(record()).toHaveProperty('phone', '70101010');
  });

  it('accepts a removal over the API, and then reads the current file at once', async () => {
    const { config, said, accept, reload, rewrite } = await scene(engine);
    await reload(config(false, BEFORE));
    const read = () => said('the configuration was read again').map(({ changed }) => changed);
    await expect.poll(read).toEqual([[]]);
    await rewrite(config(false, BEFORE, { logLevel: 'debug' }));
    expect(await accept('hubspot')).toBe(200);
    await expect.poll(read).toEqual([[], ['connector.providers.hubspot', 'logLevel']]);
    expect(await accept('hubspot')).toBe(404);
  });

  it('keeps its configuration if the file is invalid, and logs the reason', async () => {
    const { config, said, record, post, reload } = await scene(engine);
    await reload(config({ fields: { nonsense: 'x' } }, AFTER));
    const refused = () => said('the configuration cannot be used: the one before stays in force');
    await expect
      .poll(refused)
      .toMatchObject([{ level: 'error', problems: [{ path: 'connector.providers.hubspot.fields.nonsense' }] }]);
    await reload('connector: {');
    await expect.poll(refused).toHaveLength(2);
    expect(await post(renamed('Havblik ApS', 'Havblik A/S'), BEFORE)).toBe(204);
    await expect.poll(() => record()?.['name']).toBe('Havblik A/S');
  });
});
