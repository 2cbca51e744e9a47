/** Tries one fault on an installation: what was told, when, how often, and when it was over. */
import type { Told } from './channel.ts';
import type { FaultCase } from './faults.ts';
import type { Installation } from './installation.ts';
import type { Firing } from './prometheus.ts';

/** A line of the table; times are minutes of the daemons. */
export interface Outcome {
  readonly cell: string;
  readonly what: string;
  readonly told: string;
  readonly over: string;
  /** The most lines that a daemon logged in a minute. */
  readonly lines: number;
  /** What is not as it should be; empty if all is. */
  readonly wrong: readonly string[];
}

const MINUTE_MS = 60_000;
/** Work waits for a quarter of an hour at most before it is tried again, and is told as over another quarter later. */
const OVER_WITHIN = 32;
const MOST_LINES = 100;
const LOOK_MS = 5_000;

const nameOf = ({ engine, form }: Installation): string => `${engine} ${form}`;

/** Nothing happens for so many minutes, and nobody is told anything. */
export async function tryHealthy(at: Installation, minutes: number): Promise<Outcome> {
  const since = at.clock.now();
  await at.clock.pass(minutes * MINUTE_MS);
  const { fired, told } = toldSince(at, since);
  const heard = [...fired.map(({ name }) => name), ...told.map(({ what }) => what)];
  const refused = [...at.traffic.answers].filter(([status]) => status !== 204);
  const wrong = [
    ...heard.map((what) => `told: ${what}`),
    ...refused.map(([status, count]) => `${count} webhooks answered ${status}`),
    ...tooLoud(at, since),
  ];
  return {
    cell: nameOf(at),
    what: `healthy for ${minutes} min`,
    told: 'nothing',
    over: '',
    lines: mostLines(at, since),
    wrong,
  };
}

/** `end`: waits until all is told to be over, too. */
export async function tryFault(at: Installation, fault: FaultCase, to: 'begin' | 'end' = 'end'): Promise<Outcome> {
  const { clock } = at;
  const [rules, says] = [at.prometheus === undefined ? [] : fault.rules, fault.says];
  const since = clock.now();
  await fault.begin(at);
  const isTold = () => missingOf(at, since, rules, says).length === 0;
  // Where nobody is to be told anything it lasts as long.
  await until(at, () => rules.length + says.length > 0 && isTold(), fault.within);
  const missing = missingOf(at, since, rules, says);
  const ended = clock.now();
  await fault.end(at);
  const left = () => (to === 'end' ? lasting(at, since, says) : []);
  await until(at, () => left().length === 0, OVER_WITHIN);
  const overAt = clock.now();
  const { fired, told } = toldSince(at, since);
  const others = [
    ...fired
      .filter(({ name }) => !rules.includes(name) && fault.mayFire?.includes(name) !== true)
      .map(({ name }) => name),
    ...told.filter(({ kind, what }) => kind === 'begun' && !says.some((say) => say.test(what))).map(({ what }) => what),
  ];
  const wrong = [
    ...missing.map((what) => `not told within ${fault.within} min: ${what}`),
    ...others.map((what) => `told as well: ${what}`),
    ...repeated(fired, told).map((what) => `told twice: ${what}`),
    ...left().map((what) => `not over within ${OVER_WITHIN} min: ${what}`),
    ...tooLoud(at, since),
  ];
  const first = [
    ...fired.map(({ name, from }) => `${name} ${minutesOf(from - since)}`),
    ...told
      .filter(({ kind }) => kind === 'begun')
      .map(({ what, at: when }) => `"${what.slice(0, 40)}" ${minutesOf(when - since)}`),
  ];
  return {
    cell: nameOf(at),
    what: fault.name,
    told: first.join(', ') || 'nothing',
    over: minutesOf(overAt - ended),
    lines: mostLines(at, since),
    wrong,
  };
}

const minutesOf = (ms: number): string => (ms / MINUTE_MS).toFixed(1);

function toldSince(
  { prometheus, channel }: Installation,
  since: number,
): { fired: readonly Firing[]; told: readonly Told[] } {
  return {
    fired: (prometheus?.firings ?? []).filter(({ from }) => from >= since),
    told: channel.told.filter(({ at }) => at >= since),
  };
}

function missingOf(
  at: Installation,
  since: number,
  rules: readonly string[],
  says: readonly RegExp[],
): readonly string[] {
  const { fired, told } = toldSince(at, since);
  return [
    ...rules.filter((rule) => !fired.some(({ name }) => name === rule)),
    ...says.filter((say) => !told.some(({ what }) => say.test(what))).map(String),
  ];
}

/** What was told and is not over. */
function lasting(at: Installation, since: number, says: readonly RegExp[]): readonly string[] {
  const { fired, told } = toldSince(at, since);
  const isIn = (kind: Told['kind'], say: RegExp) => told.some((one) => one.kind === kind && say.test(one.what));
  return [
    ...fired.filter(({ to }) => to === undefined).map(({ name }) => name),
    ...says.filter((say) => isIn('begun', say) && !isIn('over', say)).map(String),
  ];
}

/** What was told more than once. */
function repeated(fired: readonly Firing[], told: readonly Told[]): readonly string[] {
  const heads = told.map(({ kind, what }) => `${kind} ${what.replace(/, since .*|: from .*/u, '')}`);
  const all = [...fired.map(({ name }) => name), ...heads];
  return [...new Set(all.filter((one, at) => all.indexOf(one) !== at))];
}

const countsSince = ({ daemons }: Installation, since: number): readonly number[] =>
  daemons.flatMap(({ linesByMinute }) =>
    [...linesByMinute].filter(([minute]) => minute >= Math.floor(since / MINUTE_MS)).map(([, count]) => count),
  );

const mostLines = (at: Installation, since: number): number => Math.max(0, ...countsSince(at, since));

const tooLoud = (at: Installation, since: number): readonly string[] =>
  mostLines(at, since) >= MOST_LINES ? [`${mostLines(at, since)} lines a minute`] : [];

/** Waits until it is so, or until so many minutes of the daemons have passed. */
async function until({ clock }: Installation, isSo: () => boolean, minutes: number): Promise<void> {
  const end = clock.now() + minutes * MINUTE_MS;
  while (clock.now() < end && !isSo()) await clock.pass(LOOK_MS);
}
