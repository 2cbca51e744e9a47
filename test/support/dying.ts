/** A process that is started again after each death, until it has nothing left to read. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect } from 'vitest';
import type { Offer } from './poison-sources.ts';
import { builtScript, ENVIRONMENT } from './program.ts';

const PROCESS = builtScript(path.join(import.meta.dirname, 'poison-process.ts'));

/** How often it died, and what it logged over all starts. */
export interface Life {
  readonly deaths: number;
  readonly log: string;
}

/** With `isMended` it dies of nothing any more. */
export async function live(storeUrl: string, offer?: Offer, { isMended = false } = {}): Promise<Life> {
  const args = [
    PROCESS,
    storeUrl,
    isMended ? 'mended' : 'dying',
    ...(offer === undefined ? [] : [JSON.stringify(offer)]),
  ];
  let log = '';
  for (let deaths = 0; ; deaths += 1) {
    const code = await new Promise((resolve) => {
      const child = execFile(process.execPath, args, { env: ENVIRONMENT }, (_, stdout, stderr) => {
        log += stdout + stderr;
        resolve(child.signalCode ?? child.exitCode);
      });
    });
    if (code === 0) return { deaths, log };
    expect(code, log).toBe('SIGKILL');
    expect(deaths, 'the same input ends the process for ever').toBeLessThan(25);
  }
}
