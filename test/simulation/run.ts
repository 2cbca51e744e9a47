/**
 * Simulates worlds until one fails: `npm run simulate -- --seed 7 --steps 2000 --minutes 60`. Each world has another seed
 * and so many steps. A failure is shown with its seed, its step and the shortest history that was found.
 */
import { parseArgs } from 'node:util';
import { isFault, planOf, type Step } from './plan.ts';
import { shrink } from './shrink.ts';
import { type Outcome, simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** So many worlds; without it, as many as fit into the minutes, and at least one. */
    worlds: { type: 'string' },
    steps: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '0' },
    companies: { type: 'string', default: '12' },
    /** Minutes between two steps, on average. */
    every: { type: 'string', default: '10' },
    /** Minutes to look for a shorter history; 0 shows the whole one. */
    shrink: { type: 'string', default: '5' },
    /** Leaves the faults out. */
    calm: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
});

const clock = process.hrtime.bigint.bind(process.hrtime);
const minutesFrom = (begun: bigint): number => Number(clock() - begun) / 60e9;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const [companies, steps, every] = [values.companies, values.steps, values.every].map(Number);

const run = (seed: number, plan: readonly Step[], isOver?: () => boolean): Promise<Outcome> =>
  simulate({ seed, companies: companies ?? 12, onTrace: values.trace ? say : undefined }, plan, isOver);

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
}

const begun = clock();
const isOver = (): boolean => minutesFrom(begun) >= Number(values.minutes);
const first = Number(values.seed);
const worlds = values.worlds === undefined ? Number.POSITIVE_INFINITY : Number(values.worlds);
let days = 0;
for (let seed = first; seed < first + worlds; seed += 1) {
  const whole = planOf(seed, { steps: steps ?? 200, everyMs: (every ?? 10) * 60_000 });
  const plan = values.calm ? whole.filter((step) => !isFault(step)) : whole;
  const outcome = await run(seed, plan, values.worlds === undefined ? isOver : undefined);
  days += outcome.simulatedMs / 86_400_000;
  const ended = outcome.failure === undefined ? 'passed' : 'FAILED';
  say(`${ended} seed ${seed}, ${outcome.steps} steps, ${outcome.digest}`);
  if (outcome.failure !== undefined) {
    process.exitCode = 1;
    await explain(seed, plan, outcome.failure);
    break;
  }
  if (values.worlds === undefined && isOver()) break;
}
say(`${days.toFixed(1)} days in ${minutesFrom(begun).toFixed(1)} minutes`);
// What dead daemons left behind waits for ever.
process.exit();
