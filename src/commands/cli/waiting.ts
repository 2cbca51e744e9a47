import type { Wait, WaitReport } from '../../connector/crm/patience.ts';
import type { CommandContext } from './context.ts';
import { oneLine } from './table.ts';

/** Reports on stderr what a command waits for: a line for people, a log line for programs. */
export const showWaiting =
  ({ stderr, json, log }: Pick<CommandContext, 'stderr' | 'json' | 'log'>): WaitReport =>
  ({ trouble, wait }) => {
    if (trouble === undefined) return;
    if (json) log.info({ wait }, `waiting: ${trouble}`);
    else stderr.write(`${waitingFor(trouble, wait)}\n`);
  };

export const waitingFor = (trouble: string, wait: Wait | undefined): string =>
  `waiting${timesOf(wait)}: ${oneLine(trouble)}`;

/** The beginning and the latest end of a wait, to append to a word. */
export const timesOf = (wait: Wait | undefined): string =>
  wait === undefined ? '' : ` since ${timeOf(wait.since)}, until ${timeOf(wait.until)} at most`;

/** The local time of day, which a person compares with a clock. */
const timeOf = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);
