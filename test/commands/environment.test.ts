/** The environment of commands: a `.env` beside the configuration, and commands that need none of the CRMs' secrets. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { runCli } from '../support/cli.ts';
import { type ENGINES, newFolder, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';

const ENTITY = 'CVR-1-96437889';

/** A configuration in a folder of its own, all of whose secrets are variables, on a store with a link. */
async function configured(engine: (typeof ENGINES)[number] = 'sqlite') {
  const url = await newStoreUrl(engine);
  const store = await opened(url);
  const link = { provider: 'hubspot', recordId: '123', entity: ENTITY, sendUpdate: false, now: 1 };
  await store.write((tx) => linkRecord(tx, link));
  const file = join(newFolder(), 'cvrsync.yaml');
  const text = `
store: \${STORE_URL}
admin: { token: "\${ADMIN_TOKEN}" }
connector:
  webhook: { auth: { method: Header, key: X-Key, value: "\${WEBHOOK_SECRET}" } }
  upstream: { baseUrl: "\${SERVICE_URL}", accessKey: "\${SERVICE_KEY}" }
  providers:
    hubspot: { use: hubspot, accessToken: "\${HUBSPOT_TOKEN}", match: { property: cvr_number } }
    salesforce:
      use: salesforce
      loginUrl: "\${SF_URL}"
      auth: { flow: client-credentials, clientId: "\${SF_ID}", clientSecret: "\${SF_SECRET}" }
service:
  register: { source: cvr, username: "\${CVR_USER}", password_FILE: /nonexistent/secret }
`;
  await writeFile(file, text);
  return { file, url, run: (...argv: readonly string[]) => runCli(['--config', file, ...argv], { STORE_URL: url }) };
}

describe.each(SUITE_ENGINES)('without the secrets of the CRMs, on %s', (engine) => {
  test.each([
    [['links'], 0, '123'],
    [['links', 'hubspot', '--record', '123'], 0, ENTITY],
    [['explain', ENTITY], 0, 'hubspot:123'],
    [['explain', 'hubspot:123'], 0, ENTITY],
    [['review', 'list'], 0, ''],
    [['export', ENTITY], 0, ENTITY],
    [['deliveries', 'list'], 0, ''],
    [['operators', 'list'], 0, ''],
    [['hold', 'hubspot:123', '--reason', 'asked'], 0, 'Nothing is written to hubspot:123'],
    [['migrate'], 0, ''],
  ])('%o works', async (argv, code, shown) => {
    const { run } = await configured(engine);
    const ran = await run(...argv);
    expect(ran.stderr).toBe('');
    expect(ran.code).toBe(code);
    expect(ran.stdout).toContain(shown);
  });

  test('a command that calls a CRM names the variables of that CRM, and no other', async () => {
    const { run } = await configured(engine);
    const { code, stderr } = await run('backfill', 'hubspot', '--dry-run');
    expect(code).toBe(2);
    expect(stderr).toContain('HUBSPOT_TOKEN');
    expect(stderr).not.toMatch(/SF_SECRET|WEBHOOK_SECRET|CVR_USER/u);
  });
});

test('the daemon needs every variable, and the store needs its own', async () => {
  const { file, run } = await configured();
  const served = await run('serve');
  expect(served.code).toBe(2);
  const names = ['ADMIN_TOKEN', 'WEBHOOK_SECRET', 'SERVICE_URL', 'SF_ID', 'CVR_USER', '/nonexistent/secret'];
  for (const name of names) expect(served.stderr).toContain(name);
  expect(await runCli(['--config', file, 'links'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^cvrsync: .*\n {2}line 2, column 8: store the environment variable STORE_URL is not set.*\n {4}2 \| store: \$\{STORE_URL\}\n {6}\| {8}\^\n$/u,
    ),
  });
});

test('every command reports errors other than missing variables', async () => {
  const { file, url } = await configured();
  await writeFile(
    file,
    JSON.stringify({ store: url, connector: { providers: { hubspot: { use: 'hubspot', accessToken: '$TOKEN' } } } }),
  );
  const { code, stderr } = await runCli(['--config', file, 'links']);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`write \${TOKEN} for the environment variable`)]);
});

describe('a .env beside the configuration', () => {
  test('gives every command its variables, as Node reads such a file', async () => {
    const { file, url } = await configured();
    await writeFile(join(dirname(file), '.env'), `# ours\nexport STORE_URL='${url}' # the store\n`);
    expect(await runCli(['--config', file, 'links'])).toMatchObject({ code: 0, stderr: '' });
    // Wherever the file is named.
    expect(await runCli(['links'], { CVRSYNC_CONFIG: file })).toMatchObject({ code: 0, stderr: '' });
  });

  test('does not replace a variable that is set', async () => {
    const { file, run } = await configured();
    await writeFile(join(dirname(file), '.env'), 'STORE_URL=/nonexistent/other.db\n');
    expect(await run('links')).toMatchObject({ code: 0 });
    expect((await runCli(['--config', file, 'links'])).stderr).toContain('/nonexistent/other.db');
  });

  test('may be a folder', async () => {
    const { file, run } = await configured();
    await mkdir(join(dirname(file), '.env'));
    expect(await run('links')).toMatchObject({ code: 0, stderr: '' });
  });
});
