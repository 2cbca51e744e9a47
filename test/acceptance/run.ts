/**
 * Starts what is shipped, breaks it, and holds who is told what: `npm run acceptance`. No container engine is needed: each container is
 * a process with the command, the environment, the configuration and the secrets of its file. Prometheus and nginx are the machine's.
 *
 *   --only postgres/compose,sqlite/chart   the cells; all where absent
 *   --faults 'CRM down,disk full'          the faults; all where absent, `none` for none, `proxies` for what stands before the daemons
 *   --healthy 10                           minutes in which nothing may be told
 *   --scale 1                              how many times faster the time of the daemons and of the rules runs
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startClock } from './clock.ts';
import { FAULTS } from './faults.ts';
import { type Cell, type Installation, install } from './installation.ts';
import { tryRestarts } from './restarts.ts';
import type { Engine, Form } from './shipped.ts';
import { tryStrangers } from './strangers.ts';
import { type Outcome, tryFault, tryHealthy } from './trial.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    faults: { type: 'string' },
    healthy: { type: 'string', default: '10' },
    scale: { type: 'string', default: '20' },
    logs: { type: 'string' },
  },
});

const ENGINES: readonly Engine[] = ['sqlite', 'postgres'];
const FORMS: readonly Form[] = ['compose', 'chart', 'roles'];
/** A SQLite store has one daemon, which has all roles. */
const CELLS: readonly Cell[] = ENGINES.flatMap((engine) =>
  FORMS.filter((form) => engine === 'postgres' || form !== 'roles').map((form) => ({ engine, form })),
);

const isAsked = (name: string): boolean => values.faults === undefined || values.faults.split(',').includes(name);

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function tryCell(cell: Cell): Promise<readonly Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'acceptance-'));
  const clock = startClock(Number(values.scale));
  const at = await install(cell, { folder, clock, prometheus: true, links: 3 });
  const outcomes: Outcome[] = [];
  const note = (outcome: Outcome) => {
    outcomes.push(outcome);
    say(lineOf(outcome));
  };
  try {
    for (const what of at.missing) say(`${cell.engine} ${cell.form}: cannot start ${what} on this machine`);
    note(await tryHealthy(at, Number(values.healthy)));
    if (cell.form === 'compose' && isAsked('proxies')) await tryProxies(at, folder, note);
    await tryFaults(at, note);
  } finally {
    keepLogs(at);
    await at.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return outcomes;
}

type Note = (outcome: Outcome) => void;

async function tryProxies(at: Installation, folder: string, note: Note): Promise<void> {
  const [daemon, second] = at.daemons;
  if (daemon === undefined) throw new Error('no daemon');
  for (const outcome of await tryStrangers(daemon, folder, `${at.engine} ${at.form}`)) note(outcome);
  if (second !== undefined) for (const outcome of await tryRestarts(at)) note(outcome);
}

async function tryFaults(at: Installation, note: Note): Promise<void> {
  for (const fault of FAULTS) {
    if (!isAsked(fault.name)) continue;
    const reason = fault.cannot?.(at);
    if (reason === undefined) note(await tryFault(at, fault));
    else say(`| ${at.engine} ${at.form} | ${fault.name} | not tried: ${reason} | | | |`);
  }
}

const lineOf = ({ cell, what, told, over, lines, wrong }: Outcome): string =>
  `| ${cell} | ${what} | ${told} | ${over} | ${lines} | ${wrong.length === 0 ? 'as it should be' : wrong.join('; ')} |`;

function keepLogs({ engine, form, daemons }: Installation): void {
  const { logs } = values;
  if (logs === undefined) return;
  for (const { name, tail } of daemons) writeFileSync(join(logs, `${engine}-${form}-${name}.log`), tail.join('\n'));
}

say(`The time of the daemons and of the rules runs ${values.scale} times faster; times are minutes of theirs.`);
say('| Installation | What happens | Told after | Over after | Lines a minute | |\n|---|---|---|---|---|---|');
// Deadlines are shorter by the scale: a machine with other work misses them, and what it shows then is no fault of what is shipped.
if ((loadavg()[0] ?? 0) > 2 * availableParallelism()) say('This machine is busy: run it alone, or with --scale 1.');
let failures = 0;
for (const cell of CELLS) {
  if (values.only !== undefined && !values.only.split(',').includes(`${cell.engine}/${cell.form}`)) continue;
  const outcomes = await tryCell(cell);
  failures += outcomes.filter(({ wrong }) => wrong.length > 0).length;
}
if (failures > 0) process.exitCode = 1;
