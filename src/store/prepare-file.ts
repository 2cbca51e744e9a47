/** The place of a store in a file: made where it can be, and explained to whoever can mend it where it cannot. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorText } from '../protocol/text/error-text.ts';

/** Makes the folder of a store's file. Throws with path, user and remedy where the store could not be written there. */
export function prepareFile(file: string): void {
  const at = resolve(file);
  const folder = dirname(at);
  // The folder above that is there says why none can be made: `mkdir` itself says `ENOENT` on a read-only file system.
  const above = nearestFolder(folder);
  if (above !== folder) explained(at, above, () => accessSync(above, constants.W_OK));
  explained(at, folder, () => makeFolder(folder));
  if (explained(at, at, () => isFolder(at)))
    throw new Error(`The store ${at} is a folder: name a file as \`store\`, such as ${join(at, 'cvrsync.db')}`);
  // SQLite keeps its journal beside the file: both must be writable.
  for (const place of existsSync(at) ? [folder, at] : [folder])
    explained(at, place, () => accessSync(place, constants.W_OK));
}

/**
 * Makes a folder and what is missing above it, one at a time: Node's `recursive` goes on for ever where the system answers
 * `ENOENT` below a folder that is there, as `/proc` does.
 */
export function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (!existsSync(above)) makeFolder(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have been first.
    if (!isFolder(folder)) throw error;
  }
}

const isFolder = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

/** The folder itself, or the nearest one above it that is there. */
const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));

function explained<T>(store: string, place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new Error(`The store ${store} cannot be used: ${reasonOf(code, place, error)}`, { cause: error });
  }
}

function reasonOf(code: string, place: string, error: unknown): string {
  const other = 'or name another path as `store` in the configuration';
  if (code === 'EACCES' || code === 'EPERM')
    return `${user()} may not write ${place}: give that user the right to (chown or chmod), ${other}`;
  if (code === 'EROFS') return `${place} is on a read-only file system: mount it writable, ${other}`;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return `a file stands where the folder ${place} should be: move the file away, ${other}`;
  if (code === 'ENOENT')
    return `the system makes no folder ${place}: name another path as \`store\` in the configuration`;
  return `${errorText(error)}; mend ${place}, ${other}`;
}

/** Whoever this process runs as; in a container that user may have no name. */
function user(): string {
  try {
    const { username, uid } = userInfo();
    return `the user ${username} (${uid})`;
  } catch {
    return `the user ${process.getuid?.() ?? 'of this process'}`;
  }
}
