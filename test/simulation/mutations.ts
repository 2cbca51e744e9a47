/**
 * Faults that this project had once, or was built to avoid, put back one at a time into a copy of the code:
 * `node test/simulation/mutations.ts [--only NAME,NAME] [--steps 40] [--worlds 10] [--seed 1] [--limit 20] [--blind]`. Each
 * line says within how many steps small worlds find it, in which happens what it needs; with --blind, a swarm. A world that
 * takes longer than the limit, in minutes, counts as endless. What is not found shows what the plan or the oracle lacks.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { MUTATIONS, type Mutation } from './known-faults.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    steps: { type: 'string', default: '40' },
    worlds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    /** Minutes of real time for one world: some two hundred times what it takes on a quiet machine. */
    limit: { type: 'string', default: '20' },
    /** Simulates what a swarm does anyway, without regard to what a fault needs. */
    blind: { type: 'boolean', default: false },
  },
});

const ROOT = path.join(import.meta.dirname, '../..');

/** How a fault showed: within so many steps, or by a world that does not end. */
type Found = number | 'a world never ends';

/** Simulates the changed code; undefined if the fault does not show. */
async function find(copy: string, { file, search, replace, ...world }: Mutation): Promise<Found | undefined> {
  const place = path.join(copy, file);
  const text = readFileSync(place, 'utf8');
  if (text.split(search).length !== 2) throw new Error(`${file} does not have once: ${search}`);
  writeFileSync(
    place,
    text.replace(search, () => replace),
  );
  try {
    return await findIn(copy, values.blind ? undefined : world);
  } finally {
    writeFileSync(place, text);
  }
}

type Needs = Pick<Mutation, 'needs' | 'daemons' | 'companies' | 'troubles'>;

async function findIn(folder: string, world: Needs | undefined): Promise<Found | undefined> {
  const { seed, worlds, steps } = values;
  const args = ['--swarm', '--seed', seed, '--worlds', worlds, '--steps', steps, '--shrink', '0'];
  if (world !== undefined) args.push('--kinds', world.needs ?? '');
  for (const what of ['daemons', 'companies', 'troubles'] as const)
    if (world?.[what] !== undefined) args.push(`--${what}`, String(world[what]));
  const child = spawn(process.execPath, [path.join(folder, 'test/simulation/run.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  let isEndless = false;
  // Each world says a line when it ends. One that never does may have no turn in which to hear a signal.
  const limit = setTimeout(() => {
    isEndless = true;
    child.kill('SIGKILL');
  }, Number(values.limit) * 60_000);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    limit.refresh();
  });
  const [code] = await once(child, 'close');
  clearTimeout(limit);
  if (isEndless) return 'a world never ends';
  if (code === 0) return undefined;
  const before = said.split('\n').filter((line) => line.startsWith('passed')).length;
  const failed = /^seed \d+ failed at step (\d+):\n {2}(.*)$/mu.exec(said);
  process.stdout.write(`    ${failed?.[2]?.slice(0, 160) ?? said.slice(-300)}\n`);
  return before * Number(steps) + Number(failed?.[1] ?? 0);
}

if (!existsSync(path.join(ROOT, 'node_modules'))) throw new Error('run npm ci first');
const only = values.only?.split(',');
const chosen = MUTATIONS.filter(({ name }) => only === undefined || only.some((part) => name.includes(part)));
const copy = mkdtempSync(path.join(tmpdir(), 'cvrsync-mutation-'));
let found = 0;
try {
  for (const part of ['src', 'providers', 'test', 'package.json'])
    cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  for (const mutation of chosen) {
    const how = await find(copy, mutation);
    found += how === undefined ? 0 : 1;
    const most = Number(values.worlds) * Number(values.steps);
    process.stdout.write(`| ${mutation.name} | ${how ?? `not in ${most}`} |\n`);
  }
} finally {
  rmSync(copy, { recursive: true });
}
process.stdout.write(`${found} of ${chosen.length} found\n`);
