/** What a note says of an event, and whether the event is one at all: what merely states how things are leaves none. Pure. */
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

/** What a connection wants notes of. */
export interface NoteRule {
  readonly events: ReadonlySet<EventName>;
  /** Whether persons may be named. */
  readonly persons: boolean;
}

/** A fact before a statement on its field, and what the statement made of it. */
export interface FieldChange {
  readonly before: Fact | undefined;
  readonly folded: Folded;
}

/** A payload with what became of the fields it speaks of. */
export interface NotedEvent {
  readonly seq: number;
  readonly payload: Payload;
  readonly fieldChanges: ReadonlyMap<FieldName, FieldChange>;
}

export interface Composed {
  /** The same for the same event, however often and under whatever id it comes. */
  readonly marker: string;
  readonly subject: string;
  readonly body: string;
}

/** Lines and characters beyond which nobody reads; the CRMs take 32,000 characters and more. */
const MOST_LINES = 40;
const MOST_CHARACTERS = 10_000;
const MOST_TITLES = 3;

/** The note a payload leaves under a rule; undefined if it tells nothing that happened and was asked for. */
export function composeNote(reported: NotedEvent, rule: NoteRule): Composed | undefined {
  const { entityId, timestamp, updates } = reported.payload;
  if (isState(reported.payload) || (!rule.persons && isPerson(entityId, undefined))) return undefined;
  const chosen = pick(updates, (event) => rule.events.has(event) && !isRestated(event, reported));
  const filled = withFormer(chosen, reported);
  const descriptions = describeUpdates(rule.persons ? filled : withoutCareOf(filled), {
    formerShares: formerShares(reported),
    ...(!rule.persons && { nameless: ({ entityId: id, type }) => isPerson(id, type) }),
  }).flatMap(changesOf);
  if (descriptions.length === 0) return undefined;
  // Of all that was asked for, also what is left out of the text: at a repetition that may be more.
  const text = canonicalJson({ entityId, timestamp, updates: pick(updates, (event) => rule.events.has(event)) });
  return {
    marker: `cvrsync-${hash('sha256', text, 'hex').slice(0, 20)}`,
    subject: subjectOf(descriptions.map(({ title }) => title)),
    body: cutText(
      [`Registreret den ${timeText(timestamp)}.`, ...descriptions.map(textOf)].join('\n\n'),
      MOST_CHARACTERS,
    ),
  };
}

const CORE = ['name', 'address', 'status', 'form'] as const;

/**
 * Whether a payload states how a company is, as after `sendUpdate`. Wider than {@link statesWholeCompany}, since here a
 * doubt costs a note and not a list: two of what every company has come without what was before, and nothing was taken away.
 */
function isState(payload: Payload): boolean {
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

/** Events that say again what is, whenever they are sent; the others happen, and say so by a state before or a leaving. */
const STATED: ReadonlySet<EventName> = new Set(['newReport', 'newArticle', 'lifetimeStarted', 'lifetimeEnded']);

/** Whether an event only repeats what was known. One that comes late, after newer ones, does not: it is told at its time. */
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

/** Without the name in a c/o address: more often than not a person's. */
function withoutCareOf({ address, ...rest }: Updates): Updates {
  if (address === undefined) return rest;
  const [before, after] = [address.before, address.after].map((one) => one && { ...one, coName: null });
  return { ...rest, address: { before: before ?? null, after: after ?? null } };
}

/** What was before, as we know it, where the sender does not say. */
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

/** Shares before, by the keys that descriptions know them by. */
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

/** The description without lines on which nothing changed; none if no line is left. */
function changesOf(one: Description): readonly Description[] {
  const lines = one.lines.filter(
    ({ before, after }) => before !== after && (before ?? '').trim() !== (after ?? '').trim(),
  );
  return lines.length === 0 ? [] : [{ ...one, lines }];
}

function textOf({ title, lines }: Description): string {
  const shown = lines.slice(0, MOST_LINES).map(lineText);
  const rest = lines.length > MOST_LINES ? [`… og ${lines.length - MOST_LINES} mere`] : [];
  const [only] = lines;
  if (lines.length === 1 && only?.label.startsWith(title)) return shown.join('\n');
  return [title, ...shown, ...rest].join('\n');
}

/** `CVR: Status og Nyt regnskab`. */
function subjectOf(titles: readonly string[]): string {
  const named = titles.slice(0, titles.length > MOST_TITLES ? MOST_TITLES - 1 : MOST_TITLES);
  const rest = titles.length - named.length;
  const all = rest === 0 ? named : [...named, `${rest} andre ændringer`];
  const last = all.at(-1) ?? '';
  return `CVR: ${all.length === 1 ? last : `${all.slice(0, -1).join(', ')} og ${last}`}`;
}
