/** idle: from the start of the process to ready. Of the built program: Node's compiler for the sources would be part of it. */
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILT, inFolder, startDaemon } from './daemon.ts';
import { median, report, round } from './measure.ts';

const STARTS = 5;
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };
const AIM = { readyMs: 1_000 };

execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
await inFolder(async (folder) => {
  const starts: number[] = [];
  for (let at = 0; at < STARTS; at++) {
    const own = join(folder, String(at));
    await mkdir(own);
    const started = await startDaemon(own, PROVIDERS, { entry: BUILT });
    starts.push(started.readyMs);
    await started.stop();
  }
  const readyMs = median(starts);
  const measured = { readyMs: round(readyMs), spread: [round(Math.min(...starts)), round(Math.max(...starts))] };
  report('idle', measured, AIM, readyMs < AIM.readyMs);
});
