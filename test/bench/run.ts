/**
 * Runs the benches one after the other, each in a process of its own: `npm run bench`, or `npm run bench -- ingest`.
 * `npm run bench -- peers --n8n FOLDER` compares with an n8n that npm installed in that folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
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
  'datafordeler',
  'xbrl',
  'backfill',
  'resume',
  'plugin',
  'match',
  'match-sets',
  'pages',
  'mapping',
  'statements',
  'files',
  'small',
  'weekly-files',
];

/** Needs another program: it runs if it is asked for. */
const PEERS = 'peers';
/** Writes a source file: it runs if it is asked for. */
const FIT = 'match-fit';
const KNOWN = [...BENCHES, PEERS, FIT];

/** Runs one, its lines shown as they come; returns the one that it reports, undefined if it could not run. */
async function run(name: string, options: readonly string[]): Promise<string | undefined> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.ts`, import.meta.url)), ...options], {
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

const { positionals: asked, values } = parseArgs({ options: { n8n: { type: 'string' } }, allowPositionals: true });
const unknown = asked.filter((name) => !KNOWN.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}: there are ${KNOWN.join(', ')}.\n`);
  process.exitCode = 2;
} else if (asked.includes(PEERS) && values.n8n === undefined) {
  process.stderr.write(`${PEERS} needs a folder where npm installed n8n: npm run bench -- ${PEERS} --n8n FOLDER\n`);
  process.exitCode = 2;
} else {
  const names = asked.length > 0 ? asked : BENCHES;
  const lines: (readonly [string, string | undefined])[] = [];
  for (const name of names) lines.push([name, await run(name, name === PEERS ? [values.n8n ?? ''] : [])]);
  // An aim that is missed is told in the table; only a bench that could not run is a failure.
  if (lines.some(([, line]) => line === undefined)) process.exitCode = 1;
  if (lines.length > 1) process.stdout.write(`\n${renderTable(lines)}`);
}
