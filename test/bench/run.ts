/** Runs the benches one after the other, each in a process of its own: `npm run bench`, or `npm run bench -- ingest`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BENCHES = [
  'ingest',
  'sync',
  'latency',
  'scale',
  'idle',
  'news',
  'deliver',
  'fanout',
  'diff',
  'first-load',
  'xbrl',
  'backfill',
  'resume',
  'plugin',
];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !BENCHES.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}: there are ${BENCHES.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  for (const name of asked.length > 0 ? asked : BENCHES) {
    const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.ts`, import.meta.url))], {
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    // An aim that is missed is told in the line; only a bench that could not run is a failure.
    if (code !== 0) process.exitCode = 1;
  }
}
