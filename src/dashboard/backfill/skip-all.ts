/** Skips all records of a plan that match a filter, after showing how many they are. */
import { countToSkip, skipAll } from '../../connector/backfill/plan/skip-all.ts';
import { planRevision, readRun } from '../../connector/backfill/rows/progress.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { notFoundPage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import {
  type BackfillPageDeps,
  backfillAddress,
  crmOf,
  type PlanPlace,
  placeAddress,
  placeFields,
  readPlace,
} from './filter.ts';

const pathOf = (name: string): string => backfillAddress(name, '/skip');

/** Links to the page, from a filtered list. */
export const skipAllLink = ({ reader }: Visit, name: string, place: PlanPlace): Markup =>
  html`<a href=${`${pathOf(name)}?${new URLSearchParams(placeFields(place))}`}>${reader.text('skip.way')}</a>`;

export function addSkipAll(app: Server, deps: BackfillPageDeps): void {
  const path = '/backfill/:name/skip';
  addPage(app, deps, {
    path,
    role: 'operator',
    async show(visit) {
      const crm = crmOf(deps, visit);
      return crm && askPage(deps, visit, { crm, place: readPlace(visit.query) });
    },
  });
  addAction(app, deps, {
    path,
    async run(visit, fields) {
      const crm = crmOf(deps, visit);
      if (crm === undefined) return notFoundPage(visit.reader);
      const place = readPlace((name) => fieldValue(fields, name));
      const { actor } = visit.visitor;
      const asked = { provider: crm.name, filter: place.filter, revision: fieldValue(fields, 'revision'), actor };
      const result = await skipAll(deps, asked);
      if (result === 'done') return placeAddress(crm.name, { ...place, after: 0 });
      const why = html`<p class="notice warn" role="alert">${visit.reader.text(`skip.${result}`)}</p>`;
      return { ...(await askPage(deps, visit, { crm, place, why })), status: 409 };
    },
  });
}

async function askPage(
  { store }: BackfillPageDeps,
  visit: Visit,
  { crm: { name }, place, why }: { readonly crm: Crm; readonly place: PlanPlace; readonly why?: Markup },
): Promise<PageBody> {
  const { reader } = visit;
  const revision = planRevision(await readRun(store.db, name));
  const count = await countToSkip(store.db, name, place.filter);
  return confirmationPage(visit, {
    title: reader.text('skip.title'),
    help: html`${why}
      <p>${reader.text('skip.count', { count })}</p>
      <p class="quiet">${reader.text('skip.help')}</p>`,
    action: pathOf(name),
    fields: { revision, ...placeFields(place) },
    submit: reader.text('skip.submit', { count }),
    back: placeAddress(name, place),
  });
}
