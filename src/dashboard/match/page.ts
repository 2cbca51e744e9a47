/** Records without a number, one at a time: the record beside the companies it may mean. */
import { companyNames } from '../../connector/explain/company-names.ts';
import { findLink } from '../../connector/links/links.ts';
import { readRejections } from '../../connector/match/results.ts';
import { countUndecided, type MatchPlace, nextUndecided, readUndecided } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { readIndexState } from '../../match/index/state.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { companyAddress } from '../companies/search.ts';
import { html, type Markup } from '../page/html.ts';
import { addPage, type Visit } from '../routes.ts';
import { addMatchAnswers } from './answers.ts';
import { readPlace } from './place.ts';
import { recordPage } from './record-page.ts';

/** To count further takes long, and tells a person no more. */
const COUNTED = 1_000;

/** Adds the page, and the action that answers. */
export function addMatch(app: Server, deps: CompanyDeps): void {
  addMatchAnswers(app, deps);
  addPage(app, deps, {
    path: '/match',
    async show(visit) {
      const { reader, query } = visit;
      const { db } = deps.store;
      const place = readPlace(query('after'));
      const found = await nextUndecided(db, place);
      const title = reader.text('nav.match');
      const answered = place && (await answer(deps, visit, place));
      if (found === undefined)
        return { title, body: html`${answered} ${await nothing(deps, visit, place !== undefined)}` };
      const count = await countUndecided(db, COUNTED + 1);
      const left = reader.text(count > COUNTED ? 'match.more' : 'match.left', { count: Math.min(count, COUNTED) });
      return {
        title,
        body: html`${answered}
          <p>${reader.text('match.help')} <span class="quiet">${left}</span></p>
          ${await recordPage(db, visit, found)}`,
      };
    },
  });
}

/** What was answered for the record before; nothing where it was left for later. */
async function answer({ store: { db } }: CompanyDeps, { reader }: Visit, place: MatchPlace): Promise<Markup> {
  const { provider, recordId } = place;
  const link = await findLink(db, place);
  const rejected = [...((await readRejections(db, provider, [recordId])).get(recordId) ?? [])];
  const entities = link?.state === 'active' ? [link.entity] : rejected;
  if (entities.length === 0 || (await readUndecided(db, place)) !== undefined) return null;
  const names = await companyNames(db, entities);
  const companies = entities.map(
    (entity, at) => html`${at > 0 && ', '}<a href=${companyAddress(entity)}>${names.get(entity) ?? entity}</a>`,
  );
  const answered = reader.text(link?.state === 'active' ? 'match.linked' : 'match.rejected');
  return html`<p class="notice ok" role="status">${provider} <code>${recordId}</code> ${answered} ${companies}</p>`;
}

async function nothing({ store }: CompanyDeps, { reader }: Visit, isBehind: boolean): Promise<Markup> {
  if (isBehind)
    return html`<p>${reader.text('match.end')}</p><p><a href="/match">${reader.text('match.beginning')}</a></p>`;
  const index = await readIndexState(store.db);
  return html`<p>${reader.text('match.nothing')}</p>
    ${index === undefined && html`<p class="notice">${reader.text('match.noIndex')}</p>`}`;
}
