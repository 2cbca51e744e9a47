/** "Needs you": a card for each kind of entry, with how long the oldest waits and what may be done at once. */
import type { VNode } from 'preact';
import { readInbox } from '../../connector/review/inbox.ts';
import { KINDS_FOR_ALL, type ReviewKind } from '../../connector/review/review-kinds.ts';
import type { ReviewCount } from '../../connector/review/review-list.ts';
import { MOST_COUNTED } from '../../operations/status/read-status.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Db } from '../../store/store.ts';
import { inboxAddress } from '../addresses/inbox.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { Halves } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';
import { isText } from '../texts/texts.ts';
import { differencesLink } from './differences-link.ts';

/** Of a kind of which more waits, the age is that of the oldest of these, and others may be older. */
const MOST_READ = 200;

export interface Oldest {
  readonly since: number;
  /** Whether all entries of the kind were looked at. */
  readonly isOfAll: boolean;
}

/** Since when the oldest entry of each kind waits, as far as that is known. */
export async function readOldest(
  db: Db,
  now: number,
  kinds: readonly ReviewKind[],
): Promise<ReadonlyMap<ReviewKind, Oldest>> {
  const oldest = new Map<ReviewKind, Oldest>();
  for (const kind of kinds) {
    const { entries, next } = await readInbox(db, now, { kind }, MOST_READ);
    const since = Math.min(...entries.flatMap((entry) => entry.since ?? []));
    if (Number.isFinite(since)) oldest.set(kind, { since, isOfAll: next === undefined });
  }
  return oldest;
}

interface Waiting {
  readonly review: readonly ReviewCount[];
  readonly differences: number;
  readonly oldest: ReadonlyMap<ReviewKind, Oldest>;
  readonly halves: Halves;
}

/** The cards, differences last; a sentence if nothing waits. */
export function needsYou(visit: Visit, { review, differences, oldest, halves }: Waiting): Markup {
  const { reader } = visit;
  const kinds = [...review, ...(differences > 0 ? [{ kind: 'difference' as const, count: differences }] : [])];
  if (kinds.length === 0) return html`<p class="quiet">${reader.text('overview.decideNothing')}</p>`;
  return html`<ul class="cards">
    ${kinds.map((each) => card(visit, each, { waits: oldest.get(each.kind), isRun: halves.connector }))}
  </ul>`;
}

function card(
  { reader, visitor, formToken, now }: Visit,
  { kind, count }: ReviewCount,
  { waits, isRun }: { readonly waits: Oldest | undefined; readonly isRun: boolean },
): VNode {
  const retry = `verb.retry-${kind}`;
  const canRetry = isRun && includesRole(visitor.role, 'operator') && KINDS_FOR_ALL.retry.some((each) => each === kind);
  return html`<li>
    <p><strong>${kind === 'difference' ? differencesLink(reader, count) : kindLink(reader, { kind, count })}</strong></p>
    ${waits && html`<p class="quiet">${reader.text(waits.isOfAll ? 'needs.oldest' : 'needs.some')} ${timeOf(reader, waits.since, now)}</p>`}
    ${
      canRetry && isText(retry)
        ? html`<form method="post" action="/runs/answers">
            ${hidden({ [FORM_TOKEN]: formToken, kind })}
            <button name="verb" value=${`retry-${kind}`}>${reader.text(retry)}${' …'}</button>
          </form>`
        : html`<p><a class="button" href=${inboxAddress({ kind })}>${reader.text(includesRole(visitor.role, 'operator') ? 'needs.decide' : 'needs.see')}</a></p>`
    }
  </li>`;
}

/** A kind of things with how many there are. */
function kindLine(reader: Reader, { kind, count }: ReviewCount): string {
  const text = reader.text(`kind.${kind}`);
  const number =
    count > MOST_COUNTED ? reader.text('overview.moreThan', { number: MOST_COUNTED }) : reader.number(count);
  return `${text.charAt(0).toLocaleUpperCase(reader.locale)}${text.slice(1)}: ${number}`;
}

/** The same, with the way to them. */
export const kindLink = (reader: Reader, each: ReviewCount): VNode =>
  html`<a href=${inboxAddress({ kind: each.kind })}>${kindLine(reader, each)}</a>`;
