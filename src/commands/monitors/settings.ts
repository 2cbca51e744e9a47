/** What can be said of a monitor or a job on the command line. */
import type { Credentials } from '../../service/monitors/monitor.ts';
import type { MonitorPatch } from '../../service/monitors/monitor-input.ts';
import { flag, text, texts, UsageError } from '../cli/command.ts';

/** The options; read by {@link readSettings}. */
export const settingOptions = {
  url: text('the address of its webhook', 'url'),
  event: texts('an event it is told of, such as status; all of them where none is given', 'name'),
  email: texts('an address that gets mails', 'address'),
  daily: flag('mails once a day'),
  immediate: flag('mails at once'),
  header: text('the header its webhook asks for', 'name=value'),
  basic: text('the user name and password its webhook asks for', 'user:password'),
  bearer: text('the token its webhook asks for', 'token'),
  schedule: text('seconds before each attempt, such as 0,60,3600', 'seconds'),
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
}

/** What was given, and nothing else. */
export function readSettings(given: Given): MonitorPatch {
  const { url, event, email, daily, immediate, schedule } = given;
  if (daily && immediate) throw new UsageError('choose --daily or --immediate, not both');
  const credentials = readCredentials(given);
  return {
    ...(url !== undefined && { url }),
    ...(event.length > 0 && { events: event }),
    ...(email.length > 0 && { emails: email }),
    ...((daily || immediate) && { mailFrequency: daily ? 'daily' : 'immediate' }),
    ...(credentials !== undefined && { credentials }),
    ...(schedule !== undefined && { schedule: readSchedule(schedule) }),
  };
}

/** The texts are secrets: no message repeats them. */
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
