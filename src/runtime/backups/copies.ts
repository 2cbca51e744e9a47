/** The daemon's copies of its store: their names, and which of them it keeps. */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** `cvrsync-20261127T120000Z.db`, or a file that belongs to it, such as its key. */
const NAME = /^(cvrsync-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db)(.*)$/u;

export const copyAt = (folder: string, at: number): string =>
  path.join(folder, `cvrsync-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.db`);

/** When the newest copy up to `now` was made. Ignores a folder that it cannot read. */
export async function newestCopy(folder: string, now: number): Promise<number | undefined> {
  const all = await copiesIn(folder).catch(() => []);
  const past = all.filter(({ end, at }) => end === '' && at <= now).map(({ at }) => at);
  return past.length === 0 ? undefined : Math.max(...past);
}

/** Keeps `keep` copies with their keys: the one just made and the newest others; deletes the rest. */
export async function deleteOldCopies(folder: string, made: string, keep: number): Promise<void> {
  const all = await copiesIn(folder);
  const others = all.filter(({ end, name }) => end === '' && name !== path.basename(made)).map(({ name }) => name);
  const kept = new Set([
    path.basename(made),
    ...others
      .toSorted()
      .reverse()
      .slice(0, keep - 1),
  ]);
  for (const { name, end } of all) if (!kept.has(name)) await rm(path.join(folder, `${name}${end}`), { force: true });
}

interface CopyFile {
  readonly name: string;
  readonly end: string;
  readonly at: number;
}

async function copiesIn(folder: string): Promise<readonly CopyFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.flatMap((file): readonly CopyFile[] => {
    const [, name, year, month, day, hour, minute, second, end] = NAME.exec(file) ?? [];
    if (name === undefined || end === undefined) return [];
    return [{ name, end, at: Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) }];
  });
}
