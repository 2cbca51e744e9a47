/** Runs the benches one after the other, each in a process of its own: `npm run bench`, or `npm run bench -- ingest`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { renderTable } from './results.ts';

const BENCHES = [
  'ingest',
  'sync',
  'latency',
  'end-to-end',
  'postgres',
  'scale',
  'telemetry',
  'idle',
  'memory',
  'news',
  'deliver',
  'fanout',
  'diff',
  'first-load',
  'xbrl',
  'backfill',
  'resume',
  'plugin',
  'match',
  'pages',
];

/** Runs one, its lines shown as they come; returns the one that it reports, undefined where it could not run. */
async function run(name: string): Promise<string | undefined> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.ts`, import.meta.url))], {
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let last: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    process.stdout.write(`${line}\n`);
    last = line;
  }
  const [code] = await ended;
  return code === 0 ? last : undefined;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !BENCHES.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}: there are ${BENCHES.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  const names = asked.length > 0 ? asked : BENCHES;
  const lines: (readonly [string, string | undefined])[] = [];
  for (const name of names) lines.push([name, await run(name)]);
  // An aim that is missed is told in the table; only a bench that could not run is a failure.
  if (lines.some(([, line]) => line === undefined)) process.exitCode = 1;
  if (lines.length > 1) process.stdout.write(`\n${renderTable(lines)}`);
}
