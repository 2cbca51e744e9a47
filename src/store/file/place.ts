/** Finds and guards the file of a SQLite store. */
import { closeSync, existsSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { StoreError } from '../store-error.ts';

/** Resolves symbolic links, even to a missing file: SQLite names its journals after the target. */
export function resolveStore(given: string): string {
  const file = path.resolve(given);
  if (existsSync(file)) return realpathSync(file);
  const target = linkTarget(file);
  if (target !== undefined) return resolveStore(path.resolve(path.dirname(file), target));
  const folder = path.dirname(file);
  return existsSync(folder) ? path.join(realpathSync(folder), path.basename(file)) : file;
}

/** The target of a dangling symbolic link; undefined if it is not a link. */
function linkTarget(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/** Creates a missing file with mode 0600: SQLite gives its journals the mode of the file. */
export function makePrivate(file: string): void {
  // Only a missing file: on Linux, closing any descriptor of a file ends SQLite's locks on it in this process.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

/**
 * Throws if the file has a second name: SQLite keeps a journal for each name, and would lose the writes of the other.
 */
export function refuseHardLinks(file: string): void {
  const { nlink } = statSync(file);
  if (nlink > 1)
    throw new Error(
      `${file} has ${nlink} names (hard links), and SQLite would lose what is written through one of them: ` +
        `find the others with find / -xdev -samefile ${file}, and delete them`,
    );
}

/** The suffixes of the files of a SQLite database. */
const FILES = ['', '-wal', '-shm'] as const;

/**
 * Returns a check that throws {@link StoreGoneError} once the store's file or a journal is not the one of the first
 * call: somebody moved or deleted it, and writes go to a file without a name. Call it after a first write, which
 * creates the journals.
 */
export function createPlaceCheck(file: string): () => void {
  const store = resolveStore(file);
  // Use the given path: its links may have changed.
  const places = FILES.map((end) => (end === '' ? file : `${store}${end}`));
  let known: readonly string[] | undefined;
  return () => {
    const found = places.map(identityOf);
    known ??= found;
    const lost = places.filter((_, index) => found[index] === '' || found[index] !== known?.[index]);
    if (lost.length > 0) throw new StoreGoneError(lost);
  };
}

/** Device and inode; the system does not reuse the inode of an open file. */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

/** The files of the store were moved or deleted. */
export class StoreGoneError extends StoreError {
  constructor(files: readonly string[]) {
    super(
      `is gone: ${files.join(', ')} was moved, replaced or deleted while cvrsync runs. ` +
        'Put it back if it was moved. If it was deleted, copy it from this process before you stop it: see docs/operations.md',
      undefined,
    );
  }
}
