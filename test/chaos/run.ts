/**
 * Repeats the chaos tests in full, each time with another seed, until the minutes are over: `npm run chaos -- --minutes 60`.
 * Where several daemons work, with two, three and eight by turns. A run that fails is shown with its seed, and does not end the others.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const NAMES = globSync('*.test.ts', { cwd: import.meta.dirname })
  .map((file) => basename(file, '.test.ts'))
  .sort();

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', default: NAMES.join(',') },
    daemons: { type: 'string', default: '2,3,8' },
    strikes: { type: 'string' },
    before: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

const only = values.only.split(',');
const unknown = only.filter((name) => !NAMES.includes(name));
if (unknown.length > 0) throw new Error(`no chaos test is called ${unknown.join(', ')}; there are ${NAMES.join(', ')}`);

/** Runs one test file; whether it passed. What it said is shown if it failed, else only its figures. */
async function run(name: string, settings: Readonly<Record<string, string>>): Promise<boolean> {
  const args = ['run', '--config', 'test/vitest.config.ts', `test/chaos/${name}.test.ts`];
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const [code] = await once(child, 'close');
  if (code !== 0) process.stdout.write(`${said}\n`);
  else for (const [, figures] of said.matchAll(/^chaos (\{.*\})$/gmu)) process.stdout.write(`  ${figures}\n`);
  return code === 0;
}

const failed: string[] = [];
let runs = 0;
const end = performance.now() + Number(values.minutes) * 60_000;
const isOver = (): boolean => performance.now() >= end;
for (let seed = Number(values.seed); !isOver(); seed += 1)
  for (const name of only)
    for (const daemons of name === 'fleet' ? values.daemons.split(',') : [undefined]) {
      if (isOver()) break;
      const settings = {
        CVRSYNC_CHAOS_FULL: '1',
        CVRSYNC_CHAOS_SEED: String(seed),
        ...(daemons !== undefined && { CVRSYNC_CHAOS_DAEMONS: daemons }),
        ...(values.strikes !== undefined && { CVRSYNC_CHAOS_STRIKES: values.strikes }),
        ...(values.before !== undefined && { CVRSYNC_CHAOS_BEFORE: resolve(values.before) }),
      };
      const what = [...Object.entries(settings).map((pair) => pair.join('=')), `test/chaos/${name}.test.ts`].join(' ');
      const started = performance.now();
      const passed = await run(name, settings);
      runs += 1;
      if (!passed) failed.push(what);
      process.stdout.write(
        `${passed ? 'passed' : 'FAILED'} ${what}, ${Math.round((performance.now() - started) / 1_000)} s\n`,
      );
    }
process.stdout.write(`${runs} runs, ${failed.length} failed\n${failed.map((what) => `  ${what}\n`).join('')}`);
if (failed.length > 0) process.exitCode = 1;
