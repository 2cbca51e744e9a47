/** The progress of a backfill, computed from its steps, and the line that shows it. Pure. */
import type { BackfillStep } from '../../connector/backfill/rows/backfill-context.ts';
import { LONGEST_SILENCE_MS } from '../../connector/backfill/rows/patience.ts';
import type { Wait } from '../../connector/crm/patience.ts';
import { timesOf, waitingFor } from '../cli/waiting.ts';
import type { CallsMade } from './with-backfill.ts';

/** Times in ms. */
export interface ProgressState {
  readonly phase: BackfillStep['phase'];
  /** When this process began the phase, and how much was done before. */
  readonly since: number;
  readonly before: number;
  readonly scanned: number;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly toLink: number;
  readonly linked: number;
  readonly written: number;
  readonly toConfirm: number;
  readonly confirmFrom: number;
  readonly trouble: string | undefined;
  readonly wait: Wait | undefined;
}

export const NOWHERE: ProgressState = {
  phase: undefined,
  since: 0,
  before: 0,
  scanned: 0,
  verdicts: {},
  toLink: 0,
  linked: 0,
  written: 0,
  toConfirm: 0,
  confirmFrom: 0,
  trouble: undefined,
  wait: undefined,
};

/** The progress after a step; undefined before the first. */
export function advance(before: ProgressState | undefined, step: BackfillStep, now: number): ProgressState {
  const state = before ?? NOWHERE;
  const { phase = state.phase, seen = [], toConfirm = state.toConfirm } = step;
  const verdicts = { ...state.verdicts };
  for (const { verdict } of seen) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  const scanned = step.scanned ?? state.scanned;
  const isNew = phase !== state.phase;
  return {
    phase,
    since: isNew ? now : state.since,
    before: isNew ? scanned - seen.length : state.before,
    scanned,
    verdicts,
    toLink: step.toLink ?? state.toLink,
    linked: state.linked + (step.linked ?? 0),
    written: state.written + (step.written ?? 0),
    toConfirm,
    confirmFrom: isNew ? toConfirm : Math.max(state.confirmFrom, toConfirm),
    trouble: 'trouble' in step ? step.trouble : state.trouble,
    wait: 'trouble' in step ? step.wait : state.wait,
  };
}

/** How much of the phase is done, and how fast; `total` is undefined if unknown. */
export function measure(
  state: ProgressState,
  now: number,
): { done: number; total: number | undefined; perSecond: number } {
  const { phase, since, before, scanned, linked, toLink, toConfirm, confirmFrom } = state;
  const seconds = Math.max(0.001, (now - since) / 1_000);
  if (phase === 'apply') return { done: linked, total: toLink, perSecond: linked / seconds };
  if (phase === 'confirm')
    return { done: confirmFrom - toConfirm, total: confirmFrom, perSecond: (confirmFrom - toConfirm) / seconds };
  return { done: scanned, total: undefined, perSecond: (scanned - before) / seconds };
}

const number = (value: number): string => Math.round(value).toLocaleString('en');

export function progressText(state: ProgressState, calls: CallsMade, now: number): string {
  const { phase, since, trouble, wait } = state;
  if (phase === undefined) return waitText(trouble, wait ?? { since, until: since + LONGEST_SILENCE_MS });
  const spent = `calls: CRM ${number(calls.crm)}${calls.service > 0 ? `, service ${number(calls.service)}` : ''}`;
  // The reason comes first, because a terminal cuts the end off.
  return `${trouble === undefined ? '' : `${waitText(trouble, wait)}; `}${phaseText(state, now)}; ${spent}`;
}

function phaseText(state: ProgressState, now: number): string {
  const { phase, verdicts, written } = state;
  const { done, total, perSecond } = measure(state, now);
  const rate = `${perSecond >= 10 ? number(perSecond) : perSecond.toFixed(1)}/s`;
  const left = total === undefined || perSecond < 0.001 ? '' : `, ${duration((total - done) / perSecond)} left`;
  switch (phase) {
    case 'apply':
      return `linking: ${number(done)} of ${number(total ?? 0)}, ${rate}${left}`;
    case 'confirm':
      return `monitoring: ${number(done)} of ${number(total ?? 0)}, ${rate}${left}`;
    case 'decide':
      return 'searching for numbers that several records share';
    case 'planned':
      return `writing the plan: ${number(written)}`;
    default:
      return `scanning: ${number(done)} records, ${rate}${verdictsText(verdicts)}`;
  }
}

/** The reason of a wait; before the first phase, the CRM's first answer. */
function waitText(trouble: string | undefined, wait: Wait | undefined): string {
  return trouble === undefined ? `waiting for the first answer of the CRM${timesOf(wait)}` : waitingFor(trouble, wait);
}

const verdictsText = (verdicts: ProgressState['verdicts']): string => {
  const parts = Object.entries(verdicts).map(([verdict, count]) => `${verdict} ${number(count)}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
};

const duration = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
};
