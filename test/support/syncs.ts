/** Counts how often a process really waits for the disk: only the operating system knows. Needs strace. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** Whether this machine lets us look: strace is installed and may trace. */
export const canCountSyncs = ((): boolean => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Runs this Node with `args` to its end, and returns its output and how many fsync and fdatasync calls it made. */
export async function countSyncs(log: string, args: readonly string[]): Promise<{ stdout: string; syncs: number }> {
  const traced = ['-f', '-qq', '-e', 'trace=fsync,fdatasync', '-o', log, process.execPath, ...args];
  const { stdout } = await promisify(execFile)('strace', traced);
  return { stdout, syncs: readFileSync(log, 'utf8').match(/f(data)?sync\(/g)?.length ?? 0 };
}
