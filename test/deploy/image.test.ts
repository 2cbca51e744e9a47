/** What the image holds: the build, and of its packages what is ever read. It does all that the daemon does. */
import { execFile } from 'node:child_process';
import { cp, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { openChain } from '../chaos/chain.ts';
import { daemonWith } from '../support/daemon.ts';
import { ENTRY } from '../support/program.ts';
import { emptyStoreUrl, newFolder } from '../support/stores.ts';
import { openCollector } from '../telemetry/collector.ts';

const ROOT = join(import.meta.dirname, '../..');
const MB = 1_000_000;

/** The folder /app of the image. */
async function app(): Promise<string> {
  const folder = newFolder();
  const trim = join(ROOT, '.ci/trim.js');
  await promisify(execFile)(process.execPath, [trim, dirname(ENTRY), folder], { cwd: ROOT });
  await cp(dirname(ENTRY), join(folder, 'dist'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  return folder;
}

async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

describe('the packages of the image', () => {
  test.each(['sqlite', 'postgres'] as const)('watch, tell and write into both CRMs, on %s', async (engine) => {
    const folder = await app();
    expect(await bytesIn(join(folder, 'node_modules'))).toBeLessThan(20 * MB);
    const random = randomFrom(3);
    const options = { seed: 3, companies: 4, changes: 10, listeners: 3, faults: 0 };
    const chain = await openChain(await emptyStoreUrl(engine), options, random);
    const collector = await openCollector();
    const config = { ...chain.config, telemetry: { endpoint: collector.endpoint, sampleRatio: 1, metricsSeconds: 1 } };
    const daemon = await daemonWith(config, [], join(folder, 'dist/cvrsync.js'));
    await daemon.start();
    await chain.begin();
    await chain.tellRest(() => {});
    await chain.atRest();
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await chain.verify();
    expect(collector.spans('sync')).not.toEqual([]);
  });
});
