/** A registry of npm packages on loopback: those that are installed here, and whatever is published to it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A version as npm asks for it. */
interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Registry {
  readonly url: string;
  /** Names of the packages that npm asked for. */
  readonly asked: ReadonlySet<string>;
  /** Adds a package that npm may ask for, and not fetch. */
  publish(name: string, manifest: Manifest): void;
  close(): Promise<void>;
}

/** Serves what the lock file of this folder names. A package is packed when npm fetches it. */
export async function startRegistry(root: string): Promise<Registry> {
  const lock: { packages: Readonly<Record<string, Manifest>> } = JSON.parse(
    await readFile(join(root, 'package-lock.json'), 'utf8'),
  );
  const published = new Map<string, Manifest>();
  const asked = new Set<string>();
  const folder = await mkdtemp(join(tmpdir(), 'cvrsync-registry-'));

  const packed = async (name: string): Promise<Buffer> => {
    const place = await mkdtemp(join(folder, 'package-'));
    await symlink(join(root, 'node_modules', name), join(place, 'package'));
    const options = { encoding: 'buffer', maxBuffer: 200_000_000 } as const;
    return (await promisify(execFile)('tar', ['-chf', '-', '-C', place, 'package'], options)).stdout;
  };
  const answer = async (path: string): Promise<{ readonly status: number; readonly body: string | Buffer }> => {
    if (path.startsWith('/-/packed/')) return { status: 200, body: await packed(path.slice('/-/packed/'.length)) };
    const name = path.slice(1);
    asked.add(name);
    const manifest = published.get(name) ?? lock.packages[`node_modules/${name}`];
    if (manifest === undefined) return { status: 404, body: '{"error":"Not found"}' };
    const { version } = manifest;
    const versions = { [version]: { ...manifest, name, dist: { tarball: `${url}/-/packed/${name}` } } };
    return { status: 200, body: JSON.stringify({ name, 'dist-tags': { latest: version }, versions }) };
  };
  const server = createServer((request, response) => {
    void answer(decodeURIComponent(request.url ?? '/')).then(
      ({ status, body }) => response.writeHead(status).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    publish: (name, manifest) => void published.set(name, manifest),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
