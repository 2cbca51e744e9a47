/** Composes the note of an event. An event that only states the current state leaves no note. Pure. */
import { hash } from 'node:crypto';
import type { FieldName } from '../../../providers/fields.ts';
import { timeText } from '../../protocol/describe/danish.ts';
import { type Description, describeUpdates, lineText } from '../../protocol/describe/describe.ts';
import { EVENT_NAMES, type EventName } from '../../protocol/events.ts';
import { statesWholeCompany } from '../../protocol/full-state.ts';
import type { Payload, Updates } from '../../protocol/payload.ts';
import { cutText } from '../../protocol/text/cut.ts';
import { canonicalJson } from '../../protocol/text/json.ts';
import { extract } from '../facts/extract.ts';
import { type Fact, type Folded, visible } from '../facts/fact.ts';
import { isPerson } from '../facts/persons.ts';

export interface NoteRule {
  readonly events: ReadonlySet<EventName>;
  readonly persons: boolean;
}

export interface FieldChange {
  readonly before: Fact | undefined;
  readonly folded: Folded;
}

export interface NotedEvent {
  readonly seq: number;
  readonly payload: Payload;
  readonly fieldChanges: ReadonlyMap<FieldName, FieldChange>;
}

export interface Composed {
  /** Identical for repeats of an event under any id. */
  readonly marker: string;
  readonly subject: string;
  readonly body: string;
}

/** More than people read; CRMs take 32,000 characters and more. */
const MOST_LINES = 40;
const MOST_CHARACTERS = 10_000;
const MOST_TITLES = 3;

/** Undefined if the payload reports no change that the rule asks for. */
export function composeNote(reported: NotedEvent, rule: NoteRule): Composed | undefined {
  const { entityId, timestamp, updates } = reported.payload;
  if (statesCurrentState(reported.payload) || (!rule.persons && isPerson(entityId, undefined))) return undefined;
  const chosen = pick(updates, (event) => rule.events.has(event) && !isRestated(event, reported));
  const filled = withFormer(chosen, reported);
  const descriptions = describeUpdates(rule.persons ? filled : withoutCareOf(filled), {
    formerShares: formerShares(reported),
    nameless: rule.persons ? undefined : ({ entityId: id, type }) => isPerson(id, type),
  }).flatMap(changesOf);
  if (descriptions.length === 0) return undefined;
  // The marker covers all events asked for, also those left out of the text: a repeat may show more of them.
  const text = canonicalJson({ entityId, timestamp, updates: pick(updates, (event) => rule.events.has(event)) });
  return {
    marker: `cvrsync-${hash('sha256', text, 'hex').slice(0, 20)}`,
    subject: subjectOf(descriptions.map(({ title }) => title)),
    body: cutText(
      [`Registreret den ${timeText(timestamp)}.`, ...descriptions.map(noteText)].join('\n\n'),
      MOST_CHARACTERS,
    ),
  };
}

const CORE = ['name', 'address', 'status', 'form'] as const;

/**
 * Whether a payload states a company's current state, as after `sendUpdate`. Broader than {@link statesWholeCompany},
 * since an error here costs a note, not a list: at least two core events have no former value, and nothing was removed.
 */
function statesCurrentState(payload: Payload): boolean {
  if (statesWholeCompany(payload)) return true;
  const { updates } = payload;
  const core = CORE.flatMap((event) => updates[event] ?? []);
  const takesAway = Object.values(updates).some(
    (data) =>
      ('before' in data && data.before !== null) ||
      ('removed' in data && data.removed.length > 0) ||
      ('changed' in data && data.changed.length > 0),
  );
  return core.length >= 2 && core.every(({ before, after }) => before === null && after !== null) && !takesAway;
}

/** Events that repeat the current state whenever they are sent; others show a change by a former value or a removal. */
const STATED: ReadonlySet<EventName> = new Set(['newReport', 'newArticle', 'lifetimeStarted', 'lifetimeEnded']);

/** Whether an event only repeats known values. An event that arrives after newer ones is not a repeat. */
function isRestated(event: EventName, { payload, fieldChanges }: NotedEvent): boolean {
  const data = payload.updates[event];
  if (data === undefined) return true;
  const isMute =
    STATED.has(event) ||
    ('before' in data && data.before === null) ||
    ('removed' in data && data.removed.length === 0 && !('changed' in data && data.changed.length > 0));
  if (!isMute) return false;
  const alone = { ...payload, updates: pick(payload.updates, (each) => each === event), stated: [event], unknown: {} };
  const fields = extract({ ...alone, malformed: [] }).filter(({ field }) => field !== 'registerChangedAt');
  return (
    fields.length > 0 &&
    fields.every(({ field }) => {
      const folded = fieldChanges.get(field)?.folded;
      return folded !== undefined && !folded.changed && !folded.stale;
    })
  );
}

const pick = (updates: Updates, holds: (event: EventName) => boolean): Updates =>
  Object.fromEntries(
    EVENT_NAMES.filter((event) => updates[event] !== undefined && holds(event)).map((event) => [event, updates[event]]),
  );

const TEXTS = {
  name: 'name',
  purpose: 'purpose',
  powerToBind: 'powerToBind',
  email: 'email',
  fax: 'fax',
  phoneNumber: 'phone',
  website: 'website',
  status: 'status',
} as const satisfies Partial<Record<EventName, FieldName>>;

/** Removes the name in a c/o address, which is mostly a person's. */
function withoutCareOf({ address, ...rest }: Updates): Updates {
  if (address === undefined) return rest;
  const [before, after] = [address.before, address.after].map((one) => one && { ...one, coName: null });
  return { ...rest, address: { before: before ?? null, after: after ?? null } };
}

/** Fills in known former values that the sender leaves out. */
function withFormer(updates: Updates, { fieldChanges }: NotedEvent): Updates {
  const filled = Object.entries(TEXTS).flatMap(([event, field]) => {
    const data = updates[event as keyof typeof TEXTS]; // Object.entries forgets the names of the keys
    const fold = fieldChanges.get(field);
    const former = fold?.before?.value;
    if (data === undefined || data.before !== null || fold === undefined || fold.folded.stale) return [];
    const before = former !== undefined && 'scalar' in former ? former.scalar : null;
    return typeof before === 'string' ? [[event, { ...data, before }]] : [];
  });
  return { ...updates, ...Object.fromEntries(filled) };
}

function formerShares({ fieldChanges }: NotedEvent): Readonly<Record<string, string>> {
  const shares = (field: FieldName, key: (id: string) => string): (readonly [string, string])[] => {
    const fold = fieldChanges.get(field);
    if (fold === undefined || fold.folded.stale) return [];
    const { value } = fold.before ?? {};
    const members = value !== undefined && 'list' in value ? visible(value.list).members : [];
    return members.flatMap(({ id, share }) => (share === undefined ? [] : [[key(id), share] as const]));
  };
  return Object.fromEntries([
    ...shares('owners', (id) => id),
    ...shares('trueOwners', (id) => `trueOwnership ${id}`),
    ...shares('trueVoteRights', (id) => `trueVoteRights ${id}`),
  ]);
}

/** Drops unchanged lines; empty if none is left. */
function changesOf(one: Description): readonly Description[] {
  const lines = one.lines.filter(
    ({ before, after }) => before !== after && (before ?? '').trim() !== (after ?? '').trim(),
  );
  return lines.length === 0 ? [] : [{ ...one, lines }];
}

function noteText({ title, lines }: Description): string {
  const shown = lines.slice(0, MOST_LINES).map(lineText);
  const rest = lines.length > MOST_LINES ? [`… og ${lines.length - MOST_LINES} mere`] : [];
  const [only] = lines;
  if (lines.length === 1 && only?.label.startsWith(title)) return shown.join('\n');
  return [title, ...shown, ...rest].join('\n');
}

function subjectOf(titles: readonly string[]): string {
  const named = titles.slice(0, titles.length > MOST_TITLES ? MOST_TITLES - 1 : MOST_TITLES);
  const rest = titles.length - named.length;
  const all = rest === 0 ? named : [...named, `${rest} andre ændringer`];
  const last = all.at(-1) ?? '';
  return `CVR: ${all.length === 1 ? last : `${all.slice(0, -1).join(', ')} og ${last}`}`;
}
