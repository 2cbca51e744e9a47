import { mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { abandonedAmong } from './memory-global.ts';
import { newFolder } from './stores.ts';

it('a run removes what runs left that were killed, and no folder that is young, in use or already gone', () => {
  const now = Date.now();
  const parent = newFolder();
  // No process has a number as high as the two: Linux counts to 4,194,304.
  const made = (pid: number, ageMs: number): string => {
    const folder = path.join(parent, `cvrsync-tests-${pid}-abc`);
    mkdirSync(folder);
    const at = new Date(now - ageMs);
    utimesSync(folder, at, at);
    return folder;
  };
  const [inUse, old, young] = [made(process.pid, 7_200_000), made(9_999_998, 7_200_000), made(9_999_999, 60_000)];
  const gone = path.join(parent, 'cvrsync-tests-9999997-abc');
  expect(abandonedAmong([inUse, gone, old, young], now)).toEqual([old]);
});
