/** Which part of the inbox somebody looks at, and where the list of it is. */
import type { InboxFilter, InboxPlace } from '../../connector/review/inbox.ts';
import { idOf, KINDS_OF_CONNECTIONS, REVIEW_KINDS, readReviewId } from '../../connector/review/review-kinds.ts';

const PATH = '/inbox';

/** The fields that narrow the list. */
export type InboxTexts = Readonly<Required<{ [K in keyof InboxFilter]: InboxFilter[K] }>>;

/** Reads the fields of a form or of an address. */
export function readInboxFilter(given: (name: string) => string): InboxTexts {
  const kind = REVIEW_KINDS.find((each) => each === given('kind'));
  const text = (name: string): string | undefined => given(name).trim().slice(0, 200) || undefined;
  return {
    kind,
    provider: kind === undefined || KINDS_OF_CONNECTIONS.includes(kind) ? text('provider') : undefined,
    property: kind === 'difference' ? text('property') : undefined,
  };
}

/** The list under a filter, or another page about it; from `more` on. */
export function inboxAddress(
  filter: Partial<InboxTexts>,
  more: Readonly<Record<string, string | undefined>> = {},
  path = PATH,
): string {
  const chosen = Object.entries({ ...filter, ...more }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  return chosen.length === 0 ? path : `${path}?${new URLSearchParams(chosen)}`;
}

/** Where an answer goes on: the list, and the entry after this one. */
export interface GoingOn {
  readonly back: string;
  readonly next: string | undefined;
}

/** An address of the list that a form carries; the whole list if it carries none. */
export const listAddress = (given: string): string => (/^\/inbox(?:\?|$)/u.test(given) ? given : PATH);

/** The same list after an answer: with the next entry, and what was answered. */
export function addressAfter(
  list: string,
  { at, done }: { readonly at?: string | undefined; readonly done?: string },
): string {
  const query = new URLSearchParams(list.split('?')[1]);
  for (const [name, value] of Object.entries({ at, done })) if (value) query.set(name, value);
  return query.size === 0 ? PATH : `${PATH}?${query}`;
}

/** Where the record of a match is in the inbox, or what was answered for it. */
export const matchAddress = (
  name: 'at' | 'done',
  { provider, recordId }: Readonly<Record<'provider' | 'recordId', string>>,
): string => inboxAddress({ kind: 'match' }, { [name]: matchId({ provider, recordId }) });

/** The id of a match in the inbox. */
export const matchId = ({ provider, recordId }: Readonly<Record<'provider' | 'recordId', string>>): string =>
  idOf('match', provider, recordId);

/** The place behind which a page of the list begins, as an address carries it. */
export const placeText = ({ source, since, id }: InboxPlace): string => `${source}.${since ?? ''}.${id}`;

export function readPlace(text: string): InboxPlace | undefined {
  const [, source, since = '', id] = /^(\d{1,2})\.(\d{0,15})\.(.+)$/u.exec(text) ?? [];
  if (id === undefined || readReviewId(id) === undefined) return undefined;
  return { source: Number(source), since: since === '' ? null : Number(since), id };
}
