/** Names what a release still lacks, in the folder it is started in; exit code 1 where that is something. */
import { readFileSync } from 'node:fs';

const read = (path) => readFileSync(path, 'utf8');
const { version, repository, bugs, homepage } = JSON.parse(read('package.json'));
const missing = [
  ...Object.entries({ repository: repository?.url, bugs: bugs?.url, homepage })
    .filter(([, address]) => typeof address !== 'string' || address === '')
    .map(([name]) => `package.json: ${name} names no address`),
  ...['package.json', 'deploy/systemd/cvrsync.service']
    .filter((path) => read(path).includes('/OWNER/'))
    .map((path) => `${path}: replace OWNER by the account that holds the repository`),
  ...(read('CHANGELOG.md').includes(`\n## [${version}]`)
    ? []
    : [`CHANGELOG.md: add the heading "## [${version}] - YYYY-MM-DD"`]),
];

process.stderr.write(missing.map((line) => `${line}\n`).join(''));
process.exitCode = missing.length === 0 ? 0 : 1;
