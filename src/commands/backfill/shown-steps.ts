/** The steps of a backfill with their progress on stderr. */
import type { BackfillDeps, BackfillStep } from '../../connector/backfill/rows/backfill-context.ts';
import type { CommandContext } from '../cli/context.ts';
import { backfiller } from './carry-out.ts';
import { type ProgressDisplay, showProgress } from './progress.ts';
import type { BackfillSteps } from './steps.ts';
import type { BackfillContext, CallsMade } from './with-backfill.ts';

export interface ShownSteps {
  readonly deps: BackfillDeps;
  readonly steps: BackfillSteps;
  /** Ends the display until the next step, so that a question or a result can stand there. */
  readonly pause: () => void;
}

export function openSteps(context: CommandContext, opened: BackfillContext, calls: CallsMade): ShownSteps {
  let progress: ProgressDisplay | undefined = showProgress(context, calls);
  const report = (step: BackfillStep): void => {
    progress ??= showProgress(context, calls);
    progress.report(step);
  };
  return {
    deps: { ...opened, report },
    steps: { ...opened, signal: context.signal, carryOut: backfiller(context, opened, report) },
    pause() {
      progress?.end();
      progress = undefined;
    },
  };
}
