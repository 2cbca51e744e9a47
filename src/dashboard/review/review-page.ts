/** What needs a person, as `cvrsync review list` shows it. */

import type { VNode } from 'preact';
import { companyNames } from '../../connector/explain/company-names.ts';
import { countDifferences, type Difference, readDifferences } from '../../connector/history/differences.ts';
import { revisionOf } from '../../connector/names/revision.ts';
import type { OverrideRef } from '../../connector/overrides/override.ts';
import {
  DECISION,
  idOf,
  REVIEW_KINDS,
  type ReviewEntry,
  type ReviewKind,
  readReviewId,
} from '../../connector/review/review-kinds.ts';
import { isBlankValue, readReview } from '../../connector/review/review-list.ts';
import { hasCopy } from '../../connector/review/unreadable-entries.ts';
import type { Server } from '../../http/server/server.ts';
import { MOST_COUNTED } from '../../operations/status/read-status.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { type ReviewFilter, readReviewFilter, reviewAddress } from '../addresses/review.ts';
import { companyLink } from '../companies/company-link.ts';
import { fieldOfProperty, mayNamePersons } from '../companies/values/shown-value.ts';
import { differencesLink } from '../overview/differences-link.ts';
import { html, type Markup } from '../page/html.ts';
import { brief, table, textFilter, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ReviewDeps } from '../routes/routes.ts';
import { answerAllForm, recentAnswers } from './answer-all.ts';
import { withButtonNames } from './answer-names.ts';
import { addAnswers, answerForm, answersOf, choiceBox } from './answers.ts';
import { addCopies, copyAddress } from './copy-page.ts';
import { addReviewExport } from './export.ts';
import { ANSWERED, addTakeBack } from './take-back.ts';
import { addReviewUpload } from './upload.ts';

const SHOWN = 50;
/** A list that is read from its beginning is read no further; who has more decides by kind. */
const MOST_READ = 1_000;

/** Adds the page, and the action that answers. */
export function addReview(app: Server, deps: ReviewDeps): void {
  addAnswers(app, deps);
  addTakeBack(app, deps);
  addReviewExport(app, deps);
  // What a service has to be answered has no file of answers.
  if (deps.halves.connector) addReviewUpload(app, deps);
  addCopies(app, deps);
  addPage(app, deps, {
    path: '/review',
    async show(visit) {
      const { reader } = visit;
      const filter = readReviewFilter(visit.query);
      const { kind } = filter;
      return {
        title: reader.text('nav.review'),
        body: html`<p>${reader.text('review.help')}</p>
          ${filterForm(visit, filter)} ${kind === 'difference' ? await differences(deps, visit, filter) : await list(deps, visit, filter)}
          ${await recentAnswers(deps.store.db, visit)}
          <p><a href=${ANSWERED}>${reader.text('takeBack.answered')}</a></p>`,
      };
    },
  });
}

function filterForm({ reader }: Visit, filter: ReviewFilter): VNode {
  const { kind } = filter;
  return html`<form class="filters" action="/review">
    <div>
      <label for="kind">${reader.text('review.kind')}</label>
      <select id="kind" name="kind">
        <option value="">${reader.text('review.anyKind')}</option>
        ${REVIEW_KINDS.map(
          (each) => html`<option value=${each} selected=${each === kind}>${reader.text(`kind.${each}`)}</option>`,
        )}
      </select>
    </div>
    ${
      kind === 'difference' &&
      (['provider', 'property'] as const).map((name) =>
        textFilter({ name, label: reader.text(`review.${name}`), value: filter[name] ?? '' }),
      )
    }
    <button>${reader.text('list.filter')}</button>
    <a href="/review">${reader.text('review.showAll')}</a>
  </form>`;
}

/** Everything but differences, of one kind or of all, a page at a time. */
async function list(deps: ReviewDeps, visit: Visit, filter: ReviewFilter): Promise<Markup> {
  const { kind } = filter;
  const { reader, query, now } = visit;
  const from = Math.min(Number(/^\d{1,4}$/.exec(query('from'))?.[0] ?? 0), MOST_READ - SHOWN);
  const kinds = kind === undefined ? undefined : [kind];
  const found = await readReview(deps.store.db, now, { kinds, limit: from + SHOWN + 1 });
  const shown = found.slice(from, from + SHOWN);
  const kept = kind === undefined ? await countDifferences(deps.store.db, now, {}, MOST_COUNTED + 1) : 0;
  const differing = kept > 0 && html`<p>${differencesLink(reader, kept)}</p>`;
  if (shown.length === 0)
    return html`<p>${reader.text(kind !== undefined ? 'review.noMatch' : kept > 0 ? 'review.onlyDifferences' : 'review.nothing')}</p>
      ${differing}`;
  const columns = ['choice', 'since', 'about', 'reason', 'advice'] as const;
  const hasMore = found.length > from + SHOWN && from + SHOWN < MOST_READ;
  const listed = table({
    label: reader.text('nav.review'),
    columns: columns.map((column) => reader.text(`review.${column}`)),
    rows: shown.map((each) => [choiceBox(visit, each.id, each.revision), ...rowOf(deps, visit, each)]),
  });
  const names = answersOf(shown);
  return html`${differing} ${deps.halves.connector && answerAllForm(visit, filter, names)}
  ${answerForm(visit, names, reviewAddress(filter), listed)} ${pager(deps, visit, filter, { first: from > 0, next: hasMore ? { from: String(from + SHOWN) } : undefined })}`;
}

const CRM_KINDS: ReadonlySet<ReviewKind> = new Set(['value', 'link']);

function rowOf({ crms }: ReviewDeps, { reader, visitor }: Visit, each: ReviewEntry): readonly Markup[] {
  const { id, kind, about, reason, since, advice } = each;
  const [provider = '', record = '', property = ''] = readReviewId(id)?.parts ?? [];
  const isHidden =
    kind === 'value' && !visitor.seesPersons && mayNamePersons(fieldOfProperty(crms, provider, property));
  const shown = isHidden ? `${provider}:${record} ${property}` : brief(about);
  return [
    since === null ? null : timeOf(reader, since),
    html`${CRM_KINDS.has(kind) ? html`<a href=${`/companies?q=${encodeURIComponent(`${provider}:${record}`)}`}>${shown}</a>` : shown}
      <div class="quiet value"><code>${id}</code></div>
      ${hasCopy(kind) && html`<div><a href=${copyAddress(id)}>${reader.text('copy.show')}</a></div>`}`,
    isHidden
      ? reader.text('review.persons')
      : html`<div class="value">${said(reader, reason, (words) => brief(inWords(reader, each, words)))}</div>`,
    said(reader, advice, (words) => withButtonNames(reader, words, id)),
  ];
}

/** The reason of a conflict says what to answer; all others are words of a CRM or of a service. */
const inWords = (reader: Reader, { kind, id, verbs }: ReviewEntry, reason: string): string =>
  kind === 'link' && verbs.includes('accept') ? withButtonNames(reader, reason, id) : reason;

/** Differences, along their index. */
async function differences(deps: ReviewDeps, visit: Visit, filter: ReviewFilter): Promise<Markup> {
  const { store, crms } = deps;
  const { reader, query, visitor, now } = visit;
  const after = placeOf(query('after'));
  const { provider, property } = filter;
  const found = await readDifferences(store.db, now, { provider, property, after }, SHOWN + 1);
  const shown = found.slice(0, SHOWN);
  if (shown.length === 0) return html`<p>${reader.text('review.noMatch')}</p>`;
  const columns = ['choice', 'since', 'record', 'company', 'property', 'crm', 'register'] as const;
  const blank = html`<span class="quiet">${reader.text('company.blank')}</span>`;
  const valueIn = (each: Difference, value: string): Markup =>
    !visitor.seesPersons && mayNamePersons(fieldOfProperty(crms, each.provider, each.property))
      ? html`<span class="quiet">${reader.text('review.persons')}</span>`
      : isBlankValue(value)
        ? blank
        : html`<div class="value">${brief(plain(value))}</div>`;
  const clears = html`<div class="quiet">${reader.text('review.clears', { answer: reader.text('verb.accept-difference') })}</div>`;
  const last = found.length > SHOWN ? shown.at(-1) : undefined;
  const names = await companyNames(store.db, [...new Set(shown.map(({ entity }) => entity))]);
  const listed = table({
    label: reader.text('nav.review'),
    columns: columns.map((column) => reader.text(`review.${column}`)),
    rows: shown.map((each) => [
      choiceBox(visit, differenceId(each), revisionOf(each.crm, each.register)),
      each.since === null ? null : timeOf(reader, each.since),
      html`${each.provider} <code>${each.recordId}</code>`,
      companyLink(visitor, each.entity, names),
      html`<code>${each.property}</code>`,
      html`${valueIn(each, each.crm)} ${visitor.seesPersons && each.editor && html`<div class="quiet">${each.editor.name}, ${timeOf(reader, each.editor.at)}</div>`}`,
      html`${valueIn(each, each.register)} ${isBlankValue(each.register) && clears}`,
    ]),
  });
  const answers = answersOf([{ id: idOf('difference', '', '', ''), verbs: DECISION }]);
  return html`${answerAllForm(visit, filter, answers)} ${answerForm(visit, answers, reviewAddress(filter), listed)}
  ${includesRole(visitor.role, 'operator') && html`<p class="quiet">${reader.text('review.keepHolds', { answer: reader.text('verb.keep-difference') })}</p>`}
  ${pager(deps, visit, filter, { first: after !== undefined, next: last && { after: differenceId(last) } })}`;
}

const differenceId = ({ provider, recordId, property }: OverrideRef): string =>
  idOf('difference', provider, recordId, property);

/** The difference that a page comes after. */
function placeOf(id: string): OverrideRef | undefined {
  const named = readReviewId(id);
  if (named?.kind !== 'difference') return undefined;
  const [provider, recordId, property] = named.parts;
  return { provider, recordId, property };
}

/** A value that is stored as JSON, as people write it. */
const plain = (json: string): string => {
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : json;
};

/** Links to the first and the next part of a list, under the filter that is chosen. */
function pager(
  { halves }: Pick<ReviewDeps, 'halves'>,
  { reader, visitor }: Visit,
  filter: ReviewFilter,
  { first, next }: { readonly first: boolean; readonly next: Readonly<Record<string, string>> | undefined },
): VNode {
  return html`<p class="actions">
    ${first && html`<a href=${reviewAddress(filter)}>${reader.text('review.first')}</a>`}
    ${next && html`<a rel="next" href=${reviewAddress(filter, next)}>${reader.text('review.next')}</a>`}
    <a href=${reviewAddress(filter, {}, '/review.csv')} download>${reader.text('list.csv')}</a>
    ${halves.connector && includesRole(visitor.role, 'operator') && html`<a href="/review/upload">${reader.text('answers.upload')}</a>`}
  </p>`;
}
