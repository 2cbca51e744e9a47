/** Records without a number, one at a time: the record beside the companies it may mean. */
import { countUndecided, nextUndecided, readUndecided } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { readIndexState } from '../../match/index/state.ts';
import { readPlace } from '../addresses/match.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { html, type Markup } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import { addPage } from '../routes/routes.ts';
import { addMatchAnswers } from './answers.ts';
import { recordPage } from './record-page.ts';
import { addTakeBack, answerNotice } from './take-back.ts';

/** To count further takes long, and tells a person no more. */
const COUNTED = 1_000;

/** Adds the page, and the action that answers. */
export function addMatch(app: Server, deps: CompanyDeps): void {
  addMatchAnswers(app, deps);
  addTakeBack(app, deps);
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
        return { title, body: html`${answered} ${await nothing(deps, visit, place !== undefined)}` };
      const count = await countUndecided(db, COUNTED + 1);
      const left = reader.text(count > COUNTED ? 'match.more' : 'match.left', { count: Math.min(count, COUNTED) });
      return {
        title,
        body: html`${answered}
          <p>${reader.text('match.help')} <span class="quiet">${left}</span></p>
          ${await recordPage(deps, visit, found)}`,
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
