/** Shows the progress of a backfill: a bar on a terminal, lines without one, log lines for programs. */
import { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';
import type { BackfillStep } from '../../connector/backfill/rows/context.ts';
import type { CommandContext } from '../cli/context.ts';
import type { CallsMade } from './context.ts';
import { advance, type BackfillStanding, measure, NOWHERE, progressText } from './standing.ts';

export interface ProgressDisplay {
  report(step: BackfillStep): void;
  end(): void;
}

const LINE_MS = 5_000;
const REDRAW_MS = 250;

/** Shows progress on stderr until it is ended. */
export function showProgress(
  { stderr, json, log }: Pick<CommandContext, 'stderr' | 'json' | 'log'>,
  calls: CallsMade,
): ProgressDisplay {
  let standing: BackfillStanding = { ...NOWHERE, since: Date.now() };
  const bar = stderr.isTTY === true && !json ? openBar(stderr) : undefined;
  const show = (): void => {
    const now = Date.now();
    const text = progressText(standing, calls, now);
    if (bar !== undefined) bar.show(standing, text, now);
    else if (json) log.info({ ...standing, verdicts: standing.verdicts, calls: { ...calls } }, 'backfill');
    else stderr.write(`${text}\n`);
  };
  const timer = setInterval(show, bar === undefined ? LINE_MS : REDRAW_MS);
  return {
    report(step) {
      standing = advance(standing, step, Date.now());
    },
    end() {
      clearInterval(timer);
      // What ended before it began has nothing to show but its error.
      if (standing.phase !== undefined) show();
      bar?.stop();
    },
  };
}

/** A bar that knows its end, or a line that does not. */
function openBar(stderr: CommandContext['stderr']): {
  show(standing: BackfillStanding, text: string, now: number): void;
  stop(): void;
} {
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        if (stderr.draw === undefined) stderr.write(String(chunk));
        else stderr.draw(String(chunk));
        done();
      },
    }),
    { isTTY: true, columns: stderr.columns ?? 100 },
  );
  const bar = new SingleBar({
    stream,
    hideCursor: true,
    format: (_options, { progress, total }, { text }: { text: string }) =>
      total === 0 ? text : `[${'='.repeat(Math.round(progress * 20)).padEnd(20, '-')}] ${text}`,
  });
  bar.start(0, 0, { text: '' });
  return {
    show(standing, text, now) {
      const { done, total = 0 } = measure(standing, now);
      // What stands still needs no bar, but all of the line for the reason.
      const shown = standing.trouble === undefined ? total : 0;
      bar.setTotal(shown);
      bar.update(done, { text: text.slice(0, Math.max(20, stream.columns - (shown === 0 ? 1 : 24))) });
    },
    stop: () => bar.stop(),
  };
}
