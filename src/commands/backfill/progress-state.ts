/** The progress of a backfill, computed from its steps, and the line that shows it. Pure. */
import type { BackfillStep } from '../../connector/backfill/rows/backfill-context.ts';
import { LONGEST_SILENCE_MS } from '../../connector/backfill/rows/patience.ts';
import type { Wait } from '../../connector/crm/patience.ts';
import { timesOf, waitingFor } from '../cli/waiting.ts';
import { grouped, rateText, type WorkRate } from '../progress/rate.ts';
import type { CallsMade } from './with-backfill.ts';

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

/** How much of the phase is done, and how fast. */
export function measure(state: ProgressState, now: number): WorkRate {
  const { phase, since, before, scanned, linked, toLink, toConfirm, confirmFrom } = state;
  const seconds = Math.max(0.001, (now - since) / 1_000);
  if (phase === 'apply') return { done: linked, total: toLink, perSecond: linked / seconds };
  if (phase === 'confirm')
    return { done: confirmFrom - toConfirm, total: confirmFrom, perSecond: (confirmFrom - toConfirm) / seconds };
  return { done: scanned, total: undefined, perSecond: (scanned - before) / seconds };
}

export function progressText(state: ProgressState, calls: CallsMade, now: number): string {
  const { phase, since, trouble, wait } = state;
  if (phase === undefined) return waitText(trouble, wait ?? { since, until: since + LONGEST_SILENCE_MS });
  const spent = `calls: CRM ${grouped(calls.crm)}${calls.service > 0 ? `, service ${grouped(calls.service)}` : ''}`;
  // The reason comes first, because a terminal cuts the end off.
  return `${trouble === undefined ? '' : `${waitText(trouble, wait)}; `}${phaseText(state, now)}; ${spent}`;
}

function phaseText(state: ProgressState, now: number): string {
  const { phase, verdicts, written } = state;
  const rate = measure(state, now);
  const { done, total = 0 } = rate;
  switch (phase) {
    case 'apply':
      return `linking: ${grouped(done)} of ${grouped(total)}, ${rateText(rate)}`;
    case 'confirm':
      return `monitoring: ${grouped(done)} of ${grouped(total)}, ${rateText(rate)}`;
    case 'decide':
      return 'searching for numbers that several records share';
    case 'planned':
      return `writing the plan: ${grouped(written)}`;
    default:
      return `scanning: ${grouped(done)} records, ${rateText(rate)}${verdictsText(verdicts)}`;
  }
}

/** The reason of a wait; before the first phase, the CRM's first answer. */
function waitText(trouble: string | undefined, wait: Wait | undefined): string {
  return trouble === undefined ? `waiting for the first answer of the CRM${timesOf(wait)}` : waitingFor(trouble, wait);
}

const verdictsText = (verdicts: ProgressState['verdicts']): string => {
  const parts = Object.entries(verdicts).map(([verdict, count]) => `${verdict} ${grouped(count)}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
};
