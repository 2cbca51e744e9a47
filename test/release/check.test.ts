/** A release is refused while placeholders stand where its address should be. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDoc } from '../support/docs.ts';
import { newFolder } from '../support/stores.ts';

const CHECK = join(import.meta.dirname, '../../.ci/release-check.js');

const address = (owner: string): string => `https://github.com/${owner}/cvrsync`;

/** What the check says of a release by this owner, with these changes to its files. */
function checked(owner: string, changes: Readonly<Record<string, string>> = {}) {
  const folder = newFolder();
  const links = { repository: { url: address(owner) }, bugs: { url: address(owner) }, homepage: address(owner) };
  const files = {
    'package.json': JSON.stringify({ version: '1.2.3', ...links }),
    'deploy/systemd/cvrsync.service': address(owner),
    'CHANGELOG.md': '# Changelog\n\n## [1.2.3] - 2026-12-01\n',
    ...changes,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [CHECK], { cwd: folder, encoding: 'utf8' });
  return { status, said: stderr.trim().split('\n') };
}

describe('a release', () => {
  it('passes where every address is filled in and the changelog has its version', () => {
    expect(checked('birk-byg')).toEqual({ status: 0, said: [''] });
  });

  it('is refused while a placeholder stands in a file, and each is named', () => {
    const { status, said } = checked('OWNER');
    expect(status).toBe(1);
    expect(said.map((line) => line.split(':')[0])).toEqual(['package.json', 'deploy/systemd/cvrsync.service']);
  });

  it('is refused where an address or the heading of the version is missing', () => {
    const files = { 'package.json': '{"version":"1.2.3"}', 'CHANGELOG.md': '# Changelog\n\n## [1.2.2] - 2026-11-01\n' };
    const { status, said } = checked('birk-byg', files);
    expect(status).toBe(1);
    expect(said).toHaveLength(4);
    expect(said.join()).toContain('## [1.2.3]');
  });

  it('says how to report a vulnerability without an address that nobody answers', () => {
    for (const file of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml'])
      expect(readDoc(file)).not.toMatch(/OWNER|https?:/u);
  });

  it('is checked before the package is published', () => {
    const { scripts } = JSON.parse(readDoc('package.json'));
    expect([scripts.prepublishOnly, scripts['release:check']]).toEqual([
      'npm run release:check',
      'node .ci/release-check.js',
    ]);
  });
});
