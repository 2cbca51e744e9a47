/** A disk that fills up: a file system in memory that shrinks to what is on it and some room. Needs root, on Linux. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

export interface Disk {
  /** Leaves so many bytes free. */
  leave(bytes: number): void;
  remove(): void;
}

const MB = 1_048_576;

/** Undefined if the machine lets nobody mount one. */
export function mountDisk(folder: string, bytes: number): Disk | undefined {
  mkdirSync(folder, { recursive: true });
  const mount = (...args: readonly string[]) => execFileSync('mount', args, { stdio: 'ignore' });
  try {
    mount('-t', 'tmpfs', '-o', `size=${Math.round(bytes / MB)}m`, 'tmpfs', folder);
  } catch {
    return undefined;
  }
  return {
    leave(free) {
      const { bsize, blocks, bfree } = statfsSync(folder);
      const used = (blocks - bfree) * bsize;
      mount('-o', `remount,size=${Math.ceil((used + free) / MB)}m`, folder);
    },
    remove: () => void execFileSync('umount', ['-l', folder], { stdio: 'ignore' }),
  };
}
