/**
 * Puts the folders of tests, and the databases, into memory if this machine has enough of it: each commit of a store waits
 * for the disk, and a run makes five hundred databases of three hundred files each.
 */
import { chmodSync, globSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const GB = 1024 ** 3;
const HOUR = 3_600_000;
/** More than a whole run keeps there. A container often has 64 MB. */
const ROOM_BYTES = 7 * GB;
/** And what the workers take besides. */
const FREE_BYTES = 11 * GB;

export function setup(): (() => void) | undefined {
  const folders = globSync(path.join(SHARED_MEMORY, 'cvrsync-tests-*'));
  for (const folder of abandonedAmong(folders, Date.now())) rmSync(folder, { recursive: true, force: true });
  if (!hasRoom()) return undefined;
  const folder = mkdtempSync(path.join(SHARED_MEMORY, `cvrsync-tests-${process.pid}-`));
  // As open as the folder that it stands for: tests also start processes as somebody else.
  chmodSync(folder, 0o1777);
  const before = process.env['TMPDIR'];
  // Workers start after this, and make their folders there.
  process.env['TMPDIR'] = folder;
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true, force: true });
  };
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= ROOM_BYTES && freemem() >= FREE_BYTES;
  } catch {
    // Only Linux has it.
    return false;
  }
}

/** The folders of runs that were killed: they leave gigabytes of memory taken, and the runs after them find no room. */
export function abandonedAmong(folders: readonly string[], now: number): readonly string[] {
  return folders.filter((folder) => {
    const pid = Number(/-(\d+)-[^-]*$/u.exec(folder)?.[1]);
    // Undefined if another run removed it meanwhile. Young ones may belong to a container with processes of its own.
    const found = statSync(folder, { throwIfNoEntry: false });
    return found !== undefined && !isAlive(pid) && now - found.mtimeMs >= HOUR;
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
