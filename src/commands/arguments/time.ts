/** Times on the command line: ISO 8601, or a distance from now such as `2h` or `3d`. */
import { endOfDay } from '../../connector/crm/hold.ts';
import { FOREVER, readLength } from '../../protocol/text/length.ts';
import { normaliseTime } from '../../protocol/text/time.ts';
import { type OptionSpec, UsageError } from '../cli/command.ts';

function instantIn(text: string, examples: string): number {
  const instant = normaliseTime(text);
  if (instant === undefined) throw new UsageError(`${text} is not a ${examples}`);
  return Date.parse(instant);
}

/** An option with a time in the past; without a zone it is UTC, and `2h` is two hours ago. */
export const time = (about: string): OptionSpec<number | undefined> => ({
  about: `${about}; a time, or as long ago: 2h, 3d`,
  value: 'time',
  read: (text) => {
    const length = readLength(text);
    return length === undefined
      ? instantIn(text, 'time such as 2026-03-01 or 2026-03-01T12:00:00Z, nor an age such as 2h or 3d')
      : Date.now() - length;
  },
});

/** An option with an end: the last day, an instant, or the time left, such as `30d`. */
export const end = (about: string): OptionSpec<number | undefined> => ({
  about,
  value: 'date',
  read: (text) => {
    const length = readLength(text);
    if (length !== undefined) return Date.now() + length;
    return /^\d{4}-\d\d-\d\d$/u.test(text) && normaliseTime(text) !== undefined
      ? endOfDay(text)
      : instantIn(text, 'date such as 2026-12-31, a time such as 2026-12-31T12:00:00Z, nor a length such as 30d');
  },
});

export const duration = (about: string): OptionSpec<number | undefined> => ({ about, value: 'time', read: needLength });

/** An option with a length of time in ms, infinite for `forever`. */
export const durationOrForever = (about: string): OptionSpec<number | undefined> => ({
  about,
  value: 'time',
  read: (text) => (text === FOREVER ? Number.POSITIVE_INFINITY : needLength(text)),
});

function needLength(text: string): number {
  const length = readLength(text);
  if (length === undefined || length === 0) throw new UsageError(`${text} is not a length of time such as 12h or 30d`);
  return length;
}
