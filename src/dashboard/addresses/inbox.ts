/** The filter of the inbox, in the fields of a form or of an address. */
import type { InboxFilter, InboxPlace } from '../../connector/review/inbox.ts';
import { idOf, KINDS_OF_CONNECTIONS, REVIEW_KINDS, readReviewId } from '../../connector/review/review-kinds.ts';

const PATH = '/inbox';

export type InboxTexts = Readonly<Required<{ [K in keyof InboxFilter]: InboxFilter[K] }>>;

export function readInboxFilter(given: (name: string) => string): InboxTexts {
  const kind = REVIEW_KINDS.find((each) => each === given('kind'));
  const text = (name: string): string | undefined => given(name).trim().slice(0, 200) || undefined;
  return {
    kind,
    provider: kind === undefined || KINDS_OF_CONNECTIONS.includes(kind) ? text('provider') : undefined,
    property: kind === 'difference' ? text('property') : undefined,
  };
}

/** The list under a filter, or another page for it; `more` adds the place of its page. */
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

/** Where an answer leads: to the list, with the entry after this one. */
export interface GoingOn {
  readonly back: string;
  readonly next: string | undefined;
}

/** The address of the list in a form's field; the whole list if it is empty or foreign. */
export const listAddress = (given: string): string => (/^\/inbox(?:\?|$)/u.test(given) ? given : PATH);

/** The list after an answer, with the next entry and what was answered. */
export function addressAfter(
  list: string,
  { at, done }: { readonly at?: string | undefined; readonly done?: string },
): string {
  const query = new URLSearchParams(list.split('?')[1]);
  for (const [name, value] of Object.entries({ at, done })) if (value) query.set(name, value);
  return query.size === 0 ? PATH : `${PATH}?${query}`;
}

/** The inbox with the record of a match, or with the answer to it. */
export const matchAddress = (
  name: 'at' | 'done',
  { provider, recordId }: Readonly<Record<'provider' | 'recordId', string>>,
): string => inboxAddress({ kind: 'match' }, { [name]: matchId({ provider, recordId }) });

export const matchId = ({ provider, recordId }: Readonly<Record<'provider' | 'recordId', string>>): string =>
  idOf('match', provider, recordId);

/** The place behind which a page of the list begins, as text. */
export const placeText = ({ source, since, id }: InboxPlace): string => `${source}.${since ?? ''}.${id}`;

export function readPlace(text: string): InboxPlace | undefined {
  const [, source, since = '', id] = /^(\d{1,2})\.(\d{0,15})\.(.+)$/u.exec(text) ?? [];
  if (id === undefined || readReviewId(id) === undefined) return undefined;
  return { source: Number(source), since: since === '' ? null : Number(since), id };
}
