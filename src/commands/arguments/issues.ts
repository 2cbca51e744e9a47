/** What is wrong with the settings of a monitor, in terms of the options that a person gave. */
import { didYouMean } from '../../config/schema/nearest.ts';
import { EVENT_NAMES } from '../../protocol/events.ts';
import type { MonitorIssue } from '../../service/monitors/monitor-input.ts';

/** The option of a setting, by its path; a path that is not here is the name of an argument. */
const OPTIONS: Readonly<Record<string, string>> = {
  events: '--event',
  emails: '--email',
  url: '--url',
  target: '--target',
  key: '--key',
  role: '--role',
  schedule: '--schedule',
  postsPerMinute: '--posts-per-minute',
  credentials: '--header, --basic or --bearer',
  'credentials/key': '--header',
  'credentials/token': '--bearer',
};

export function issueText({ path, message, given }: MonitorIssue): string {
  const [setting = '', part] = path.slice(1).split('/');
  const option = OPTIONS[`${setting}/${part}`] ?? OPTIONS[setting] ?? setting;
  if (setting !== 'events' || given === undefined)
    return `${option}${given === undefined ? '' : ` ${given}`} ${message}`;
  return `${option} ${given}: no such event${didYouMean(given, EVENT_NAMES) || `; they are ${EVENT_NAMES.join(', ')}`}`;
}
