/**
 * The marker next to a SQLite store says that a store was created here. A daemon that finds the marker without a store
 * has lost one, and must not start with an empty one.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { resolveStore } from './place.ts';

/** The store that was here is gone. The message has the remedy. */
export class LostStoreError extends Error {
  override readonly name = 'LostStoreError';

  constructor(file: string) {
    super(
      `there was a store at ${path.resolve(file)}, and it is gone or empty: put it back, or restore a backup (cvrsync restore FILE). ` +
        `To begin with an empty store, run cvrsync serve --start-empty once, or delete ${markerOf(file)}`,
    );
  }
}

/** The name does not start with the store's, so that `rm cvrsync.db*` does not delete it. */
function markerOf(file: string): string {
  const { dir, base } = path.parse(resolveStore(file));
  return path.join(dir, `.${base}.marker`);
}

export const wasStoreAt = (file: string): boolean => sizeOf(markerOf(file)) !== undefined;

/** Whether a store was created here and its file is missing or empty. */
export const isStoreLost = (file: string): boolean => wasStoreAt(file) && (sizeOf(file) ?? 0) === 0;

export function markStore(file: string): void {
  if (wasStoreAt(file)) return;
  try {
    writeFileSync(markerOf(file), textFor(file), { flag: 'wx', mode: 0o600 });
  } catch {
    // Another process was first, or the disk is full. The next start writes it.
  }
}

const textFor = (file: string): string =>
  `cvrsync made a store here: ${path.basename(resolveStore(file))}. cvrsync does not start without that file while this one exists.\n`;

/**
 * Records that the store holds all writes until `at`, in ms since 1970; undefined for a different store. Does not wait
 * for the disk: after a power cut the marker may state an earlier time, never a later one.
 */
export function noteSeen(file: string, at: number | undefined): void {
  const marker = markerOf(file);
  if (!existsSync(marker)) return;
  try {
    writeFileSync(marker, at === undefined ? textFor(file) : `${textFor(file)}It held all until ${at}.\n`);
  } catch {
    // The disk is full or the folder read-only; other code reports it.
  }
}

export function readSeen(file: string): number | undefined {
  const marker = markerOf(file);
  const [, at] = existsSync(marker) ? (/^It held all until (\d+)\.$/mu.exec(readFileSync(marker, 'utf8')) ?? []) : [];
  return at === undefined ? undefined : Number(at);
}

const sizeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size;
