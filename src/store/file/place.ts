/** The place of a SQLite store: the file that its path means. */
import { closeSync, existsSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { StoreError } from '../store-error.ts';

/** The file behind symbolic links, also if it is not there yet: SQLite names its journals after it. */
export function resolveStore(given: string): string {
  const file = path.resolve(given);
  if (existsSync(file)) return realpathSync(file);
  const target = linkTarget(file);
  if (target !== undefined) return resolveStore(path.resolve(path.dirname(file), target));
  const folder = path.dirname(file);
  return existsSync(folder) ? path.join(realpathSync(folder), path.basename(file)) : file;
}

/** Where a symbolic link leads whose target is not there; undefined for what is no link. */
function linkTarget(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

/** Makes a file for its owner only if it is not there: SQLite gives its journals the mode of the file they belong to. */
export function makePrivate(file: string): void {
  // Only then: on Linux the end of any descriptor of a file ends SQLite's locks on it in this process.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
}

/** Throws if the file has another name as well. SQLite keeps a journal for each name, and loses what went through the other. */
export function refuseHardLinks(file: string): void {
  const { nlink } = statSync(file);
  if (nlink > 1)
    throw new Error(
      `${file} has ${nlink} names (hard links), and SQLite would lose what is written through one of them: ` +
        `find the others with find / -xdev -samefile ${file}, and delete them`,
    );
}

/** What SQLite keeps a database in, by what is added to its name. */
const FILES = ['', '-wal', '-shm'] as const;

/**
 * Returns what throws a {@link StoreGoneError} once the store's file, or a journal of it, is not the one that was at its place
 * at the first call: somebody moved or deleted it, and what is written is in no file that has a name. Call it after a write
 * first: SQLite makes the journals with that.
 */
export function createPlaceCheck(file: string): () => void {
  const store = resolveStore(file);
  // Through the path that was given: a link of it may lead elsewhere by now.
  const places = FILES.map((end) => (end === '' ? file : `${store}${end}`));
  let known: readonly string[] | undefined;
  return () => {
    const found = places.map(identityOf);
    known ??= found;
    const lost = places.filter((_, index) => found[index] === '' || found[index] !== known?.[index]);
    if (lost.length > 0) throw new StoreGoneError(lost);
  };
}

/** Device and inode; a file that is open keeps its inode from other files. */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

/** The files of the store are not at their place any more. */
export class StoreGoneError extends StoreError {
  constructor(files: readonly string[]) {
    super(
      `is gone: ${files.join(', ')} was moved, replaced or deleted while cvrsync runs. ` +
        'Put it back if it was moved. If it was deleted, copy it from this process before you stop it: see docs/operations.md',
      undefined,
    );
  }
}
