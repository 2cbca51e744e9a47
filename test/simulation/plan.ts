/**
 * What happens in a world: steps that a seed decides, each with chances of its own, so that one can be left out. In a
 * swarm each world leaves out half of all kinds and has few companies: what is left meets more often.
 */
import { randomFrom } from '../../src/protocol/sample/random.ts';

/** What happens, and how often of 1,000. */
const EVENTS = {
  change: 420,
  repeat: 30,
  withdraw: 20,
  edit: 110,
  race: 60,
  putBack: 40,
  clear: 20,
  link: 30,
  add: 15,
  remove: 8,
  restore: 8,
  unlink: 8,
  merge: 8,
  leave: 15,
  hold: 30,
  letGo: 20,
  accept: 30,
  keep: 20,
} as const;

/** What meets something under way. */
const MEETINGS = {
  stray: 25,
  holdAmid: 25,
  insist: 20,
} as const;

const FAULTS = {
  troubleCrm: 70,
  troubleRegister: 25,
  troubleReceiver: 30,
  troubleDaemon: 25,
  partial: 12,
  disorder: 12,
  locks: 10,
  disk: 6,
  spent: 4,
  token: 6,
  refuse: 8,
  die: 35,
  kill: 8,
  stop: 6,
  freeze: 12,
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
  readonly calmEvery: number;
  /** The share of steps that come within seconds of the one before. */
  readonly bursts: number;
  readonly kinds: readonly StepKind[];
}

/** The habits of a seed's world: half of the kinds, few companies, and a pace of its own. */
export function habitsOf(seed: number): Habits {
  const random = randomFrom(seed ^ 0x5a3);
  return {
    companies: random.int(2, 4),
    everyMs: random.pick([20_000, 120_000, 600_000]),
    calmEvery: random.int(10, 25),
    bursts: random.pick([0.3, 0.6, 0.8]),
    kinds: KINDS.filter((kind) => kind === 'change' || random.chance(0.5)),
  };
}

/** The same seed gives the same steps, and a longer plan begins like a shorter one. */
export function planOf(seed: number, { steps, everyMs, habits }: PlanOptions): readonly Step[] {
  const random = randomFrom(seed ^ 0x91a);
  const { kinds, calmEvery, bursts } = habits ?? { kinds: KINDS, calmEvery: CALM_EVERY, bursts: 0.4 };
  const weights = Object.entries(ALL).filter(([kind]) => kinds.some((each) => each === kind));
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const pick = (): StepKind => {
    let left = random.int(0, all - 1);
    const found = weights.find(([, weight]) => {
      left -= weight;
      return left < 0;
    });
    return KINDS.find((kind) => kind === found?.[0]) ?? 'change';
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
