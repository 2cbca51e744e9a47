/** How far a backfill is, by its steps, and the line that says so. Pure. */
import type { BackfillStep } from '../../connector/backfill/rows/context.ts';
import { LONGEST_SILENCE_MS } from '../../connector/backfill/rows/patience.ts';
import type { Wait } from '../../connector/crm/patience.ts';
import { timesOf, waitingFor } from '../cli/waiting.ts';
import type { CallsMade } from './context.ts';

/** The state of a backfill, computed from its steps. Times in ms. */
export interface BackfillStanding {
  readonly phase: BackfillStep['phase'];
  /** When this process began the phase, and how much was done before. */
  readonly since: number;
  readonly before: number;
  readonly scanned: number;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly toLink: number;
  readonly linked: number;
  readonly written: number;
  readonly toCarry: number;
  readonly carryFrom: number;
  readonly trouble: string | undefined;
  readonly wait: Wait | undefined;
}

/** The standing before the first step. */
export const NOWHERE: BackfillStanding = {
  phase: undefined,
  since: 0,
  before: 0,
  scanned: 0,
  verdicts: {},
  toLink: 0,
  linked: 0,
  written: 0,
  toCarry: 0,
  carryFrom: 0,
  trouble: undefined,
  wait: undefined,
};

/** The standing after a step; undefined before the first. */
export function advance(before: BackfillStanding | undefined, step: BackfillStep, now: number): BackfillStanding {
  const standing = before ?? NOWHERE;
  const { phase = standing.phase, seen = [], toCarry = standing.toCarry } = step;
  const verdicts = { ...standing.verdicts };
  for (const { verdict } of seen) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  const scanned = step.scanned ?? standing.scanned;
  const isNew = phase !== standing.phase;
  return {
    phase,
    since: isNew ? now : standing.since,
    before: isNew ? scanned - seen.length : standing.before,
    scanned,
    verdicts,
    toLink: step.toLink ?? standing.toLink,
    linked: standing.linked + (step.linked ?? 0),
    written: standing.written + (step.written ?? 0),
    toCarry,
    carryFrom: isNew ? toCarry : Math.max(standing.carryFrom, toCarry),
    trouble: 'trouble' in step ? step.trouble : standing.trouble,
    wait: 'trouble' in step ? step.wait : standing.wait,
  };
}

/** How much of the phase is done, and how fast; `total` is undefined where it is unknown. */
export function measure(
  standing: BackfillStanding,
  now: number,
): { done: number; total: number | undefined; perSecond: number } {
  const { phase, since, before, scanned, linked, toLink, toCarry, carryFrom } = standing;
  const seconds = Math.max(0.001, (now - since) / 1_000);
  if (phase === 'apply') return { done: linked, total: toLink, perSecond: linked / seconds };
  if (phase === 'carry')
    return { done: carryFrom - toCarry, total: carryFrom, perSecond: (carryFrom - toCarry) / seconds };
  return { done: scanned, total: undefined, perSecond: (scanned - before) / seconds };
}

const number = (value: number): string => Math.round(value).toLocaleString('en');

/** The progress as one line for people, without the bar. */
export function progressText(standing: BackfillStanding, calls: CallsMade, now: number): string {
  const { phase, since, trouble, wait } = standing;
  if (phase === undefined) return waitText(trouble, wait ?? { since, until: since + LONGEST_SILENCE_MS });
  const spent = `calls: CRM ${number(calls.crm)}${calls.service > 0 ? `, service ${number(calls.service)}` : ''}`;
  // First: a terminal cuts the end off.
  return `${trouble === undefined ? '' : `${waitText(trouble, wait)}; `}${phaseText(standing, now)}; ${spent}`;
}

/** What the phase does, how much of it is done, and how fast. */
function phaseText(standing: BackfillStanding, now: number): string {
  const { phase, verdicts, written } = standing;
  const { done, total, perSecond } = measure(standing, now);
  const rate = `${perSecond >= 10 ? number(perSecond) : perSecond.toFixed(1)}/s`;
  const left = total === undefined || perSecond < 0.001 ? '' : `, ${duration((total - done) / perSecond)} left`;
  switch (phase) {
    case 'apply':
      return `linking: ${number(done)} of ${number(total ?? 0)}, ${rate}${left}`;
    case 'carry':
      return `monitoring: ${number(done)} of ${number(total ?? 0)}, ${rate}${left}`;
    case 'judge':
      return 'searching for numbers that several records share';
    case 'planned':
      return `writing the plan: ${number(written)}`;
    default:
      return `scanning: ${number(done)} records, ${rate}${verdictsText(verdicts)}`;
  }
}

/** What is awaited: at first nothing but the first answer. */
function waitText(trouble: string | undefined, wait: Wait | undefined): string {
  return trouble === undefined ? `waiting for the first answer of the CRM${timesOf(wait)}` : waitingFor(trouble, wait);
}

const verdictsText = (verdicts: BackfillStanding['verdicts']): string => {
  const parts = Object.entries(verdicts).map(([verdict, count]) => `${verdict} ${number(count)}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
};

const duration = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
};
