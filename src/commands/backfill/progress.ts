import type { BackfillStep } from '../../connector/backfill/rows/backfill-context.ts';
import type { CommandContext } from '../cli/context.ts';
import { openBar } from '../progress/bar.ts';
import { advance, measure, NOWHERE, type ProgressState, progressText } from './progress-state.ts';
import type { CallsMade } from './with-backfill.ts';

export interface ProgressDisplay {
  report(step: BackfillStep): void;
  end(): void;
}

const LINE_MS = 5_000;
const REDRAW_MS = 250;

/** Shows a backfill's progress on stderr until `end`: a bar on a terminal, else lines; log lines for programs. */
export function showProgress(
  { stderr, json, log }: Pick<CommandContext, 'stderr' | 'json' | 'log'>,
  calls: CallsMade,
): ProgressDisplay {
  let state: ProgressState = { ...NOWHERE, since: Date.now() };
  const bar = stderr.isTTY === true && !json ? openBar(stderr) : undefined;
  const show = (): void => {
    const now = Date.now();
    const text = progressText(state, calls, now);
    if (bar !== undefined) {
      const { done, total = 0 } = measure(state, now);
      // A paused backfill needs the whole line for the reason.
      bar.show(text, done, state.trouble === undefined ? total : 0);
    } else if (json) log.info({ ...state, verdicts: state.verdicts, calls: { ...calls } }, 'backfill');
    else stderr.write(`${text}\n`);
  };
  const timer = setInterval(show, bar === undefined ? LINE_MS : REDRAW_MS);
  return {
    report(step) {
      state = advance(state, step, Date.now());
    },
    end() {
      clearInterval(timer);
      // A backfill that failed before its first phase shows only its error.
      if (state.phase !== undefined) show();
      bar?.stop();
    },
  };
}
