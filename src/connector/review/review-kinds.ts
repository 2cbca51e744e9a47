/** The kinds of things that need a person, the answers each takes, and the ids they go by. */
import type { Expression } from 'kysely';
import { storable } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';

/**
 * `account` that nobody may call; `lane` parked work; `value` set aside; `link` in conflict, or refused by the monitoring
 * service; `match` suggested for a record without a number; `body` of a webhook and `document` of the register that nobody could read; `event` dated ahead of our clock;
 * `sender` that gives one id to events that differ; `mail` that does not arrive; `difference` kept by the rules.
 */
export const REVIEW_KINDS = [
  'account',
  'lane',
  'link',
  'match',
  'value',
  'body',
  'document',
  'event',
  'sender',
  'mail',
  'difference',
] as const;
export type ReviewKind = (typeof REVIEW_KINDS)[number];

/** What a person may answer: `retry` and `drop` where work failed, `accept` and `keep` if somebody must decide. */
export const VERBS = ['retry', 'drop', 'accept', 'keep'] as const;
export type ReviewVerb = (typeof VERBS)[number];

export const FAILED = ['retry', 'drop'] as const satisfies readonly ReviewVerb[];
export const DECISION = ['accept', 'keep'] as const satisfies readonly ReviewVerb[];

/** The kinds of which all may be answered at once. The safety limit is answered by itself alone. */
export const KINDS_FOR_ALL = {
  retry: ['account', 'lane', 'link', 'value', 'event', 'mail'],
  drop: ['lane', 'link', 'value', 'body', 'document', 'event', 'sender', 'mail'],
  accept: ['difference', 'link', 'match'],
  keep: ['difference', 'link', 'match'],
} as const satisfies Readonly<Record<ReviewVerb, readonly ReviewKind[]>>;

/** The kinds of which all are answered if none is named. */
const KINDS_BY_DEFAULT: Readonly<Record<ReviewVerb, readonly ReviewKind[]>> = {
  retry: ['account', 'lane', 'link', 'value'],
  drop: [],
  accept: ['difference'],
  keep: ['difference'],
};

/** The kinds that an answer to all is for; empty if one must be named. */
export const kindsFor = ({
  verb,
  kind,
}: {
  readonly verb: ReviewVerb;
  readonly kind?: ReviewKind | undefined;
}): readonly ReviewKind[] => (kind === undefined ? KINDS_BY_DEFAULT[verb] : [kind]);

export interface ReviewEntry {
  /** Names it for `review`: the kind and its parts between slashes, each percent-encoded. */
  readonly id: string;
  readonly kind: ReviewKind;
  /** What it is about: `sync:hubspot 123`, `hubspot:123 industry`. */
  readonly about: string;
  readonly reason: string;
  /** Ms since 1970; null if it is not known. */
  readonly since: number | null;
  /** What each of its verbs would do, and what to do first. */
  readonly advice: string;
  /** Whether it waits for a decision, and not just for another try. */
  readonly decides: boolean;
  /** The answers it takes. */
  readonly verbs: readonly ReviewVerb[];
  /** The version of the entry, to refuse an answer to an older one; absent if the entry has none. */
  readonly revision?: string;
  /** Who wrote the value that the CRM holds, and when, where the CRM tells. */
  readonly editor?: { readonly name: string; readonly at: number };
}

/** An entry behind which a list goes on. */
export type EntryPlace = Pick<ReviewEntry, 'id' | 'since'>;

/** Which entries of a source are read. */
export interface EntryRange {
  /** Only of this connection; a source whose entries are of none ignores it. */
  readonly provider?: string | undefined;
  /** Only behind this entry, which may have been answered meanwhile. */
  readonly after?: EntryPlace | undefined;
}

/** Things of one kind, and how they are read without all the others. */
export interface ReviewSource {
  readonly kind: ReviewKind;
  /** At most `limit` of them, or a few more. */
  read(db: Db, now: number, limit: number, part?: EntryRange): Promise<readonly ReviewEntry[]>;
  /** All of them in SQL, with the time since when each waits as `since`; absent if they are few and read to be counted. */
  waiting?(db: Db, now: number, provider?: string): Expression<unknown>;
}

/** The kinds whose entries are each of one connection. */
export const KINDS_OF_CONNECTIONS: readonly ReviewKind[] = ['link', 'match', 'value', 'difference'];

/** The parts of the id of an entry behind which a list goes on; undefined at its beginning. */
export const partsOf = (after: EntryPlace | undefined): Parts | undefined => after && readReviewId(after.id)?.parts;

/** The answers that a lane takes: one that a person stopped for safety waits for a decision. */
export const laneVerbs = (key: string): readonly ReviewVerb[] => (key === SAFETY_LIMIT_KEY ? DECISION : FAILED);

/** The id of a thing, by which `review` names it. */
export const idOf = (kind: ReviewKind, ...parts: readonly (string | number)[]): string =>
  [kind, ...parts.map((part) => encodeURIComponent(part).replaceAll('%3A', ':').replaceAll('%40', '@'))].join('/');

type Parts = readonly [string, string, string];

const PARTS: Readonly<Record<ReviewKind, number>> = {
  account: 1,
  lane: 2,
  value: 3,
  link: 2,
  match: 2,
  body: 1,
  document: 1,
  event: 1,
  sender: 1,
  mail: 1,
  difference: 3,
};

const NUMBERED: ReadonlySet<ReviewKind> = new Set(['body', 'document', 'event']);

/** What an id names: the kind of thing, and its parts, as many as the kind has; undefined if it is no id. */
export function readReviewId(id: string): { readonly kind: ReviewKind; readonly parts: Parts } | undefined {
  const [name, ...parts] = id.split('/');
  const kind = REVIEW_KINDS.find((each) => each === name);
  if (kind === undefined || parts.length !== PARTS[kind]) return undefined;
  if (NUMBERED.has(kind) && !/^\d{1,15}$/u.test(parts[0] ?? '')) return undefined;
  try {
    const texts = parts.map(decodeURIComponent);
    if (texts.some((text) => text !== storable(text))) return undefined;
    const [first = '', second = '', third = ''] = texts;
    return { kind, parts: [first, second, third] };
  } catch {
    return undefined;
  }
}
