/** Records without a number, one at a time: the record beside the companies it may mean. */
import type { VNode } from 'preact';
import { countUndecided, nextUndecided, type UndecidedMatch } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import type { IndexEntry } from '../../match/entry.ts';
import { readIndexState } from '../../match/index/state.ts';
import { readEntries } from '../../match/index/write.ts';
import type { ScoredCandidate } from '../../match/score.ts';
import { reasonText } from '../../match/weights.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { FORM_TOKEN } from '../access/fields.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { companyAddress } from '../companies/search.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import { state, table } from '../page/parts.ts';
import { addPage, type Visit } from '../routes.ts';
import { addMatchAnswers, matchSight } from './answers.ts';
import { agrees, partOf, SHOWN_PARTS, type ShownPart } from './parts.ts';
import { behind, readPlace } from './place.ts';

/** To count further takes long, and tells a person no more. */
const COUNTED = 1_000;

/** Adds the page, and the action that answers. */
export function addMatch(app: Server, deps: CompanyDeps): void {
  addMatchAnswers(app, deps);
  addPage(app, deps, {
    path: '/match',
    async show(visit) {
      const { reader, query } = visit;
      const place = readPlace(query('after'));
      const found = await nextUndecided(deps.store.db, place);
      const title = reader.text('nav.match');
      if (found === undefined) return { title, body: await nothing(deps, visit, place !== undefined) };
      const count = await countUndecided(deps.store.db, COUNTED + 1);
      const left = reader.text(count > COUNTED ? 'match.more' : 'match.left', { count: Math.min(count, COUNTED) });
      const numbers = found.candidates.map(({ company }) => company);
      const entries = await readEntries(deps.store.db, numbers);
      return {
        title,
        body: html`<p>${reader.text('match.help')} <span class="quiet">${left}</span></p>
          <p>${found.provider} <code>${found.recordId}</code></p>
          ${answerForm(visit, found, comparison(visit, found, entries))}`,
      };
    },
  });
}

async function nothing({ store }: CompanyDeps, { reader }: Visit, isBehind: boolean): Promise<Markup> {
  if (isBehind)
    return html`<p>${reader.text('match.end')}</p><p><a href="/match">${reader.text('match.beginning')}</a></p>`;
  const index = await readIndexState(store.db);
  return html`<p>${reader.text('match.nothing')}</p>
    ${index === undefined && html`<p class="notice">${reader.text('match.noIndex')}</p>`}`;
}

/** A column for the record and one for each company; what agrees and what differs says so. */
function comparison(
  { reader }: Visit,
  { record, candidates }: UndecidedMatch,
  entries: ReadonlyMap<string, IndexEntry>,
): VNode {
  const compared = (part: ShownPart, candidate: ScoredCandidate): Markup => {
    const value = partOf(part, entries.get(candidate.company));
    const own = record[part];
    if (value === null || own == null || own === '') return value;
    return agrees(part, own, value)
      ? state('ok', html`${value} <span class="quiet">${reader.text('match.same')}</span>`)
      : state('warn', html`${value} <span class="quiet">${reader.text('match.differs')}</span>`);
  };
  const reasons = ({ findings }: ScoredCandidate): Markup =>
    findings.map((finding) => html`<div>${reasonText(finding, reader.language)}</div>`);
  const company = ({ company: number, ended, successor }: ScoredCandidate): Markup =>
    html`<a href=${companyAddress(companyEntityId(number))}>${number}</a>
      ${ended !== null && state('bad', reader.text('match.ended', { day: ended }))}
      ${successor !== null && html` <span class="quiet">${reader.text('match.successor', { number: successor })}</span>`}`;
  const isTold = (part: ShownPart): boolean =>
    Boolean(record[part]) || candidates.some(({ company: number }) => partOf(part, entries.get(number)) !== null);
  return table({
    label: reader.text('nav.match'),
    columns: [
      reader.text('match.part'),
      reader.text('match.record'),
      ...candidates.map(({ name }, at) => `${at + 1}. ${name}`),
    ],
    rows: [
      [reader.text('match.number'), record.number, ...candidates.map(company)],
      ...SHOWN_PARTS.filter(isTold).map((part) => [
        reader.text(`match.${part}`),
        record[part],
        ...candidates.map((candidate) => (part === 'name' ? nameOf(candidate, entries) : compared(part, candidate))),
      ]),
      [reader.text('match.score'), null, ...candidates.map(({ score }) => reader.number(score))],
      [reader.text('match.reasons'), null, ...candidates.map(reasons)],
    ],
  });
}

/** With its other names; how names agree is among the reasons. */
const nameOf = ({ company, name }: ScoredCandidate, entries: ReadonlyMap<string, IndexEntry>): Markup =>
  html`${name}${(entries.get(company)?.otherNames ?? []).map((other) => html`<div class="quiet">${other}</div>`)}`;

/** The answers, each with its key; for viewers the comparison alone. */
function answerForm(visit: Visit, found: UndecidedMatch, shown: VNode): Markup {
  const { reader, visitor, formToken } = visit;
  const later = html`<a href=${behind(found)} data-key="l">${reader.text('match.later')}</a>`;
  if (!includesRole(visitor.role, 'operator')) return html`${shown}<p class="actions">${later}</p>`;
  const { provider, recordId, candidates } = found;
  const carried = hidden({ [FORM_TOKEN]: formToken, provider, record: recordId, sight: matchSight(found) });
  // Two forms: Enter in the field must not press the first button of the other one.
  return html`${shown}
    <form method="post" action="/match/answers">
      ${carried}
      <p class="actions">
        ${candidates.map(
          ({ company }, at) =>
            html`<button name="company" value=${company} data-key=${String(at + 1)} class=${at === 0 ? 'primary' : undefined}>
              ${reader.text('match.accept', { number: company })}
            </button>`,
        )}
        <button name="company" value="none" data-key="n">${reader.text('match.none')}</button>
        ${later}
      </p>
      <p class="quiet">${reader.text('match.keys')}</p>
    </form>
    <form method="post" action="/match/answers" class="narrow form">
      ${carried}
      <label for="other">${reader.text('match.other')}</label>
      <input id="other" name="other" inputmode="numeric" autocomplete="off" required />
      <p class="actions">
        <button name="company" value="other">${reader.text('match.acceptOther')}</button>
      </p>
    </form>`;
}
