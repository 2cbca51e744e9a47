/** Says what a command waits for, since when and until when at most. */
import type { Wait, WaitReport } from '../../connector/crm/patience.ts';
import type { CommandContext } from './context.ts';
import { oneLine } from './table.ts';

/** Reports each wait on stderr: a line for people, a log line for programs. */
export const showWaiting =
  ({ stderr, json, log }: Pick<CommandContext, 'stderr' | 'json' | 'log'>): WaitReport =>
  ({ trouble, wait }) => {
    if (trouble === undefined) return;
    if (json) log.info({ wait }, `waiting: ${trouble}`);
    else stderr.write(`${waitingFor(trouble, wait)}\n`);
  };

/** The line about a wait whose reason is known. */
export const waitingFor = (trouble: string, wait: Wait | undefined): string =>
  `waiting${timesOf(wait)}: ${oneLine(trouble)}`;

/** Since when and until when, to be put behind a word. */
export const timesOf = (wait: Wait | undefined): string =>
  wait === undefined ? '' : ` since ${timeOf(wait.since)}, until ${timeOf(wait.until)} at most`;

/** The time of day here: a person compares it with a clock on the wall. */
const timeOf = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);
