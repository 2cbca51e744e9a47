/** "Needs you": a card for each kind of entry, with the age of the oldest and the quick answers. */
import type { VNode } from 'preact';
import { KINDS_FOR_ALL } from '../../connector/review/review-kinds.ts';
import type { ReviewCount } from '../../connector/review/review-list.ts';
import { MOST_COUNTED } from '../../operations/installation/status/read-status.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
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

/** The cards, differences last; a sentence if nothing waits. */
export function needsYou(visit: Visit, counts: readonly ReviewCount[], halves: Halves): Markup {
  const { reader } = visit;
  if (counts.length === 0) return html`<p class="quiet">${reader.text('overview.decideNothing')}</p>`;
  return html`<ul class="cards">
    ${counts.map((each) => card(visit, each, halves.connector))}
  </ul>`;
}

function card(
  { reader, visitor, formToken, now }: Visit,
  { kind, count, since, isOldest }: ReviewCount,
  isRun: boolean,
): VNode {
  const retry = `verb.retry-${kind}`;
  const canRetry = isRun && includesRole(visitor.role, 'operator') && KINDS_FOR_ALL.retry.some((each) => each === kind);
  return html`<li>
    <p><strong>${kind === 'difference' ? differencesLink(reader, count) : kindLink(reader, { kind, count })}</strong></p>
    ${since !== undefined && html`<p class="quiet">${reader.text(isOldest ? 'needs.oldest' : 'needs.some')} ${timeOf(reader, since, now)}</p>`}
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

type KindCount = Pick<ReviewCount, 'kind' | 'count'>;

function kindLine(reader: Reader, { kind, count }: KindCount): string {
  const text = reader.text(`kind.${kind}`);
  const number =
    count > MOST_COUNTED ? reader.text('overview.moreThan', { number: MOST_COUNTED }) : reader.number(count);
  return `${text.charAt(0).toLocaleUpperCase(reader.locale)}${text.slice(1)}: ${number}`;
}

/** The same, with a link. */
export const kindLink = (reader: Reader, each: KindCount): VNode =>
  html`<a href=${inboxAddress({ kind: each.kind })}>${kindLine(reader, each)}</a>`;
