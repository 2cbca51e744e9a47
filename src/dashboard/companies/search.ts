import type { VNode } from 'preact';
import type { Crm } from '../../connector/crm/crm.ts';
import { type FoundCompany, findCompanies } from '../../connector/explain/find-company.ts';
import type { Server } from '../../http/server/server.ts';
import { entityIdIn, isMistyped } from '../../protocol/cvr-number.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { html, type Markup } from '../page/html.ts';
import { table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';

const SHOWN = 50;

/** Adds the page. A number, a record's id or its address leads directly to the company, if there is only one. */
export function addSearch(app: Server, deps: RouteDeps & { readonly crms: readonly Crm[] }): void {
  addPage(app, deps, {
    path: '/companies',
    async show(visit) {
      const { reader, query } = visit;
      const text = query('q').slice(0, 500);
      const { exact, companies } = await findCompanies(deps.store.db, deps.crms, { text, limit: SHOWN });
      const [first, second] = companies;
      if (exact && first !== undefined && second === undefined) return companyAddress(first.entity);
      return {
        title: reader.text('nav.companies'),
        body: html`<form class="filters" action="/companies" role="search">
            <div class="wide">
              <label for="q">${reader.text('companies.search')}</label>
              <input id="q" name="q" type="search" value=${text} autofocus=${text === ''} />
            </div>
            <button class="primary">${reader.text('companies.submit')}</button>
          </form>
          ${results(visit, text, companies)}`,
      };
    },
  });
}

function results({ reader, visitor }: Visit, text: string, found: readonly FoundCompany[]): Markup {
  if (text.trim() === '') return html`<p class="quiet">${reader.text('companies.help')}</p>`;
  if (found.length === 0) {
    const entity = entityIdIn(text);
    const link = entity !== undefined && includesRole(visitor.role, 'operator') && `${companyAddress(entity)}/link`;
    return html`<p>${reader.text('companies.none')}</p>
      ${entity !== undefined && isMistyped(entity) && html`<p class="notice bad">${reader.text('link.mistyped')}</p>`}
      ${link && html`<p><a href=${link}>${reader.text('companies.link', { entity })}</a></p>`}`;
  }
  const columns = ['name', 'entity', 'records'] as const;
  return table({
    label: reader.text('nav.companies'),
    columns: columns.map((column) => reader.text(`companies.${column}`)),
    rows: found.map((company) => [
      html`<a href=${companyAddress(company.entity)}>${company.name ?? company.entity}</a>`,
      html`<code>${company.entity}</code>`,
      company.links.map((link) => recordOf(reader, link)),
    ]),
  });
}

const recordOf = (reader: Reader, { provider, recordId, state }: FoundCompany['links'][number]): VNode =>
  html`<div>
    ${provider} <code>${recordId}</code>
    ${state !== 'active' && html`<span class="quiet"> ${linkState(reader, state)}</span>`}
  </div>`;

const LINK_STATES = ['active', 'gone', 'merged', 'removed', 'conflict'] as const;

export function linkState(reader: Reader, state: string): string {
  const known = LINK_STATES.find((each) => each === state);
  return known === undefined ? state : reader.text(`link.${known}`);
}
