/** Prepares the folder of a store or backup, and explains what prevents it. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorText } from '../protocol/text/error-text.ts';

/** The purpose of a file, for errors. */
interface Purpose {
  readonly cannot: (file: string) => string;
  /** The alternative to repairing the folder. */
  readonly other: string;
}

const STORE: Purpose = {
  cannot: (file) => `The store ${file} cannot be used`,
  other: 'name another path as `store` in the configuration',
};
const BACKUP: Purpose = { cannot: (file) => `The backup ${file} cannot be written`, other: 'name another file' };

/** Creates the folder of a store. Throws with path, user and remedy if the store could not be written there. */
export function prepareFile(file: string): void {
  const at = resolve(file);
  prepareFolder(at, STORE);
  if (explained(STORE, at, at, () => isFolder(at)))
    throw new Error(`The store ${at} is a folder: name a file as \`store\`, such as ${join(at, 'cvrsync.db')}`);
  if (existsSync(at)) explained(STORE, at, at, () => accessSync(at, constants.W_OK));
}

/** Creates the folder of a backup; throws like {@link prepareFile}. */
export const prepareBackup = (file: string): void => prepareFolder(resolve(file), BACKUP);

/** SQLite keeps its journal next to the file, so the folder must be writable too. */
function prepareFolder(at: string, purpose: Purpose): void {
  const folder = dirname(at);
  // The nearest existing folder shows the reason: `mkdir` itself says `ENOENT` on a read-only file system.
  const above = nearestFolder(folder);
  if (above !== folder) explained(purpose, at, above, () => accessSync(above, constants.W_OK));
  explained(purpose, at, folder, () => makeFolder(folder));
  explained(purpose, at, folder, () => accessSync(folder, constants.W_OK));
}

/**
 * Creates a folder and its missing parents one by one: Node's `recursive` loops for ever if the system answers `ENOENT`
 * below an existing folder, as `/proc` does.
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

/** The folder itself, or the nearest existing one above it. */
const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));

function explained<T>({ cannot, other }: Purpose, file: string, place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new Error(`${cannot(file)}: ${reasonOf(code, place, other, error)}`, { cause: error });
  }
}

function reasonOf(code: string, place: string, other: string, error: unknown): string {
  if (code === 'EACCES' || code === 'EPERM')
    return `${user()} may not write ${place}: give that user the right to (chown or chmod), or ${other}`;
  if (code === 'EROFS') return `${place} is on a read-only file system: mount it writable, or ${other}`;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return `${place} should be a folder, and a file has that name: move the file away, or ${other}`;
  if (code === 'ENOENT') return `the system cannot create the folder ${place}: ${other}`;
  return `${errorText(error)}; repair ${place}, or ${other}`;
}

/** The user of this process; in a container it may have no name. */
function user(): string {
  try {
    const { username, uid } = userInfo();
    return `the user ${username} (${uid})`;
  } catch {
    return `the user ${process.getuid?.() ?? 'of this process'}`;
  }
}
