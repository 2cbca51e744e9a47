/** What the image holds: the build, and of its packages what is ever read. It does all that the daemon does. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { openChain } from '../chaos/chain.ts';
import { ALL } from '../support/all.ts';
import { daemonWith } from '../support/daemon.ts';
import { BUILD } from '../support/program.ts';
import { emptyStoreUrl, SUITE_ENGINES } from '../support/stores.ts';
import { openCollector } from '../telemetry/collector.ts';

const ROOT = join(import.meta.dirname, '../..');
const MB = 1_000_000;

const node = (...args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: ROOT });

/**
 * The folder /app of the image, as its two steps make it; inside of the checkout, from where packages are traced. The suite takes
 * the build that all its tests share, unless `isNew`.
 */
async function made(isNew: boolean): Promise<string> {
  const folder = await mkdtemp(join(dirname(BUILD), 'image-'));
  const build = join(folder, 'dist');
  if (isNew) await node(join(ROOT, 'node_modules/rolldown/bin/cli.mjs'), '-c', '--dir', build, '--log-level', 'warn');
  else await cp(BUILD, build, { recursive: true });
  await node(join(ROOT, '.ci/trim.js'), build, folder);
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const part of ['scaffold', 'samples']) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  return folder;
}

const filesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .toSorted();

async function bytesIn(folder: string): Promise<number> {
  const sizes = (await filesIn(folder)).map(async (file) => (await stat(file)).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** The digest of each file, by its path. */
async function digestsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {};
  for (const file of await filesIn(folder))
    digests[relative(folder, file)] = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  return digests;
}

describe('the files of the image', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await made(ALL);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each(SUITE_ENGINES)('watch, tell and write into both CRMs, on %s', async (engine) => {
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

  test('are not where a volume or a folder of the host is mounted', async () => {
    const [, image = ''] = (await readFile(join(ROOT, 'Dockerfile'), 'utf8')).split(/^FROM \$\{BASE\}$/mu);
    const named = (instruction: RegExp) => [...image.matchAll(instruction)].map(([, to = '']) => resolve('/app', to));
    const volumes = named(/^VOLUME (\S+)$/gmu);
    const copied = named(/^COPY .* (\S+)$/gmu);
    expect([volumes, copied]).toEqual([['/app/data'], expect.arrayContaining(['/app/dist', '/app/samples'])]);
    expect(copied.filter((to) => volumes.some((volume) => to === volume || to.startsWith(`${volume}/`)))).toEqual([]);
  });

  test('let a provider elsewhere in the image find what it imports', async () => {
    const root = await mkdtemp(join(tmpdir(), 'root-'));
    onTestFinished(() => rm(root, { recursive: true }));
    // The links that the image makes, from its root.
    const links = [
      ...(await readFile(join(ROOT, 'Dockerfile'), 'utf8')).matchAll(/ln -s \/app(\S*) (\/node_modules\/\S+)/gu),
    ];
    await mkdir(join(root, 'node_modules'));
    for (const [, from = '', to = ''] of links) await symlink(join(folder, from), join(root, to));
    await mkdir(join(root, 'plugins'));
    const run = (cwd: string, ...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [join(folder, 'dist/cvrsync.js'), ...args], { cwd });
    await run(join(root, 'plugins'), 'provider', 'new', 'my-crm');
    const { stdout } = await run(root, 'provider', 'test', './plugins/my-crm');
    expect(stdout).toMatch(/rules kept, 0 broken/u);
  });

  // To make them takes as long as all else here.
  test.runIf(ALL)('are the same, byte by byte, when they are made again', async () => {
    const again = await made(true);
    onTestFinished(() => rm(again, { recursive: true }));
    const digests = await digestsIn(folder);
    expect(Object.keys(digests).length).toBeGreaterThan(1_000);
    expect(await digestsIn(again)).toEqual(digests);
  });
});
