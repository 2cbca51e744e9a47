/** Copies a SQLite store at intervals, verifies each copy and keeps the newest. */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorText } from '../../protocol/text/error-text.ts';
import { copyInThread } from '../../store/recovery/copy-in-thread.ts';
import type { Store } from '../../store/store.ts';
import { type Claim, mark, settle } from '../lanes/lanes.ts';
import { createWakeUp } from '../wake-up.ts';
import { startWorker, type Worker } from '../worker.ts';

export const BACKUP_QUEUE = 'backup';
const KEY = 'store';
const HOUR_MS = 3_600_000;
const RETRY_MS = 15 * 60_000;

export interface BackupSettings {
  readonly folder: string;
  readonly everyHours: number;
  readonly keep: number;
  readonly verify: boolean;
}

export interface BackupDeps {
  readonly store: Store;
  readonly file: string;
  readonly now: () => number;
  readonly log: { error(details: object, message: string): void; info(details: object, message: string): void };
  readonly metrics: {
    readonly backupAgeSeconds: { set(seconds: number): void };
    readonly backupIntervalSeconds: { set(seconds: number): void };
  };
  /** Copies the store's key to `to` plus a suffix; returns the file that it wrote. */
  copyKey(to: string): Promise<string | undefined>;
}

export interface Backups extends Worker {
  measure(): Promise<void>;
}

/** Starts the worker of the queue `backup`. The first copy is due one interval after the newest copy in the folder. */
export async function startBackups(deps: BackupDeps, settings: BackupSettings): Promise<Backups> {
  const { store, now, log, metrics } = deps;
  const startedAt = now();
  const everyMs = settings.everyHours * HOUR_MS;
  const newest = await newestCopy(settings.folder, startedAt);
  await store.write((tx) => mark(tx, BACKUP_QUEUE, [KEY], newest === undefined ? startedAt : newest + everyMs));
  const worker = startWorker({
    ...{ store, now, log, queue: BACKUP_QUEUE, wakeUp: createWakeUp(), batch: 1, concurrency: 1 },
    async run(claims, signal) {
      for (const claim of claims) await backUp(deps, settings, claim, signal);
    },
  });
  return {
    ...worker,
    async measure() {
      metrics.backupIntervalSeconds.set(everyMs / 1_000);
      const at = now();
      metrics.backupAgeSeconds.set((at - ((await newestCopy(settings.folder, at)) ?? startedAt)) / 1_000);
    },
  };
}

/** Removes the lane, with any failure, from a store without configured copies. */
export async function endBackups(store: Store): Promise<void> {
  const due = await store.db.selectFrom('lane').select('key').where('queue', '=', BACKUP_QUEUE).executeTakeFirst();
  if (due !== undefined) await store.write((tx) => tx.deleteFrom('lane').where('queue', '=', BACKUP_QUEUE).execute());
}

async function backUp(deps: BackupDeps, settings: BackupSettings, claim: Claim, signal: AbortSignal): Promise<void> {
  const { store, now, log } = deps;
  const everyMs = settings.everyHours * HOUR_MS;
  const at = now();
  const error = await makeCopy(deps, settings, at, signal).catch((thrown: unknown) => {
    signal.throwIfAborted();
    log.error({ err: thrown }, 'a backup of the store failed: trying again');
    return errorText(thrown);
  });
  const next =
    error === undefined
      ? ({ kind: 'again', at: at + everyMs, fresh: true } as const)
      : ({ kind: 'again', at: now() + Math.min(everyMs, RETRY_MS), error } as const);
  await store.write((tx) => settle(tx, claim, next));
}

async function makeCopy(
  { file, log, copyKey }: BackupDeps,
  { folder, keep, verify }: BackupSettings,
  at: number,
  signal: AbortSignal,
): Promise<undefined> {
  const to = path.resolve(copyAt(folder, at));
  const key = await copyKey(to);
  try {
    await copyInThread({ from: path.resolve(file), to, verify }, signal);
  } catch (error) {
    if (key !== undefined) await rm(key);
    throw error;
  }
  await deleteOldCopies(folder, to, keep);
  log.info({ file: to, verified: verify }, 'made a backup of the store');
}

/** `cvrsync-20261127T120000Z.db`, or a file that belongs to it, such as its key. */
const NAME = /^(cvrsync-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db)(.*)$/u;

const copyAt = (folder: string, at: number): string =>
  path.join(folder, `cvrsync-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.db`);

/** When the newest copy up to `now` was made. Ignores a folder that it cannot read. */
async function newestCopy(folder: string, now: number): Promise<number | undefined> {
  const all = await copiesIn(folder).catch(() => []);
  const past = all.filter(({ end, at }) => end === '' && at <= now).map(({ at }) => at);
  return past.length === 0 ? undefined : Math.max(...past);
}

/** Keeps `keep` copies with their keys: the one just made and the newest others; deletes the rest. */
async function deleteOldCopies(folder: string, made: string, keep: number): Promise<void> {
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
