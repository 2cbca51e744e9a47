/** The panel next to the list: one entry with its subject, and the answers it takes. */
import type { VNode } from 'preact';
import { companyNames } from '../../connector/explain/company-names.ts';
import { readUndecided } from '../../connector/match/undecided.ts';
import type { InboxEntry } from '../../connector/review/inbox.ts';
import { KINDS_OF_CONNECTIONS, readReviewId } from '../../connector/review/review-kinds.ts';
import { isBlankValue } from '../../connector/review/review-list.ts';
import { hasCopy } from '../../connector/review/unreadable-entries.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { GoingOn } from '../addresses/inbox.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { companyLink } from '../companies/company-link.ts';
import { recordLink } from '../companies/record-link.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { maskText } from '../page/masked.ts';
import { hidden } from '../page/messages.ts';
import { noDefaultAnswer, timeOf } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { answersTo, withButtonNames } from './answer-names.ts';
import { answerButtons, CHOICE, choiceOf } from './answers.ts';
import { copyAddress } from './copy-page.ts';
import { entryTitle, hidesPersons, plainValue } from './entry-list.ts';
import { lettersOf } from './letters.ts';
import { matchRecord } from './match-record.ts';

const KEYS = ['a', 's', 'd'] as const;
/** The longest value or reason to show. */
const LONGEST = 1_000;

export async function entryPanel(deps: CompanyDeps, visit: Visit, entry: InboxEntry, on: GoingOn): Promise<VNode> {
  const { reader } = visit;
  const { db } = deps.store;
  const { difference } = entry;
  const names = await companyNames(db, difference === undefined ? [] : [difference.entity]);
  return html`<section id="entry" class="entry" aria-label=${reader.text('inbox.entry')} data-shown=${entry.id}>
    <h2 class="value">${entryTitle(deps, visit, entry, names)}</h2>
    ${entry.kind === 'match' ? await match(deps, visit, entry, on) : html`${await facts(deps, visit, entry, names)} ${answerForm(visit, entry, on)}`}
  </section>`;
}

async function match(deps: CompanyDeps, visit: Visit, entry: InboxEntry, on: GoingOn): Promise<Markup> {
  const [provider = '', recordId = ''] = readReviewId(entry.id)?.parts ?? [];
  const found = await readUndecided(deps.store.db, { provider, recordId });
  return found === undefined
    ? html`<p>${visit.reader.text('review.settled')}</p>`
    : matchRecord(deps, visit, found, on);
}

function answerForm(visit: Visit, entry: InboxEntry, { back, next }: GoingOn): Markup {
  const { reader, visitor, formToken } = visit;
  const names = answersTo(entry);
  if (!includesRole(visitor.role, 'operator') || names.length === 0) return null;
  return html`<form method="post" action="/inbox/answers">
    ${hidden({ [FORM_TOKEN]: formToken, [CHOICE]: choiceOf(entry), one: 'yes', back, next })} ${noDefaultAnswer()}
    ${answerButtons(reader, names, { keys: KEYS })}
  </form>`;
}

async function facts(
  deps: CompanyDeps,
  visit: Visit,
  entry: InboxEntry,
  names: ReadonlyMap<string, string>,
): Promise<VNode> {
  const { reader, now } = visit;
  const { id, kind, since, difference } = entry;
  const [provider = '', recordId = ''] = readReviewId(id)?.parts ?? [];
  const isOfRecord = KINDS_OF_CONNECTIONS.includes(kind);
  const line = (label: Markup, value: Markup): Markup => html`<dt>${label}</dt><dd class="value">${value}</dd>`;
  return html`<dl class="facts">
    ${difference !== undefined && line(reader.text('review.company'), companyLink(visit.visitor, difference.entity, names))}
    ${
      isOfRecord &&
      line(
        reader.text('review.record'),
        html`${await recordLink(deps, { provider, recordId })} <a href=${`/companies?q=${encodeURIComponent(`${provider}:${recordId}`)}`}>${reader.text('inbox.ofRecord')}</a>`,
      )
    }
    ${difference !== undefined && line(reader.text('review.property'), html`<code>${difference.property}</code>`)}
    ${difference === undefined ? line(reader.text('review.reason'), reasonOf(deps, visit, entry)) : sides(deps, visit, entry, difference)}
    ${
      difference === undefined &&
      line(
        reader.text('review.advice'),
        said(reader, entry.advice, (words) => withButtonNames(reader, words, id)),
      )
    }
    ${since !== null && line(reader.text('review.since'), timeOf(reader, since, now))}
    ${hasCopy(kind) && line(reader.text('inbox.copy'), html`<a href=${copyAddress(id)}>${reader.text('copy.show')}</a>`)}
    ${line(reader.text('inbox.id'), html`<code>${id}</code>`)}
  </dl>`;
}

/** The reason of a conflict says what to answer; every other reason is the text of a CRM or of a service. */
function reasonOf(deps: CompanyDeps, visit: Visit, entry: InboxEntry): Markup {
  const { reader } = visit;
  const { kind, id, verbs, reason } = entry;
  if (hidesPersons(deps, visit, entry)) return reader.text('review.persons');
  const inWords = (words: string): string =>
    kind === 'link' && verbs.includes('accept') ? withButtonNames(reader, words, id) : words;
  return said(reader, reason, (words) => inWords(words).slice(0, LONGEST));
}

/** The CRM's value above the register's, with the differences marked. */
function sides(
  deps: CompanyDeps,
  visit: Visit,
  entry: InboxEntry,
  { crm, register, editor }: NonNullable<InboxEntry['difference']>,
): Markup {
  const { reader, visitor } = visit;
  const isHidden = hidesPersons(deps, visit, entry);
  const shown = (own: string, other: string): Markup =>
    isHidden
      ? html`<span class="quiet">${reader.text('review.persons')}</span>`
      : isBlankValue(own)
        ? html`<span class="quiet">${reader.text('company.blank')}</span>`
        : lettersOf(reader, cut(visit, own), isBlankValue(other) ? undefined : cut(visit, other));
  const clears = reader.text('review.clears', { answer: reader.text('verb.accept-difference') });
  return html`<dt>${reader.text('review.crm')}</dt>
    <dd class="value side">
      ${shown(crm, register)}
      ${visitor.seesPersons && editor && html`<div class="quiet">${editor.name}, ${timeOf(reader, editor.at)}</div>`}
    </dd>
    <dt>${reader.text('review.register')}</dt>
    <dd class="value side">${shown(register, crm)} ${isBlankValue(register) && html`<div class="quiet">${clears}</div>`}</dd>`;
}

/** Masks before comparing, so that marks reveal nothing of a mail address. */
const cut = ({ reader, visitor }: Visit, json: string): string => {
  const text = plainValue(reader, json);
  return (visitor.seesPersons ? text : maskText(text)).slice(0, LONGEST);
};
