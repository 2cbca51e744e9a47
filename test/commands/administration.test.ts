import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findKey } from '../../src/service/keys/keys.ts';
import { loadSecretKey, openSecrets } from '../../src/service/keys/secrets.ts';
import { endMail } from '../../src/service/mail/stopped-mails.ts';
import { getMonitor } from '../../src/service/monitors/monitors.ts';
import { runCli } from '../support/cli.ts';
import { newFolder, opened } from '../support/stores.ts';

/** A configuration of the service alone, and a store that is there. */
async function configured(more: object = {}) {
  const folder = newFolder();
  const url = join(folder, 'store.db');
  const file = join(folder, 'cvrsync.json');
  const register = { source: 'file', path: join(folder, 'register') };
  await writeFile(file, JSON.stringify({ store: url, service: { register, ...more } }));
  const store = await opened(url);
  const run = (...argv: readonly string[]) => runCli(['--config', file, '--log-level', 'error', ...argv]);
  const ran = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...argv);
    expect([stderr, code]).toEqual(['', 0]);
    return stdout;
  };
  /** The one document that a command prints; the test holds what it reads against what it asked for. */
  const json = async <T = Record<string, string>>(...argv: readonly string[]): Promise<T> =>
    JSON.parse(await ran(...argv, '--json'));
  const monitor = async (id: string) => getMonitor(store.db, openSecrets(await loadSecretKey(undefined, url)), id);
  return { store, run, ran, json, monitor };
}

const NOBODY = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const HOOK = ['--url', 'https://hooks.example.com/a'];

describe('keys', () => {
  it('are created, printed once, listed without the key, and revoked', async () => {
    const { store, ran, json } = await configured();
    const made = await json<{ id: string; key: string }>('keys', 'create', 'Nordlys A/S');
    expect(await findKey(store.db, made.key)).toEqual({ id: made.id, scopes: ['monitoring', 'news', 'testwebhook'] });
    const text = await ran('keys', 'create', 'Two', '--scope', 'admin', '--scope', 'news');
    expect(text).toMatch(/^cvrsync_[\w-]{43}\nThis is the key of Two, for admin, news\. It cannot be shown again/);
    const list = await ran('keys', 'list');
    expect(list).toContain('Nordlys A/S');
    expect(list).not.toContain('cvrsync_');
    await ran('keys', 'revoke', made.id);
    expect(await findKey(store.db, made.key)).toBeUndefined();
    expect((await json<{ revoked: string }[]>('keys', 'list'))[0]?.revoked).not.toBe('');
  });

  it('disable their jobs when they are revoked, or the output says that the jobs continue', async () => {
    const { ran, json, monitor } = await configured();
    const [{ id: key = '' }, { id: other = '' }] = [
      await json('keys', 'create', 'One'),
      await json('keys', 'create', 'Two'),
    ];
    const { id: first = '' } = await json('jobs', 'create', 'hubspot', '--key', key, ...HOOK);
    const { id: second = '' } = await json('jobs', 'create', 'hubspot', '--key', other, ...HOOK);
    const off = await ran('keys', 'revoke', key);
    expect(off).toContain('Its jobs are switched off, and what is due to them is held for 14 days:');
    expect(off).toContain(first);
    expect(await monitor(first)).toMatchObject({ enabled: false, disabledReason: 'person' });
    const on = await ran('keys', 'revoke', other, '--keep-jobs');
    expect(on).toContain('Its jobs go on delivering to their webhooks:');
    expect(on).toContain(second);
    expect(await monitor(second)).toMatchObject({ enabled: true });
  });

  it.each([
    ['an unknown scope', ['keys', 'create', 'x', '--scope', 'everything'], 2, 'everything is not one of'],
    ['no name', ['keys', 'create', ' '], 2, 'name should be 1 to 256 characters'],
    ['an unknown id', ['keys', 'revoke', 'cvrsync_typed-by-mistake'], 1, 'there is no key with this id'],
  ])('explain the error in %s', async (_what, argv, code, message) => {
    const { run } = await configured();
    const ran = await run(...argv);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain('typed-by-mistake');
  });
});

describe('monitors', () => {
  it('are created with every option, and shown without secrets', async () => {
    const { ran, json, monitor } = await configured();
    const made = await json(
      ...['monitors', 'create', 'Nordlys', ...HOOK, '--entity', 'CVR-1-10000001', '--entity', 'CVR-3-4000000001'],
      ...['--event', 'status', '--event', 'Ownership', '--email', 'anna@example.com', '--immediate'],
      ...['--header', 'X-Key=open=sesame', '--schedule', '0,60,3600', '--posts-per-minute', '90'],
    );
    const id = made['id'] ?? '';
    expect(made['signingSecret']).toMatch(/^whsec_/);
    const kept = await monitor(id);
    expect(kept).toMatchObject({
      name: 'Nordlys',
      target: 'items',
      events: ['ownership', 'status'],
      url: 'https://hooks.example.com/a',
      emails: ['anna@example.com'],
      mailFrequency: 'immediate',
      schedule: [0, 60, 3600],
      postsPerMinute: 90,
      enabled: true,
      security: { credentials: { method: 'Header', key: 'X-Key', value: 'open=sesame' } },
    });
    const texts = [
      await ran('monitors', 'list'),
      await ran('monitors', 'show', id),
      await ran('monitors', 'show', id, '--json'),
    ];
    for (const text of texts) {
      expect(text).toContain('Nordlys');
      expect(text).not.toContain('sesame');
      expect(text).not.toContain('whsec_');
    }
    expect(texts[1]).toContain('items: 2');
  });

  it('show their events by the names that the configuration gives them', async () => {
    const { ran, json } = await configured({ emailEvent: 'companyMail' });
    const made = await json('monitors', 'create', 'Mail', '--event', 'companyMail', ...HOOK);
    expect(made).toMatchObject({ events: ['companyMail'] });
    expect(await ran('monitors', 'list')).toContain('companyMail');
    expect(await ran('monitors', 'show', made['id'] ?? '')).toContain('events: companyMail\n');
    expect(await json('monitors', 'rotate-secret', made['id'] ?? '')).toMatchObject({ events: ['companyMail'] });
  });

  it('are created inactive, enabled, disabled, changed, given a new secret and removed', async () => {
    const { ran, json, monitor } = await configured();
    const hook = ['--url', 'https://hooks.example.com/before', '--basic', 'anna:pass:word'];
    const made = await json('monitors', 'create', 'All', '--all', '--inactive', ...hook, '--daily');
    const id = made['id'] ?? '';
    expect(await monitor(id)).toMatchObject({ target: 'all', enabled: false, enabledAt: null });
    const listed = await ran('monitors', 'list');
    expect(listed).toContain('inactive');
    expect([listed.includes('https://hooks.example.com/•••'), listed.includes('before')]).toEqual([true, false]);
    await ran('monitors', 'activate', id);
    expect(await monitor(id)).toMatchObject({ enabled: true });
    await ran('monitors', 'disable', id);
    expect(await ran('monitors', 'list')).toContain('off since');
    expect(await monitor(id)).toMatchObject({ enabled: false, disabledReason: 'person' });
    await ran('monitors', 'update', id, '--name', 'Everything', ...HOOK, '--bearer', 'token-1', '--event', 'status');
    expect(await monitor(id)).toMatchObject({
      name: 'Everything',
      url: HOOK[1],
      events: ['status'],
      security: { credentials: { method: 'Bearer', token: 'token-1' } },
    });
    await ran('monitors', 'update', id, '--clear', 'events', '--posts-per-minute', '30');
    expect(await monitor(id)).toMatchObject({ name: 'Everything', events: null, postsPerMinute: 30 });
    await ran('monitors', 'update', id, '--clear', 'posts-per-minute');
    expect(await monitor(id)).toMatchObject({ postsPerMinute: null });
    const rotated = await ran('monitors', 'rotate-secret', id);
    expect(rotated).toContain((await monitor(id))?.security.secrets[0]?.secret);
    expect(rotated).not.toContain(made['signingSecret']);
    expect((await monitor(id))?.security.secrets).toHaveLength(2);
    await ran('monitors', 'remove', id);
    expect(await monitor(id)).toBeUndefined();
  });

  it('have lists that accept entity ids and CVR numbers', async () => {
    const { store, json } = await configured();
    const { id = '' } = await json('monitors', 'create', 'List', ...HOOK);
    const added = await json<object>('monitors', 'entities', 'add', id, '10000001', 'CVR-1-10000009', 'cvr-1-10000009');
    expect(added).toEqual([
      { entity: 'CVR-1-10000001', result: 'added' },
      { entity: 'CVR-1-10000009', result: 'added' },
      { entity: 'CVR-1-10000009', result: 'already' },
    ]);
    const removed = await json<object>('monitors', 'entities', 'remove', id, 'CVR-1-10000001', '10000002');
    expect(removed).toEqual([
      { entity: 'CVR-1-10000001', result: 'removed' },
      { entity: 'CVR-1-10000002', result: 'absent' },
    ]);
    expect(await store.db.selectFrom('item').select('entity').execute()).toEqual([{ entity: 'CVR-1-10000009' }]);
  });

  it.each([
    ['both targets', ['create', 'x', '--all', '--entity', '10000001'], 2, 'not both'],
    ['an event that is none', ['create', 'x', '--event', 'weather'], 2, '--event weather: no such event; they are'],
    [
      'an event of another spelling',
      ['create', 'x', '--event', 'nam'],
      2,
      '--event nam: no such event; did you mean name?\n',
    ],
    ['a recipient that is none', ['create', 'x', '--email', 'ida'], 2, '--email ida is not an e-mail address'],
    ['a rate of none', ['create', 'x', '--posts-per-minute', '60001'], 2, '--posts-per-minute should be'],
    ['an address that is none', ['create', 'x', '--url', 'hooks'], 2, '--url should be an address'],
    ['a company that is none', ['create', 'x', '--entity', 'Nordlys'], 2, 'Nordlys is neither an entity id'],
    ['a production unit', ['create', 'x', '--entity', 'CVR-2-1000000020'], 2, 'cannot be monitored'],
    ['two kinds of credentials', ['create', 'x', '--bearer', 's3cret', '--basic', 'a:s3cret'], 2, 'choose one of'],
    ['a header without value', ['create', 'x', '--header', 's3cret'], 2, '--header is name=value'],
    ['a schedule of words', ['create', 'x', '--schedule', 'soon'], 2, '--schedule is seconds'],
    ['both rhythms', ['create', 'x', '--daily', '--immediate'], 2, 'not both'],
    ['nothing to change', ['update', NOBODY], 2, 'name at least one setting to change'],
    ['an unknown id to show', ['show', NOBODY], 1, 'there is no monitor'],
    ['an unknown id to change', ['update', NOBODY, '--name', 'y'], 1, 'there is no monitor'],
    ['an unknown id to switch on', ['activate', NOBODY], 1, 'there is no monitor'],
    ['an unknown id to switch off', ['disable', NOBODY], 1, 'there is no monitor'],
    ['an unknown id to remove', ['remove', NOBODY], 1, 'there is no monitor'],
    ['an unknown id for a secret', ['rotate-secret', NOBODY], 1, 'there is no monitor'],
    ['an unknown list', ['entities', 'add', NOBODY, '10000001'], 1, 'there is no monitor'],
    ['an empty list', ['entities', 'add', NOBODY], 2, 'at least one'],
  ])('explain the error in %s', async (_what, argv, code, message) => {
    const { run, json } = await configured();
    const ran = await run('monitors', ...argv);
    expect(ran.stderr).toContain(message);
    expect(ran.code).toBe(code);
    expect(ran.stderr).not.toContain('s3cret');
    expect(ran.stderr).not.toContain('because:');
    expect(await json<object>('monitors', 'list')).toEqual([]);
  });
});

describe('recipients that unsubscribed or bounced', () => {
  it('are shown with the reason, and can be added again', async () => {
    const { store, run, ran, json } = await configured();
    const { id = '' } = await json(
      'monitors',
      'create',
      'M',
      '--all',
      '--email',
      'a@example.com',
      '--email',
      'b@example.com',
    );
    await store.write(async (tx) => {
      await endMail(tx, id, 'a@example.com', { now: 1_785_000_000_000 });
      await endMail(tx, id, 'b@example.com', { now: 1_785_000_000_000, bounced: '550 5.1.1 no such user' });
    });
    const shown = await ran('monitors', 'show', id);
    expect(shown).toMatch(/no mail to a@example\.com since 2026-\S+ \S+: unsubscribed/u);
    expect(shown).toMatch(/no mail to b@example\.com since .*: bounced, 550 5\.1\.1 no such user/u);
    expect(await ran('monitors', 'resubscribe', id, 'b@example.com')).toContain('goes on with the next change');
    expect(await ran('monitors', 'show', id)).not.toContain('no mail to b@example.com');
    expect((await run('monitors', 'resubscribe', id, 'b@example.com')).code).toBe(1);
  });
});

describe('jobs', () => {
  it('are created for a key, listed, moved to another key and removed', async () => {
    const { ran, json, monitor } = await configured();
    const [{ id: key = '' }, { id: other = '' }] = [
      await json('keys', 'create', 'One'),
      await json('keys', 'create', 'Two'),
    ];
    const made = await json('jobs', 'create', 'hubspot', '--key', key, ...HOOK, '--bearer', 'token-1');
    const id = made['id'] ?? '';
    expect(made['signingSecret']).toMatch(/^whsec_/);
    expect(await monitor(id)).toMatchObject({ name: 'hubspot', provider: 'hubspot', owner: key, target: 'items' });
    expect(await json<object>('jobs', 'list', '--key', other)).toEqual([]);
    await ran('jobs', 'move', id, '--key', other);
    expect(await json<object>('jobs', 'list', '--key', other)).toEqual([
      expect.objectContaining({ id, provider: 'hubspot', key: other, watches: 0, state: 'on' }),
    ]);
    await ran('jobs', 'remove', id);
    expect(await json<object>('jobs', 'list')).toEqual([]);
  });

  it('are limited to one for each key and provider, and to keys that may have jobs', async () => {
    const { run, ran, json } = await configured();
    const { id: key = '' } = await json('keys', 'create', 'One');
    const { id: news = '' } = await json('keys', 'create', 'News', '--scope', 'news');
    const { id: gone = '' } = await json('keys', 'create', 'Gone');
    await ran('keys', 'revoke', gone);
    const create = (provider: string, ...more: readonly string[]) => run('jobs', 'create', provider, ...more);
    expect((await create('hubspot', '--key', key, ...HOOK)).code).toBe(0);
    expect(await json('jobs', 'create', 'listed', '--key', key)).not.toHaveProperty('signingSecret');
    for (const [argv, message] of [
      [['HubSpot', '--key', key, ...HOOK], 'has a job of this key already'],
      [['hub spot', '--key', key, ...HOOK], 'provider should be'],
      [['crm', '--key', news, ...HOOK], 'key does not have the scope monitoring'],
      [['crm', '--key', gone, ...HOOK], 'key was revoked'],
      [['crm', '--key', NOBODY, ...HOOK], 'key is no API key'],
      [['crm', ...HOOK], '--key'],
    ] as const) {
      const [provider, ...more] = argv;
      const refused = await create(provider, ...more);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    for (const argv of [
      ['move', NOBODY, '--key', key],
      ['remove', NOBODY],
    ])
      expect((await run('jobs', ...argv)).stderr).toContain('there is no job');
    const { id: plain = '' } = await json('monitors', 'create', 'List', ...HOOK);
    expect((await run('jobs', 'remove', plain)).code).toBe(1);
  });
});
