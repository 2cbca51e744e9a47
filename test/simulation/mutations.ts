/**
 * Faults that this project had once, or was built to avoid, put back one at a time into a copy of the code:
 * `node test/simulation/mutations.ts [--only NAME,NAME] [--steps 40] [--worlds 10] [--seed 1] [--blind]`. Each line says
 * within how many steps small worlds find it, in which happens what it needs; with --blind, a swarm. What it does not find shows what the plan or the oracle lacks.
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
    /** Simulates what a swarm does anyway, without regard to what a fault needs. */
    blind: { type: 'boolean', default: false },
  },
});

const ROOT = path.join(import.meta.dirname, '../..');

/** Simulates the changed code; the number of steps until it failed, or undefined. */
async function stepsUntilFound(
  copy: string,
  { file, search, replace, ...world }: Mutation,
): Promise<number | undefined> {
  const place = path.join(copy, file);
  const text = readFileSync(place, 'utf8');
  if (text.split(search).length !== 2) throw new Error(`${file} does not have once: ${search}`);
  writeFileSync(
    place,
    text.replace(search, () => replace),
  );
  try {
    return await stepsUntilFailed(copy, values.blind ? undefined : world);
  } finally {
    writeFileSync(place, text);
  }
}

type Needs = Pick<Mutation, 'needs' | 'daemons' | 'companies'>;

async function stepsUntilFailed(folder: string, world: Needs | undefined): Promise<number | undefined> {
  const { seed, worlds, steps } = values;
  const args = ['--swarm', '--seed', seed, '--worlds', worlds, '--steps', steps, '--shrink', '0'];
  if (world !== undefined) args.push('--kinds', world.needs ?? '');
  for (const what of ['daemons', 'companies'] as const)
    if (world?.[what] !== undefined) args.push(`--${what}`, String(world[what]));
  const child = spawn(process.execPath, [path.join(folder, 'test/simulation/run.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
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
    const steps = await stepsUntilFound(copy, mutation);
    found += steps === undefined ? 0 : 1;
    process.stdout.write(
      `| ${mutation.name} | ${steps ?? `not in ${Number(values.worlds) * Number(values.steps)}`} |\n`,
    );
  }
} finally {
  rmSync(copy, { recursive: true });
}
process.stdout.write(`${found} of ${chosen.length} found\n`);
