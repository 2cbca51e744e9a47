/** The place of a SQLite store: the file that its path means. */
import { closeSync, existsSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

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
