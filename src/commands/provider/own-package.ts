/** Names, in a new provider package, the cvrsync that wrote it. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { errorText } from '../../protocol/text/error-text.ts';

export interface OwnPackage {
  readonly home: string;
  readonly version: string;
  /** The user id of this process, on systems that have one. */
  readonly user: number | undefined;
}

/**
 * The dependency for a `package.json` in that folder. Unless npm fetched this program from a registry, no registry may
 * have it, or one may have a stranger's package of that name: the dependency is then the installation itself. npm makes
 * the program of a linked package executable, and cannot do so for another user's file, as in the image: it then packs
 * the installation.
 */
export async function specOf({ home, version, user }: OwnPackage, folder: string): Promise<string> {
  if (await isFromRegistry(home)) return `^${version}`;
  const isOwn = user === undefined || user === 0 || (await stat(join(home, 'package.json'))).uid === user;
  return `file:${isOwn ? relative(folder, home).split(sep).join('/') : await pack(home, folder)}`;
}

/** npm notes the source of each package next to the packages. */
async function isFromRegistry(home: string): Promise<boolean> {
  const lock = await readFile(join(home, '..', '.package-lock.json'), 'utf8').catch(() => '{}');
  const resolved: unknown = JSON.parse(lock).packages?.['node_modules/cvrsync']?.resolved;
  return typeof resolved === 'string' && /^https?:/.test(resolved);
}

/** Packs the installation into the folder; returns the name of the file. */
async function pack(home: string, folder: string): Promise<string> {
  const options = ['--ignore-scripts', '--silent', '--pack-destination', folder];
  try {
    return (await promisify(execFile)('npm', ['pack', home, ...options])).stdout.trim();
  } catch (cause) {
    throw new Error(`npm cannot pack ${home}, which the new package is built with: ${errorText(cause)}`, { cause });
  }
}
