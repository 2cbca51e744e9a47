/**
 * Simulates worlds until one fails: `npm run simulate -- --seed 7 --steps 2000 --minutes 60`. Each world has another seed
 * and so many steps. A failure is shown with its seed, its step and the shortest history that was found.
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { runJobs } from './jobs.ts';
import { TROUBLES } from './network.ts';
import { habitsOf, isFault, planOf, type Step } from './plan.ts';
import { shrink } from './shrink.ts';
import { type Outcome, simulate } from './simulate.ts';
import { lineOf, NOTHING, type Summary, sumOf } from './summary.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** So many worlds; without it, as many as fit into the minutes, and at least one. */
    worlds: { type: 'string' },
    steps: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '0' },
    /** So many processes, each with seeds of its own. */
    jobs: { type: 'string', default: '1' },
    /** From one seed to the next. */
    stride: { type: 'string', default: '1' },
    /** 12 by default; a world of a swarm has its own number. */
    companies: { type: 'string' },
    /** How many share the store; one to three by the seed if it is not said. */
    daemons: { type: 'string' },
    /** Minutes between two steps, on average; 10 by default. */
    every: { type: 'string' },
    /** Small worlds, each without a random half of what may happen. */
    swarm: { type: 'boolean', default: false },
    /** Minutes to look for a shorter history; 0 shows the whole one. */
    shrink: { type: 'string', default: '5' },
    /** In a swarm, what may happen besides changes of the register; a random part of all by default. */
    kinds: { type: 'string' },
    /** What requests may meet; all troubles by default. */
    troubles: { type: 'string' },
    /** Leaves the faults out. */
    calm: { type: 'boolean', default: false },
    /** The store is on a real PostgreSQL, which this program starts. */
    postgres: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    /** These steps only, by their places: a history that was found before. */
    places: { type: 'string' },
  },
});

const server = values.postgres && values.jobs === '1' ? startPostgres() : undefined;
const clock = process.hrtime.bigint.bind(process.hrtime);
const minutesFrom = (begun: bigint): number => Number(clock() - begun) / 60e9;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const habits = (seed: number) => (values.swarm ? habitsOf(seed, values.kinds?.split(',')) : undefined);

function run(seed: number, plan: readonly Step[], isOver?: () => boolean): Promise<Outcome> {
  const companies = Number(values.companies ?? habits(seed)?.companies ?? 12);
  const pollSeconds = habits(seed)?.pollSeconds;
  const daemons = values.daemons === undefined ? undefined : Number(values.daemons);
  const wanted = values.troubles?.split(',');
  const troubles = wanted && TROUBLES.filter((trouble) => wanted.includes(trouble));
  const onTrace = values.trace ? say : undefined;
  const postgres = server?.url;
  return simulate({ seed, companies, daemons, pollSeconds, troubles, postgres, onTrace }, plan, isOver);
}

function planFor(seed: number): readonly Step[] {
  const own = habits(seed);
  const everyMs = values.every === undefined ? own?.everyMs : Number(values.every) * 60_000;
  const whole = planOf(seed, { steps: Number(values.steps), everyMs: everyMs ?? 600_000, habits: own });
  const places = values.places?.split(',').map(Number);
  return whole.filter(
    (step) => !(values.calm && isFault(step)) && (places === undefined || places.includes(step.place)),
  );
}

function shown({ place, kind, at }: Step): string {
  const minutes = Math.floor(at / 60_000);
  const time = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  return `  ${time.padStart(7)} step ${place} ${kind}`;
}

async function explain(seed: number, plan: readonly Step[], { step, problems }: NonNullable<Outcome['failure']>) {
  say(`seed ${seed} failed at step ${step.place}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  const begun = clock();
  const isOver = (): boolean => minutesFrom(begun) > Number(values.shrink);
  // The first word of a problem may be another record in a shorter history: what fails, fails.
  const fails = async (tried: readonly Step[]): Promise<boolean> =>
    !isOver() && (await run(seed, tried)).failure !== undefined;
  const until = plan.filter(({ place }) => place <= step.place);
  const shortest = Number(values.shrink) > 0 ? await shrink(until, fails, isOver) : until;
  say(`the shortest history found, ${shortest.length} of ${until.length} steps:\n${shortest.map(shown).join('\n')}`);
  const places = shortest.map(({ place }) => place).join(',');
  say(`see it again: --seed ${seed} --steps ${values.steps}${sameWorld()} --places ${places} --trace`);
}

/** The other options that make the same world. */
function sameWorld(): string {
  const { companies, daemons, every, kinds, troubles } = values;
  const given = Object.entries({ companies, daemons, every, kinds, troubles }).filter(
    ([, value]) => value !== undefined,
  );
  const set = (['swarm', 'postgres'] as const).filter((name) => values[name]).map((name) => [name]);
  return [...set, ...given].map((words) => ` --${words.join(' ')}`).join('');
}

const cpuMinutes = (): number => Object.values(process.cpuUsage()).reduce((sum, each) => sum + each, 0) / 60e6;
let counted = 0;

/** Of one world, with what its process took since the one before. */
function summaryOf(seed: number, { steps, simulatedMs, failure }: Outcome): Summary {
  const before = counted;
  counted = cpuMinutes();
  const failed = failure === undefined ? [] : [seed];
  return { worlds: 1, steps, days: simulatedMs / 86_400_000, cpuMinutes: counted - before, failed };
}

/** Simulates one world after the other, until one fails or the time is over. */
async function runWorlds(first: number, worlds: number | undefined): Promise<void> {
  const begun = clock();
  const isOver = (): boolean => minutesFrom(begun) >= Number(values.minutes);
  let summary = NOTHING;
  for (let world = 0; world < (worlds ?? Number.POSITIVE_INFINITY); world += 1) {
    const seed = first + world * Number(values.stride);
    const plan = planFor(seed);
    const outcome = await run(seed, plan, worlds === undefined ? isOver : undefined);
    summary = sumOf(summary, summaryOf(seed, outcome));
    const ended = outcome.failure === undefined ? 'passed' : 'FAILED';
    say(`${ended} seed ${seed}, ${outcome.steps} steps, ${outcome.digest}`);
    if (outcome.failure !== undefined) {
      process.exitCode = 1;
      await explain(seed, plan, outcome.failure);
      break;
    }
    if (worlds === undefined && isOver()) break;
  }
  say(lineOf(summary));
}

const count = Number(values.jobs);
const seed = Number(values.seed);
const worlds = values.worlds === undefined ? undefined : Number(values.worlds);
if (count > 1) await runJobs({ count, seed, worlds }, say);
else
  try {
    await server?.ready;
    await runWorlds(seed, worlds);
  } finally {
    await server?.stop();
  }
// What dead daemons left behind waits for ever.
process.exit();
