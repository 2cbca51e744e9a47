/** One record without a number, next to the companies that it may mean, with the answers. */
import type { VNode } from 'preact';
import { agrees, partOf, SHOWN_PARTS, type ShownPart } from '../../connector/match/parts.ts';
import { ruleText } from '../../connector/match/rule.ts';
import type { UndecidedMatch } from '../../connector/match/undecided.ts';
import { revisionOf } from '../../connector/names/revision.ts';
import type { ScoredCandidate } from '../../match/decide/confidence.ts';
import type { IndexEntry } from '../../match/describe/entry.ts';
import { reasonText } from '../../match/evidence/weights.ts';
import { readEntries } from '../../match/index/write.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Db } from '../../store/store.ts';
import { companyAddress } from '../addresses/addresses.ts';
import type { GoingOn } from '../addresses/inbox.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { type CompanyHolders, readHolders } from '../companies/holders.ts';
import { recordLink } from '../companies/record-link.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import { noDefaultAnswer, state, table } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';

export async function matchRecord(deps: CompanyDeps, visit: Visit, found: UndecidedMatch, on: GoingOn): Promise<VNode> {
  const { db } = deps.store;
  const numbers = found.candidates.map(({ company }) => company);
  const entries = await readEntries(db, numbers);
  const holders = await heldBy(db, found);
  return html`<p>${await recordLink(deps, found)}: ${ruleText(found, visit.reader.language)}</p>
    ${answerForm(visit, found, { shown: comparison(visit, found, { entries, holders }), revision: revisionIn(found, holders), holders, on })}`;
}

/** A digest of what a person saw of a match. An answer to an older one is refused. */
export const matchRevision = async (db: Db, found: UndecidedMatch): Promise<string> =>
  revisionIn(found, await heldBy(db, found));

const revisionIn = ({ record, candidates }: UndecidedMatch, holders: CompanyHolders): string =>
  revisionOf(
    JSON.stringify(record),
    ...candidates.map(({ company, score }) => `${company} ${score}`),
    JSON.stringify([...holders]),
  );

const heldBy = (db: Db, { provider, candidates }: UndecidedMatch): Promise<CompanyHolders> =>
  readHolders(
    db,
    provider,
    candidates.map(({ company }) => companyEntityId(company)),
  );

interface Beside {
  readonly entries: ReadonlyMap<string, IndexEntry>;
  readonly holders: CompanyHolders;
}

/** A column for the record and one for each company, with the agreements and differences. */
function comparison({ reader }: Visit, { record, candidates }: UndecidedMatch, { entries, holders }: Beside): VNode {
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
  const company = ({ company: number, ended, successor }: ScoredCandidate): Markup => {
    const held = holders.get(companyEntityId(number));
    return html`<a href=${companyAddress(companyEntityId(number))}>${number}</a>
      ${ended !== null && state('bad', reader.text('match.ended', { day: ended }))}
      ${successor !== null && html` <span class="quiet">${reader.text('match.successor', { number: successor })}</span>`}
      ${held && html`<div>${state('warn', reader.text('match.held', { records: held.join(', ') }))}</div>`}`;
  };
  const isTold = (part: ShownPart): boolean =>
    Boolean(record[part]) || candidates.some(({ company: number }) => partOf(part, entries.get(number)) !== null);
  return table({
    label: reader.text('match.title'),
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

/** With its other names, because the reasons mention them. */
const nameOf = ({ company, name }: ScoredCandidate, entries: ReadonlyMap<string, IndexEntry>): Markup =>
  html`${name}${(entries.get(company)?.otherNames ?? []).map((other) => html`<div class="quiet">${other}</div>`)}`;

interface Shown {
  readonly shown: VNode;
  readonly revision: string;
  readonly holders: CompanyHolders;
  readonly on: GoingOn;
}

/** The answers with their keys; nothing for viewers. */
function answerForm(
  { reader, visitor, formToken }: Visit,
  { provider, recordId, candidates }: UndecidedMatch,
  { shown, revision, holders, on }: Shown,
): Markup {
  if (!includesRole(visitor.role, 'operator')) return shown;
  const carried = hidden({ [FORM_TOKEN]: formToken, provider, record: recordId, revision, ...on });
  // Somebody rarely wants a second record of a company: that answer needs a click, and is not prominent.
  const isFree = ({ company }: ScoredCandidate): boolean => !holders.has(companyEntityId(company));
  const best = candidates.find(isFree);
  // Two forms, so that Enter in the field does not press the first button of the other form.
  return html`${shown}
    <form method="post" action="/inbox/match">
      ${carried} ${noDefaultAnswer()}
      <p class="actions">
        ${candidates.map(
          (each, index) =>
            html`<button name="company" value=${each.company} data-key=${isFree(each) ? String(index + 1) : undefined} class=${each === best ? 'primary' : undefined}>
              ${reader.text('match.accept', { number: each.company })}
              ${isFree(each) && html` <kbd aria-hidden="true">${index + 1}</kbd>`}
            </button>`,
        )}
        <button name="company" value="none" data-key="n">${reader.text('match.none')} <kbd aria-hidden="true">n</kbd></button>
      </p>
      <p class="quiet">${reader.text('match.help')}</p>
    </form>
    <form method="post" action="/inbox/match" class="narrow form">
      ${carried}
      <label for="other">${reader.text('match.other')}</label>
      <input id="other" name="other" inputmode="numeric" autocomplete="off" required />
      <p class="actions">
        <button name="company" value="other">${reader.text('match.seeOther')}</button>
      </p>
    </form>`;
}
