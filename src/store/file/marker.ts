/**
 * The marker beside a SQLite store: it says that a store was made here. A daemon that finds the marker and no store has lost
 * one, and must not begin with an empty store as if it were its first start.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { resolveStore } from './place.ts';

/** A store was here, and is not. Its message says what to do. */
export class LostStoreError extends Error {
  override readonly name = 'LostStoreError';

  constructor(file: string) {
    super(
      `there was a store at ${path.resolve(file)}, and it is gone or empty: put it back, or restore a backup (cvrsync restore FILE). ` +
        `To begin with an empty store, run cvrsync serve --start-empty once, or delete ${markerOf(file)}`,
    );
  }
}

/** The marker's name does not begin as the store's does, so that what deletes `cvrsync.db*` leaves it. */
function markerOf(file: string): string {
  const { dir, base } = path.parse(resolveStore(file));
  return path.join(dir, `.${base}.marker`);
}

/** Whether a store was made at this place. */
export const wasStoreAt = (file: string): boolean => sizeOf(markerOf(file)) !== undefined;

/** Whether a store was made at this place, and no file of content is there. */
export const isStoreLost = (file: string): boolean => wasStoreAt(file) && (sizeOf(file) ?? 0) === 0;

/** Says that a store is at this place. */
export function markStore(file: string): void {
  if (wasStoreAt(file)) return;
  try {
    writeFileSync(markerOf(file), textFor(file), { flag: 'wx', mode: 0o600 });
  } catch {
    // Another process was first, or the disk is full: the next start writes it.
  }
}

const textFor = (file: string): string =>
  `cvrsync made a store here: ${path.basename(resolveStore(file))}. Without that file cvrsync does not start while this one is here.\n`;

/**
 * Notes that the store holds what was written until `at`, in ms since 1970; undefined: that it is another one now. Waits for
 * no disk: after a power cut the marker may say less than the store holds, and never more.
 */
export function noteSeen(file: string, at: number | undefined): void {
  const marker = markerOf(file);
  if (!existsSync(marker)) return;
  try {
    writeFileSync(marker, at === undefined ? textFor(file) : `${textFor(file)}It held all until ${at}.\n`);
  } catch {
    // The disk is full, or the folder is read-only: it is told elsewhere.
  }
}

/** What was noted last; undefined if nothing was. */
export function readSeen(file: string): number | undefined {
  const marker = markerOf(file);
  const [, at] = existsSync(marker) ? (/^It held all until (\d+)\.$/mu.exec(readFileSync(marker, 'utf8')) ?? []) : [];
  return at === undefined ? undefined : Number(at);
}

const sizeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size;
