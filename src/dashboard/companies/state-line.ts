/** The line that says whether a company's records hold the register's values, with links to both. */
import type { VNode } from 'preact';
import type { Timeline } from '../../connector/explain/timeline.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { entityUrl } from '../../service/news/wording/make.ts';
import { html, type Markup } from '../page/html.ts';
import { state } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { CompanyDeps } from './company-deps.ts';
import { countApart } from './comparison.ts';
import { recordLink } from './record-link.ts';
import type { ComparedRecord } from './values/verdict.ts';

/** The register's pages for people. */
const REGISTER_SITE = 'https://datacvr.virk.dk';

export async function stateLine(
  deps: CompanyDeps,
  reader: Reader,
  timeline: Timeline,
  records: readonly ComparedRecord[],
): Promise<VNode> {
  const { entity, links } = timeline;
  const places: Markup[] = [];
  for (const { provider, record, state: is } of links)
    if (is === 'active' || is === 'conflict') places.push(await recordLink(deps, { provider, recordId: record }));
  const isListed = ['company', 'productionUnit', 'person'].includes(parseEntityId(entity)?.kind ?? '');
  if (isListed)
    places.push(
      html`<a href=${entityUrl(REGISTER_SITE, entity)} rel="noreferrer">${reader.text('company.registerPage')}</a>`,
    );
  return html`<p class="actions">
    ${stateOf(reader, timeline, records)} <code>${entity}</code> ${places.map((place) => html`<span>${place}</span>`)}
  </p>`;
}

/** The most urgent fact about the company. */
function stateOf(reader: Reader, { links, lanes, facts }: Timeline, records: readonly ComparedRecord[]): VNode {
  const kinds = records.map(({ current }) => current.kind);
  if (links.some((link) => link.state === 'conflict') || kinds.includes('contested'))
    return state('bad', reader.text('company.is.conflict'));
  if (lanes.some((lane) => lane.state === 'parked')) return state('bad', reader.text('company.is.failed'));
  if (!links.some((link) => link.state === 'active')) return state('idle', reader.text('company.is.unlinked'));
  const { apart, staying } = countApart(records);
  const behind = apart - staying;
  if (kinds.some((kind) => kind === 'silent' || kind === 'gone' || kind === 'moved'))
    return state('warn', reader.text('company.is.unread'));
  if (facts.length === 0) return state('idle', reader.text('company.is.unknown'));
  if (behind > 0) return state('warn', reader.text('company.is.behind', { count: behind }));
  if (staying > 0) return state('idle', reader.text('company.is.apart', { count: staying }));
  return state('ok', reader.text('company.is.same'));
}
