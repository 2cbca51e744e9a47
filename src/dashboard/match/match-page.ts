/** Records without a number, one at a time: the record beside the companies it may mean. */
import { countUndecided, nextUndecided, readUndecided } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { readIndexState } from '../../match/index/state.ts';
import { matchRecords } from '../../operations/run-requests.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { runAddress } from '../addresses/addresses.ts';
import { readPlace } from '../addresses/match.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage } from '../routes/routes.ts';
import { addMatchAnswers } from './answers.ts';
import { recordPage } from './record-page.ts';
import { addTakeBack, answerNotice } from './take-back.ts';

const RUN = '/match/run';
/** To count further takes long, and tells a person no more. */
const COUNTED = 1_000;

/** Adds the page, and the action that answers. */
export function addMatch(app: Server, deps: CompanyDeps): void {
  addMatchAnswers(app, deps);
  addTakeBack(app, deps);
  addForm(app, deps, matchRecords, {
    path: RUN,
    input: (_visit, fields) => ({ provider: fieldValue(fields, 'provider') }),
    next: (_visit, { id }) => runAddress(id),
  });
  addPage(app, deps, {
    path: '/match',
    async show(visit) {
      const { reader, query } = visit;
      const { db } = deps.store;
      const place = readPlace(query('after'));
      const asked = readPlace(query('at'));
      const found = (asked && (await readUndecided(db, asked))) ?? (await nextUndecided(db, place));
      const title = reader.text('nav.match');
      const answered = place && (await answerNotice(deps, visit, place));
      if (found === undefined)
        return {
          title,
          body: html`${answered} ${await nothing(deps, visit, place !== undefined)} ${await runForms(deps, visit)}`,
        };
      const count = await countUndecided(db, COUNTED + 1);
      const left = reader.text(count > COUNTED ? 'match.more' : 'match.left', { count: Math.min(count, COUNTED) });
      return {
        title,
        body: html`${answered}
          <p>${reader.text('match.help')} <span class="quiet">${left}</span></p>
          ${await recordPage(deps, visit, found)} ${await runForms(deps, visit)}`,
      };
    },
  });
}

/** Has the daemon look for the companies of a connection's records without a number. */
async function runForms({ store, crms }: CompanyDeps, { reader, visitor, formToken }: Visit): Promise<Markup> {
  const ready = (await readIndexState(store.db))?.phase === 'ready';
  if (!ready || !includesRole(visitor.role, 'operator')) return null;
  return crms.map(
    ({ name, match }) =>
      match !== undefined &&
      html`<form method="post" action=${RUN} class="actions">
        ${hidden({ [FORM_TOKEN]: formToken, provider: name })}
        <button>${reader.text('match.run', { name })}</button> <span class="quiet">${reader.text('match.runHelp')}</span>
      </form>`,
  );
}

async function nothing({ store }: CompanyDeps, { reader }: Visit, isBehind: boolean): Promise<Markup> {
  if (isBehind)
    return html`<p>${reader.text('match.end')}</p><p><a href="/match">${reader.text('match.beginning')}</a></p>`;
  const index = await readIndexState(store.db);
  return html`<p>${reader.text('match.nothing')}</p>
    ${index === undefined && html`<p class="notice">${reader.text('match.noIndex')}</p>`}`;
}
