import type { Credentials } from '../../service/monitors/monitor.ts';
import type { MonitorPatch } from '../../service/monitors/monitor-input.ts';
import { flag, positive, text, texts, UsageError } from '../cli/command.ts';

/** The options that {@link readSettings} reads. */
export const settingOptions = {
  url: text('the address of its webhook', 'url'),
  event: texts('notify of this event, such as status; may be repeated (default: all events)', 'name'),
  email: texts('send mail to this address; may be repeated', 'address'),
  daily: flag('send mail once a day'),
  immediate: flag('send mail at once'),
  header: text('the header that its webhook requires', 'name=value'),
  basic: text('the user name and password that its webhook requires', 'user:password'),
  bearer: text('the token that its webhook requires', 'token'),
  schedule: text('seconds before each attempt, such as 0,60,3600', 'seconds'),
  postsPerMinute: positive('post to its webhook so often in a minute, at most (default: no limit)'),
};

interface Given {
  readonly url: string | undefined;
  readonly event: readonly string[];
  readonly email: readonly string[];
  readonly daily: boolean;
  readonly immediate: boolean;
  readonly header: string | undefined;
  readonly basic: string | undefined;
  readonly bearer: string | undefined;
  readonly schedule: string | undefined;
  readonly postsPerMinute: number | undefined;
}

/** Only the given settings. */
export function readSettings(given: Given): MonitorPatch {
  const { url, event, email, daily, immediate, schedule, postsPerMinute } = given;
  if (daily && immediate) throw new UsageError('choose --daily or --immediate, not both');
  const credentials = readCredentials(given);
  return {
    ...(url !== undefined && { url }),
    ...(event.length > 0 && { events: event }),
    ...(email.length > 0 && { emails: email }),
    ...((daily || immediate) && { mailFrequency: daily ? 'daily' : 'immediate' }),
    ...(credentials !== undefined && { credentials }),
    ...(schedule !== undefined && { schedule: readSchedule(schedule) }),
    ...(postsPerMinute !== undefined && { postsPerMinute }),
  };
}

/** The texts are secrets, so no message repeats them. */
function readCredentials({ header, basic, bearer }: Given): Credentials | undefined {
  if ([header, basic, bearer].filter((each) => each !== undefined).length > 1)
    throw new UsageError('choose one of --header, --basic and --bearer');
  if (bearer !== undefined) return { method: 'Bearer', token: bearer };
  if (header !== undefined) return { method: 'Header', ...split(header, '=', '--header is name=value') };
  if (basic !== undefined) return { method: 'BasicAuth', ...split(basic, ':', '--basic is user:password') };
  return undefined;
}

function split(text: string, mark: string, otherwise: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf(mark);
  if (at < 1 || at === text.length - 1) throw new UsageError(otherwise);
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}

function readSchedule(text: string): readonly number[] {
  const seconds = text.split(',').map((part) => part.trim());
  if (!seconds.every((part) => /^\d{1,9}$/.test(part)))
    throw new UsageError('--schedule is seconds, such as 0,60,3600');
  return seconds.map(Number);
}
