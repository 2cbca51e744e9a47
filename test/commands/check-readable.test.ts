/** `check`: secrets in files that every account of the machine can read. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { newFolder } from '../support/stores.ts';

function prepared(admin: object, mode: number) {
  const folder = join(newFolder(), 'etc');
  mkdirSync(folder);
  const file = join(folder, 'cvrsync.yaml');
  const service = { register: { source: 'file', path: folder } };
  writeFileSync(file, JSON.stringify({ server: { port: 0 }, store: join(folder, 'store.db'), admin, service }));
  chmodSync(file, mode);
  return { folder, file };
}

const LITERAL = { token: 'a-token-of-some-length' };
const NAMED = { token: `$\{ADMIN_TOKEN}` };

async function found(file: string): Promise<readonly string[]> {
  const { stdout } = await runCli(['--config', file, '--json', 'check'], { ADMIN_TOKEN: LITERAL.token });
  const findings: readonly { readonly level: string; readonly found: string }[] = JSON.parse(stdout);
  return findings.flatMap(({ level, found: what }) => (what.includes('every account') ? [`${level} ${what}`] : []));
}

it.each([
  ['a literal secret that others can read', LITERAL, { mode: 0o644, folderMode: 0o755, count: 1 }],
  ['a literal secret for the owner and its group', LITERAL, { mode: 0o640, folderMode: 0o755, count: 0 }],
  ['a literal secret in a closed folder', LITERAL, { mode: 0o644, folderMode: 0o700, count: 0 }],
  ['a secret of the environment', NAMED, { mode: 0o644, folderMode: 0o755, count: 0 }],
])('names the remedy for %s', async (_what, admin, { mode, folderMode, count }) => {
  const { folder, file } = prepared(admin, mode);
  // Test folders are for their owner only.
  chmodSync(join(folder, '..'), 0o755);
  chmodSync(folder, folderMode);
  const findings = await found(file);
  expect(findings).toHaveLength(count);
  for (const finding of findings) expect(finding).toMatch(/^warn .*cvrsync\.yaml holds secrets/);
});

it('checks the .env file, too', async () => {
  const { folder, file } = prepared(NAMED, 0o644);
  chmodSync(join(folder, '..'), 0o755);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, '.env'), `ADMIN_TOKEN=${LITERAL.token}\n`, { mode: 0o644 });
  expect(await found(file)).toEqual([expect.stringMatching(/^warn \.env holds secrets/)]);
});
