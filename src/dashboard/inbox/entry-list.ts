/** The list of the inbox: entries to choose, and below them the answers. */
import type { VNode } from 'preact';
import { companyNames } from '../../connector/explain/company-names.ts';
import type { InboxEntry, InboxPage } from '../../connector/review/inbox.ts';
import { readReviewId } from '../../connector/review/review-kinds.ts';
import { isBlankValue } from '../../connector/review/review-list.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { cutText } from '../../protocol/text/cut.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Db } from '../../store/store.ts';
import { type InboxTexts, inboxAddress } from '../addresses/inbox.ts';
import { fieldOfProperty, mayNamePersons } from '../companies/values/shown-value.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { maskName } from '../page/masked.ts';
import { hidden } from '../page/messages.ts';
import { noDefaultAnswer, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';
import type { ReviewDeps } from '../routes/routes.ts';
import { mayAnswerAll } from './answer-names.ts';
import { answerButtons, answersOf, choiceBox } from './answers.ts';

/** The longest text in a row. */
const BRIEF = 60;

export interface ShownList extends InboxPage {
  readonly filter: InboxTexts;
  /** With the place at which it begins. */
  readonly address: string;
  /** The entry that the panel shows. */
  readonly current: string;
  /** Whether all boxes are ticked. */
  readonly isChosen: boolean;
}

/** The list with its answers; without them for viewers. */
export async function entryList(deps: ReviewDeps, visit: Visit, list: ShownList): Promise<VNode> {
  const { reader, visitor, formToken } = visit;
  const names = await namesOf(deps.store.db, list.entries);
  const rows = html`<ol class="entries" data-entries aria-label=${reader.text('nav.inbox')}>
    ${list.entries.map((entry) => row(deps, visit, { entry, list, names }))}
  </ol>`;
  const answers = answersOf(list.entries);
  if (!includesRole(visitor.role, 'operator') || answers.length === 0) return rows;
  return html`<form method="post" action="/inbox/answers">
    ${hidden({ [FORM_TOKEN]: formToken, back: list.address, ...list.filter })} ${noDefaultAnswer()}
    <p class="actions">
      <a href=${inboxAddress(list.filter, { after: placeIn(list.address), chosen: list.isChosen ? undefined : 'page' })}>${reader.text(list.isChosen ? 'inbox.chooseNone' : 'inbox.choosePage')}</a>
    </p>
    ${rows} ${bar(deps, visit, list, answers)}
  </form>`;
}

/** The answers for the chosen entries, and those for all that match the filter. */
function bar(
  { halves }: ReviewDeps,
  { reader }: Visit,
  { filter, isChosen }: ShownList,
  names: ReturnType<typeof answersOf>,
): VNode {
  const forAll = halves.connector ? names.filter((name) => mayAnswerAll(name, filter.kind)) : [];
  return html`<div class="bar">
    <p><strong>${reader.text('review.chosen')}</strong> <span data-chosen aria-live="polite"></span></p>
    ${answerButtons(reader, names, { isFocused: isChosen })}
    ${
      forAll.length > 0 &&
      html`<details>
        <summary>${reader.text('answers.all')}</summary>
        <p class="quiet">${reader.text('answers.help')}</p>
        ${answerButtons(reader, forAll, { more: ' …', action: '/runs/answers' })}
      </details>`
    }
  </div>`;
}

const namesOf = (db: Db, entries: readonly InboxEntry[]): Promise<ReadonlyMap<string, string>> =>
  companyNames(db, [...new Set(entries.flatMap(({ difference }) => difference?.entity ?? []))]);

interface Row {
  readonly entry: InboxEntry;
  readonly list: ShownList;
  readonly names: ReadonlyMap<string, string>;
}

function row(deps: ReviewDeps, visit: Visit, { entry, list, names }: Row): VNode {
  const { reader, now } = visit;
  const { id, kind, since } = entry;
  const isCurrent = id === list.current;
  return html`<li>
    ${entry.verbs.length > 0 && choiceBox(visit, entry, list.isChosen)}
    <a class="entry-link" href=${inboxAddress(list.filter, { after: placeIn(list.address), at: id })} aria-current=${isCurrent ? 'true' : undefined} autofocus=${isCurrent && !list.isChosen}>
      ${entryTitle(deps, visit, entry, names)}${' '}<span class="quiet">${entry.difference === undefined ? reader.text(`one.${kind}`) : html`<code>${entry.difference.property}</code>`}${since !== null && html`${' · '}${timeOf(reader, since, now)}`}</span>
    </a>
    ${entry.difference !== undefined && html`<div class="quiet value">${bothSides(deps, visit, entry.difference)}</div>`}
  </li>`;
}

const placeIn = (address: string): string | undefined =>
  new URLSearchParams(address.split('?')[1]).get('after') ?? undefined;

/** Whether viewers see only that the entry exists, because it names persons. */
export function hidesPersons(
  { crms }: ReviewDeps,
  { visitor }: Visit,
  { kind, id }: Pick<InboxEntry, 'kind' | 'id'>,
): boolean {
  const [provider = '', , property = ''] = readReviewId(id)?.parts ?? [];
  const isValue = kind === 'value' || kind === 'difference';
  return isValue && !visitor.seesPersons && mayNamePersons(fieldOfProperty(crms, provider, property));
}

/** A short title of an entry. */
export function entryTitle(
  deps: ReviewDeps,
  visit: Visit,
  entry: InboxEntry,
  names: ReadonlyMap<string, string>,
): Markup {
  const { difference, id } = entry;
  if (difference !== undefined) {
    const { entity } = difference;
    const name = names.get(entity) ?? entity;
    const isMasked = !visit.visitor.seesPersons && parseEntityId(entity)?.kind === 'person';
    return cutText(isMasked ? maskName(name) : name, BRIEF);
  }
  const [provider = '', record = '', property = ''] = readReviewId(id)?.parts ?? [];
  return hidesPersons(deps, visit, entry) ? `${provider}:${record} ${property}` : cutText(entry.about, 2 * BRIEF);
}

function bothSides(deps: ReviewDeps, visit: Visit, difference: NonNullable<InboxEntry['difference']>): Markup {
  const { reader } = visit;
  const { provider, recordId, property, crm, register } = difference;
  const id = `difference/${provider}/${recordId}/${property}`;
  if (hidesPersons(deps, visit, { kind: 'difference', id })) return reader.text('review.persons');
  const [held, told] = [crm, register].map((value) => cutText(plainValue(reader, value), BRIEF));
  return html`${held} ${'→'} ${told}`;
}

/** A value that is stored as JSON, as people write it. */
export function plainValue(reader: Reader, json: string): string {
  if (isBlankValue(json)) return reader.text('company.blank');
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}
