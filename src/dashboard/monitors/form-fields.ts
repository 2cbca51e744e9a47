/** The fields of the form of a monitor or job. */
import { EVENT_NAMES } from '../../protocol/events.ts';
import type { Credentials, Monitor } from '../../service/monitors/monitor.ts';
import type { MonitorPatch } from '../../service/monitors/monitor-input.ts';
import { type Fields, fieldValue, fieldValues, SECRET_FIELD } from '../page/fields.ts';

/** Credentials that a post has in addition to its signature; `keep` changes nothing. */
export const METHODS = ['None', 'Bearer', 'Header', 'BasicAuth'] as const;

/** The texts of the form; no page shows the secret. */
export interface MonitorTexts {
  readonly name: string;
  readonly target: string;
  readonly url: string;
  readonly emails: string;
  readonly mailFrequency: string;
  readonly scope: string;
  /** Names, separated by spaces. */
  readonly events: string;
  readonly schedule: string;
  readonly postsPerMinute: string;
  readonly method: string;
  readonly key: string;
}

const NAMES = [
  'name',
  'target',
  'url',
  'emails',
  'mailFrequency',
  'scope',
  'events',
  'schedule',
  'postsPerMinute',
  'method',
  'key',
] as const satisfies readonly (keyof MonitorTexts)[];

export const NEW_MONITOR: MonitorTexts = {
  name: '',
  target: 'items',
  url: '',
  emails: '',
  mailFrequency: 'daily',
  scope: 'all',
  events: '',
  schedule: '',
  postsPerMinute: '',
  method: 'None',
  key: '',
};

export const textsOf = (monitor: Monitor): MonitorTexts => ({
  name: monitor.name,
  target: monitor.target,
  url: monitor.url ?? '',
  emails: monitor.emails.join('\n'),
  mailFrequency: monitor.mailFrequency,
  scope: monitor.events === null ? 'all' : 'chosen',
  events: monitor.events?.join(' ') ?? '',
  schedule: monitor.schedule?.join(', ') ?? '',
  postsPerMinute: monitor.postsPerMinute === null ? '' : String(monitor.postsPerMinute),
  method: 'keep',
  key: '',
});

/** The texts that were sent, with line ends as in stored texts. A missing field counts as unchanged. */
export function textsIn(fields: Fields, shown: MonitorTexts = NEW_MONITOR): MonitorTexts {
  const text = (name: keyof MonitorTexts): string =>
    fields.some(([sent]) => sent === name) ? fieldValue(fields, name).replaceAll('\r\n', '\n').trim() : shown[name];
  const events = new Set(fieldValues(fields, 'events'));
  return {
    name: text('name'),
    target: text('target'),
    url: text('url'),
    emails: text('emails'),
    mailFrequency: text('mailFrequency'),
    scope: text('scope'),
    events: EVENT_NAMES.filter((event) => events.has(event)).join(' '),
    schedule: text('schedule'),
    postsPerMinute: text('postsPerMinute'),
    method: text('method'),
    key: text('key'),
  };
}

/** The texts as one field of a form, and back; an unreadable field counts as an empty form. */
export const packTexts = (texts: MonitorTexts): string => JSON.stringify(NAMES.map((name) => texts[name]));
export function unpackTexts(packed: string): MonitorTexts {
  try {
    const values: unknown = JSON.parse(packed);
    if (!Array.isArray(values)) return NEW_MONITOR;
    const given = NAMES.map((name, at) => [name, String(values[at] ?? '')] as const);
    return { ...NEW_MONITOR, ...Object.fromEntries(given) };
  } catch {
    return NEW_MONITOR;
  }
}

/**
 * What the form changes: only what differs from what it showed, so that two people who edit one monitor do not undo
 * each other's changes. Passes invalid values on, for the check of monitors to report.
 */
export function patchOf(texts: MonitorTexts, shown: MonitorTexts, fields: Fields): MonitorPatch {
  const isChanged = (...names: readonly (keyof MonitorTexts)[]): boolean =>
    names.some((name) => texts[name] !== shown[name]);
  const words = (text: string): readonly string[] => text.split(/[\s,;]+/).filter((word) => word !== '');
  return {
    ...(isChanged('name') && { name: texts.name }),
    ...(isChanged('target') && { target: texts.target === 'all' ? 'all' : 'items' }),
    ...(isChanged('url') && { url: texts.url === '' ? null : texts.url }),
    ...(isChanged('emails') && { emails: words(texts.emails) }),
    ...(isChanged('mailFrequency') && { mailFrequency: texts.mailFrequency === 'immediate' ? 'immediate' : 'daily' }),
    ...(isChanged('scope', 'events') && { events: texts.scope === 'chosen' ? words(texts.events) : null }),
    ...(isChanged('schedule') && {
      schedule: texts.schedule === '' ? null : words(texts.schedule).map((word) => Number(word)),
    }),
    ...(isChanged('postsPerMinute') && {
      postsPerMinute: texts.postsPerMinute === '' ? null : Number(texts.postsPerMinute),
    }),
    ...(texts.method !== 'keep' && { credentials: credentialsIn(texts, fields) }),
  };
}

function credentialsIn({ method, key }: MonitorTexts, fields: Fields): Credentials {
  const value = fieldValue(fields, SECRET_FIELD);
  if (method === 'Bearer') return { method, token: value };
  if (method === 'Header' || method === 'BasicAuth') return { method, key, value };
  return { method: 'None' };
}
