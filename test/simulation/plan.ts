/**
 * What happens in a world: steps that a seed decides, each with chances of its own, so that one can be left out. In a
 * swarm each world leaves out half of all kinds or more, and has few companies: what is left meets more often.
 */
import { randomFrom } from '../../src/protocol/sample/random.ts';

/** What happens, and how often of 1,000. */
const EVENTS = {
  change: 380,
  repeat: 30,
  withdraw: 20,
  edit: 110,
  race: 80,
  putBack: 40,
  clear: 20,
  link: 30,
  add: 15,
  remove: 8,
  restore: 8,
  unlink: 8,
  merge: 8,
  leave: 15,
  hold: 60,
  letGo: 30,
  accept: 50,
  keep: 30,
  undo: 25,
  policy: 15,
} as const;

/** What meets something under way. */
const MEETINGS = {
  stray: 40,
  holdAmid: 40,
  insist: 30,
} as const;

const FAULTS = {
  troubleCrm: 70,
  troubleRegister: 25,
  troubleReceiver: 50,
  troubleDaemon: 25,
  partial: 20,
  disorder: 12,
  stale: 8,
  locks: 25,
  disk: 6,
  spent: 4,
  token: 6,
  refuse: 8,
  schema: 8,
  die: 45,
  kill: 8,
  outage: 5,
  stop: 6,
  freeze: 25,
  clock: 9,
} as const;

const ALL = { ...EVENTS, ...MEETINGS, ...FAULTS } as const;

const CALM = { calm: 0 } as const;

export type MeetingKind = keyof typeof MEETINGS;
export type StepKind = keyof typeof EVENTS | MeetingKind | keyof typeof FAULTS | keyof typeof CALM;

export interface Step {
  /** Its place in the plan, which it keeps when others are left out. */
  readonly place: number;
  /** Ms since the start of the world. */
  readonly at: number;
  readonly kind: StepKind;
  /** Of its own chances. */
  readonly seed: number;
}

export const isFault = ({ kind }: Step): boolean => Object.hasOwn(FAULTS, kind);
export const isCalm = ({ kind }: Step): boolean => kind === 'calm';

/** After so many steps the faults end, and all must be well. */
const CALM_EVERY = 50;

export interface PlanOptions {
  readonly steps: number;
  /** Ms between two steps, on average. */
  readonly everyMs: number;
  /** What may happen, and after how many steps all must be well; everything, and 50, by default. */
  readonly habits?: Pick<Habits, 'kinds' | 'calmEvery' | 'bursts'> | undefined;
}

/** What sets a world of a swarm apart from others. */
export interface Habits {
  readonly companies: number;
  readonly everyMs: number;
  /** How often the daemon asks the register: about once a step, so that much is under way when something happens. */
  readonly pollSeconds: number;
  readonly calmEvery: number;
  /** The share of steps that come within seconds of the one before. */
  readonly bursts: number;
  readonly kinds: readonly StepKind[];
}

/** The habits of a seed's world: half of the kinds or fewer, or those named, few companies, and a pace of its own. */
export function habitsOf(seed: number, only?: readonly string[]): Habits {
  const random = randomFrom(seed ^ 0x5a3);
  const share = random.pick([0.2, 0.35, 0.5]);
  const everyMs = random.pick([20_000, 120_000, 600_000]);
  const chanceOf = (kind: StepKind): number => {
    if (only !== undefined) return only.includes(kind) ? 1 : 0;
    return TAKE_A_DAY.includes(kind) ? 0.04 : kind === 'edit' ? 0.8 : share;
  };
  const kinds = KINDS.filter((kind) => kind === 'change' || random.chance(chanceOf(kind)));
  return {
    companies: random.int(2, 4),
    everyMs,
    // What takes a day to end would take thousands of requests.
    pollSeconds: kinds.some((kind) => TAKE_A_DAY.includes(kind)) ? 900 : everyMs / 1_000,
    calmEvery: random.int(10, 25),
    bursts: random.pick([0.3, 0.6, 0.8]),
    kinds,
  };
}

const TAKE_A_DAY: readonly StepKind[] = ['restore', 'merge', 'spent'];

/** The same seed gives the same steps, and a longer plan begins like a shorter one. */
export function planOf(seed: number, { steps, everyMs, habits }: PlanOptions): readonly Step[] {
  const random = randomFrom(seed ^ 0x91a);
  const { kinds, calmEvery, bursts } = habits ?? { kinds: KINDS, calmEvery: CALM_EVERY, bursts: 0.4 };
  // In a swarm, what is left happens equally often, and the register changes most.
  const weightOf = (kind: StepKind, usual: number): number =>
    habits === undefined ? usual : kind === 'change' ? Math.ceil(kinds.length / 2) : 1;
  const weights = KINDS.filter((kind) => kinds.includes(kind)).map(
    (kind) => [kind, weightOf(kind, usually(kind))] as const,
  );
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const pick = (): StepKind => {
    let left = random.int(0, all - 1);
    const found = weights.find(([, weight]) => {
      left -= weight;
      return left < 0;
    });
    return found?.[0] ?? 'change';
  };
  const plan: Step[] = [];
  let at = 0;
  for (let place = 1; place <= steps; place += 1) {
    // Some come within seconds of each other, others after hours.
    at += random.chance(bursts) ? random.int(0, 5_000) : random.int(0, (everyMs * 10) / 3);
    const kind = place % calmEvery === 0 || place === steps ? 'calm' : pick();
    plan.push({ place, at, kind, seed: random.int(0, 2 ** 31) });
  }
  return plan;
}

const isKind = (name: string): name is StepKind => Object.hasOwn(ALL, name);
const KINDS: readonly StepKind[] = Object.keys(ALL).filter(isKind);

const usually = (kind: StepKind): number => Object.entries(ALL).find(([name]) => name === kind)?.[1] ?? 0;
