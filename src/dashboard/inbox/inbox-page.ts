/** The inbox: the list of entries that need a person, and one of them in a panel. */

import type { VNode } from 'preact';
import { readUndecided } from '../../connector/match/undecided.ts';
import { findDifference, type InboxEntry, readInbox } from '../../connector/review/inbox.ts';
import { readReviewId } from '../../connector/review/review-kinds.ts';
import { REVIEW } from '../../connector/review/review-task.ts';
import type { Server } from '../../http/server/server.ts';
import { readIndexState } from '../../match/index/state.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { listRuns } from '../../runtime/runs/runs.ts';
import type { Db } from '../../store/store.ts';
import { type InboxTexts, inboxAddress, placeText, readInboxFilter, readPlace } from '../addresses/inbox.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { html, type Markup } from '../page/html.ts';
import { keySwitch } from '../page/key-switch.ts';
import type { Visit } from '../page/visit.ts';
import { addPage } from '../routes/routes.ts';
import { recentRuns } from '../routes/run-list.ts';
import { addAnswers } from './answers.ts';
import { addCopies } from './copy-page.ts';
import { entryList } from './entry-list.ts';
import { entryPanel } from './entry-panel.ts';
import { addReviewExport } from './export.ts';
import { facets } from './facets.ts';
import { addFormerAddresses } from './former-addresses.ts';
import { addMatchAnswers } from './match-answers.ts';
import { addMatchRun, matchRunForms } from './match-run.ts';
import { ANSWERED, addTakeBack, answeredNotice } from './take-back.ts';
import { addReviewUpload } from './upload.ts';

const SHOWN = 50;

export function addInbox(app: Server, deps: CompanyDeps): void {
  addAnswers(app, deps);
  addTakeBack(app, deps);
  addReviewExport(app, deps);
  addCopies(app, deps);
  addFormerAddresses(app, deps);
  if (deps.halves.connector) {
    // The file of answers has no entries of the service.
    addReviewUpload(app, deps);
    addMatchAnswers(app, deps);
    addMatchRun(app, deps);
  }
  addPage(app, deps, {
    path: '/inbox',
    async show(visit) {
      const { reader, query } = visit;
      const filter = readInboxFilter(query);
      const list = inboxAddress(filter, { after: query('after') });
      return {
        title: reader.text('nav.inbox'),
        body: html`${await answeredNotice(deps, visit, list)}
          <p>${reader.text('review.help')}</p>
          ${await facets(deps, visit, filter)} ${await entries(deps, visit, filter, list)}
          ${filter.kind === 'match' && deps.halves.connector && (await matchRunForms(deps, visit))}
          ${await recentAnswers(deps.store.db, visit)}
          <p class="actions">
            <a href=${ANSWERED}>${reader.text('takeBack.answered')}</a>
            <a href=${inboxAddress(filter, {}, '/inbox.csv')} download>${reader.text('list.csv')}</a>
            ${deps.halves.connector && includesRole(visit.visitor.role, 'operator') && html`<a href="/inbox/upload">${reader.text('answers.upload')}</a>`}
          </p>`,
      };
    },
  });
}

async function entries(deps: CompanyDeps, visit: Visit, filter: InboxTexts, address: string): Promise<Markup> {
  const { reader, query, now } = visit;
  const { db } = deps.store;
  const page = await readInbox(db, now, { ...filter, after: readPlace(query('after')) }, SHOWN);
  const asked = query('at') === '' ? undefined : await findEntry(deps, visit, page.entries, query('at'));
  const current = asked ?? page.entries[0];
  if (current === undefined) return nothing(deps, visit, filter);
  const at = page.entries.findIndex(({ id }) => id === current.id);
  const on = { back: address, next: (page.entries[at + 1] ?? page.entries[at - 1])?.id };
  const shown = { ...page, filter, address, current: current.id, isChosen: query('chosen') === 'page' };
  return html`<div class="inbox">
      <div>${await entryList(deps, visit, shown)} ${pager(visit, filter, page.next && placeText(page.next))}</div>
      ${await entryPanel(deps, visit, current, on)}
    </div>
    <p class="quiet">${reader.text('inbox.keys')}</p>
    ${keySwitch(reader)}`;
}

/** The entry that an address names, on this page or another one. */
async function findEntry(
  { store: { db } }: CompanyDeps,
  { now }: Visit,
  listed: readonly InboxEntry[],
  id: string,
): Promise<InboxEntry | undefined> {
  const found = listed.find((each) => each.id === id) ?? (await findDifference(db, now, id));
  if (found !== undefined) return found;
  const named = readReviewId(id);
  if (named?.kind !== 'match') return undefined;
  const [provider, recordId] = named.parts;
  const match = await readUndecided(db, { provider, recordId });
  const about = `${provider}:${recordId} ${match?.record.name ?? ''}`.trimEnd();
  return match && { id, kind: 'match', about, reason: '', since: null, advice: '', decides: true, verbs: [] };
}

async function nothing({ store, halves }: CompanyDeps, { reader, query }: Visit, { kind }: InboxTexts): Promise<VNode> {
  if (readPlace(query('after')) !== undefined)
    return html`<p>${reader.text('inbox.end')} <a href=${inboxAddress({ kind })}>${reader.text('review.first')}</a></p>`;
  if (kind === undefined) return html`<p>${reader.text('review.nothing')}</p>`;
  if (kind !== 'match' || !halves.connector) return html`<p>${reader.text('review.noMatch')}</p>`;
  const index = await readIndexState(store.db);
  return html`<p>${reader.text('match.nothing')}</p>
    ${index === undefined && html`<p class="notice">${reader.text('match.noIndex')}</p>`}`;
}

const pager = (
  { reader, query }: Visit,
  filter: InboxTexts,
  next: string | undefined,
): VNode => html`<p class="actions">
  ${query('after') !== '' && html`<a href=${inboxAddress(filter)}>${reader.text('review.first')}</a>`}
  ${next !== undefined && html`<a rel="next" href=${inboxAddress(filter, { after: next })}>${reader.text('review.next')}</a>`}
</p>`;

const RECENT = 5;

/** The latest answers to all entries of a filter. */
async function recentAnswers(db: Db, visit: Visit): Promise<Markup> {
  const { reader } = visit;
  const runs = await listRuns(db, { task: REVIEW.queue }, RECENT);
  const name = ({ id }: { readonly id: number }): string => reader.text('answers.title', { id: String(id) });
  return recentRuns(visit, { title: reader.text('answers.recent'), task: REVIEW.queue }, runs, name);
}
