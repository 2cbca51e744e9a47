/**
 * Repeats the chaos of several daemons, each time with another seed, until the minutes are over: `npm run chaos -- --minutes 60`.
 * A run that fails is told with its seed, and does not end the others.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    daemons: { type: 'string', default: '2,3,8' },
    strikes: { type: 'string', default: '12' },
    before: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

/** What a run tells, beside how many daemons it had. */
interface Figures {
  readonly strikes: Readonly<Record<string, number>>;
  readonly lines: number;
  readonly posts: number;
  readonly repeated: number;
  readonly calls: number;
}

interface Sum extends Figures {
  readonly runs: number;
  readonly failed: readonly number[];
}

const NOTHING: Sum = { runs: 0, failed: [], strikes: {}, lines: 0, posts: 0, repeated: 0, calls: 0 };

/** Runs once; undefined where anything was lost, wrong or doubled, after the reason was shown. */
async function run(daemons: number, seed: number): Promise<Figures | undefined> {
  const args = ['run', '--config', 'test/vitest.config.ts', 'test/chaos/fleet.test.ts'];
  const env = {
    ...process.env,
    CVRSYNC_CHAOS_SEED: String(seed),
    CVRSYNC_CHAOS_DAEMONS: String(daemons),
    CVRSYNC_CHAOS_FAULTS: values.strikes,
    ...(values.before !== undefined && { CVRSYNC_CHAOS_BEFORE: resolve(values.before) }),
  };
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const child = spawn(process.execPath, [vitest, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const [code] = await once(child, 'close');
  const [, figures] = said.match(/^chaos (\{.*\})$/mu) ?? [];
  if (code === 0 && figures !== undefined) return JSON.parse(figures);
  process.stdout.write(`${said}\n`);
  return undefined;
}

const plus = (a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries({ ...a, ...b }).map(([key]) => [key, (a[key] ?? 0) + (b[key] ?? 0)]));

const added = (sum: Sum, figures: Figures | undefined, seed: number): Sum =>
  figures === undefined
    ? { ...sum, runs: sum.runs + 1, failed: [...sum.failed, seed] }
    : {
        runs: sum.runs + 1,
        failed: sum.failed,
        strikes: plus(sum.strikes, figures.strikes),
        lines: sum.lines + figures.lines,
        posts: sum.posts + figures.posts,
        repeated: sum.repeated + figures.repeated,
        calls: sum.calls + figures.calls,
      };

const fleets = values.daemons.split(',').map(Number);
const end = performance.now() + Number(values.minutes) * 60_000;
const sums = new Map(fleets.map((daemons) => [daemons, NOTHING]));
for (let seed = Number(values.seed); performance.now() < end; seed += 1)
  for (const daemons of fleets) {
    const sum = added(sums.get(daemons) ?? NOTHING, await run(daemons, seed), seed);
    sums.set(daemons, sum);
    process.stdout.write(`${JSON.stringify({ daemons, seed, ...sum })}\n`);
  }
if (sums.values().some(({ failed }) => failed.length > 0)) process.exitCode = 1;
