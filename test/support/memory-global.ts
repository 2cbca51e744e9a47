/** Puts the folders of tests into memory where this machine lends enough of it: each commit of a store waits for the disk. */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** Several times what the folders of all workers hold at once. A container often has 64 MB. */
const ENOUGH_BYTES = 2 * 1024 ** 3;

export function setup(): (() => void) | undefined {
  if (!hasRoom()) return undefined;
  const folder = mkdtempSync(path.join(SHARED_MEMORY, 'cvrsync-tests-'));
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
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    // Only Linux has it.
    return false;
  }
}
