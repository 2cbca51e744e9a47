/** The world of a seed is always the same, some worlds show no fault, and nothing of the machine is in them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ALL } from '../support/all.ts';
import { installNetwork } from './network.ts';
import { isFault, planOf, type Step } from './plan.ts';
import { shrink } from './shrink.ts';
import { lineOf, readSummary, sumOf } from './summary.ts';
import { installTime } from './time.ts';

/** Some 0.07 s of processor time each. */
const STEPS = 40;
/** The world of seed 1 fails: what undoes a name meets a CRM that re-spells it. */
const FIRST = 2;

/** Simulates the worlds of a few seeds in a process of their own, whose clock is theirs; returns a line for each. */
async function worldsOf(count: number, ...more: readonly string[]): Promise<readonly string[]> {
  const plan = [
    ...['--seed', String(FIRST), '--worlds', String(count), '--steps', String(STEPS)],
    ...['--every', '3', '--shrink', '0', ...more],
  ];
  // In memory where there is such a place: a file waits for the disk at each commit.
  const place = existsSync('/dev/shm') && !more.includes('--postgres') ? { TMPDIR: '/dev/shm' } : {};
  const options = { env: { ...process.env, NODE_OPTIONS: '', ...place }, maxBuffer: 2 ** 26 };
  const program = path.join(import.meta.dirname, 'run.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...plan], options);
  return stdout.split('\n').slice(0, count);
}

describe('the simulation', () => {
  test('gives the same seed the same trace in another process, and finds nothing wrong in three worlds', async () => {
    const [three, [again]] = await Promise.all([worldsOf(3), worldsOf(1)]);
    expect(three).toEqual(
      [FIRST, FIRST + 1, FIRST + 2].map((seed) =>
        expect.stringMatching(`^passed seed ${seed}, ${STEPS} steps, [0-9a-f]{64}$`),
      ),
    );
    expect(again).toBe(three[0]);
    expect(new Set(three.map((line) => line.split(', ')[2])).size).toBe(3);
  });

  test.runIf(ALL)('finds nothing wrong in a world of two daemons on PostgreSQL', async () => {
    const [line] = await worldsOf(1, '--postgres', '--daemons', '2');
    expect(line).toMatch(`passed seed ${FIRST}, ${STEPS} steps, `);
  });

  test('allows a socket to one path, and to no other', () => {
    const time = installTime(7, Date.UTC(2026, 0, 5), () => undefined);
    const followed: net.Socket[] = [];
    const letThrough = (target: unknown) =>
      target === '/nowhere' ? (socket: net.Socket) => followed.push(socket) : undefined;
    const network = installNetwork(7, time, () => undefined, { letThrough });
    try {
      const socket = net.connect('/nowhere').on('error', () => undefined);
      expect(followed).toEqual([socket]);
      expect(() => net.connect('/elsewhere')).toThrow('no connect of the machine');
    } finally {
      network.uninstall();
      time.uninstall();
    }
  });

  test('has a clock, chances and a network of its own, and no others', () => {
    const seen = [1, 1].map(() => {
      const time = installTime(7, Date.UTC(2026, 0, 5), () => undefined);
      const network = installNetwork(7, time, () => undefined);
      try {
        expect(() => net.connect(80, '127.0.0.1')).toThrow('no connect of the machine');
        expect(() => net.createServer().listen(0)).toThrow('no listen of the machine');
        return [Date.now(), new Date().toISOString(), Math.random(), crypto.randomUUID()];
      } finally {
        network.uninstall();
        time.uninstall();
      }
    });
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.slice(0, 2)).toEqual([Date.UTC(2026, 0, 5), '2026-01-05T00:00:00.000Z']);
    expect(Date.now()).toBeGreaterThan(Date.UTC(2026, 0, 6));
  });

  test('sums up the worlds of several processes', () => {
    const one = { worlds: 2, steps: 400, days: 2.8, cpuMinutes: 0.5, failed: [] };
    const other = { worlds: 3, steps: 530, days: 3.5, cpuMinutes: 0.75, failed: [9, 11] };
    expect([one, other].map((each) => readSummary(lineOf(each)))).toEqual([one, other]);
    expect(lineOf(sumOf(one, other))).toBe(
      '5 worlds, 930 steps, 6.3 days in 1.25 minutes of the processor (302 days an hour), failed: seed 9, 11',
    );
    expect(readSummary('passed seed 7, 200 steps, 5fcac00c')).toBeUndefined();
  });

  test('finds the shortest history that fails', async () => {
    const plan = planOf(1, { steps: 100, everyMs: 60_000 });
    const needed = [plan.find(isFault), plan.findLast(({ kind }) => kind === 'change'), plan.at(-1)];
    const fails = async (tried: readonly Step[]): Promise<boolean> =>
      needed.every((step) => step !== undefined && tried.includes(step));
    expect(await shrink(plan, fails, () => false)).toEqual(needed);
  });
});
