/** One company's page: what it is, what each CRM holds, how it came to be so. */
import type { VNode } from 'preact';
import type { Crm } from '../../connector/crm/crm.ts';
import { ALL_PROPERTIES } from '../../connector/decide/override.ts';
import { readCurrent } from '../../connector/explain/current.ts';
import { readTimeline, type Timeline } from '../../connector/explain/timeline.ts';
import type { Server } from '../../http/server/server.ts';
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { addPage, type RouteDeps, type Visit } from '../routes.ts';
import { type ComparedRecord, comparison } from './comparison.ts';
import { history } from './history.ts';
import { companyAddress, linkState } from './search.ts';
import { fieldOfProperty, shownFact, shownProperty } from './shown-value.ts';

/** What the page reads from. */
export interface CompanyDeps extends RouteDeps {
  readonly crms: readonly Crm[];
  /** The event that mail addresses come as. */
  readonly emailEvent: string;
}

/** A page does not wait longer for a CRM. */
const CRM_LIMIT_MS = 3_000;
const SHOWN = 50;
const MOST_SHOWN = 1_000;
/** A company with more records than this is no longer read live for all of them. */
const MOST_RECORDS = 5;

/** Adds the page. */
export function addCompany(app: Server, deps: CompanyDeps): void {
  const { store, emailEvent } = deps;
  addPage(app, deps, {
    path: '/companies/:entity',
    async show(visit) {
      const entity = canonicalEntityId(visit.param('entity'));
      if (entity === undefined) return undefined;
      const { reader, now, visitor } = visit;
      const limit = Math.min(Number(/^\d{1,4}$/.exec(visit.query('limit'))?.[0] ?? SHOWN), MOST_SHOWN);
      const timeline = await readTimeline(store.db, entity, { now, emailEvent, limit });
      if (timeline === undefined) return undefined;
      const spectator = { reader, role: visitor.role };
      const records = await readRecords(deps, timeline);
      return {
        title: titleOf(reader, timeline),
        body: html`<p><code>${entity}</code></p>
          ${section(reader.text('company.values'), comparison(spectator, timeline.facts, records))}
          ${section(reader.text('company.links'), links(visit, timeline))}
          ${timeline.lanes.length > 0 && section(reader.text('company.lanes'), lanes(visit, timeline))}
          ${timeline.overrides.length > 0 && section(reader.text('company.overrides'), overrides(reader, timeline))}
          ${timeline.setAside.length > 0 && section(reader.text('company.setAside'), setAside(deps, visit, timeline))}
          ${section(reader.text('company.timeline'), history(spectator, timeline))}
          ${isCut(timeline, limit) && html`<p><a href=${`${companyAddress(entity)}?limit=${Math.min(limit * 4, MOST_SHOWN)}`}>${reader.text('company.more')}</a></p>`}`,
      };
    },
  });
}

const section = (title: string, body: Markup): VNode => html`<section><h2>${title}</h2>${body}</section>`;

const isCut = ({ receipts, history: decisions }: Timeline, limit: number): boolean =>
  limit < MOST_SHOWN && (receipts.length >= limit || decisions.length >= limit);

/** A company's name names no person, whatever it is made of: the register publishes it. */
function titleOf(reader: Reader, { entity, facts }: Timeline): string {
  const name = facts.find(({ field }) => field === 'name');
  return (name && shownFact({ reader, role: 'admin' }, 'name', name.value)) ?? entity;
}

/** What the linked records hold now, all read at once. */
function readRecords(deps: CompanyDeps, timeline: Timeline): Promise<readonly ComparedRecord[]> {
  const active = timeline.links.filter((link) => link.state === 'active').slice(0, MOST_RECORDS);
  return Promise.all(
    active.flatMap(({ provider, record }) => {
      const crm = deps.crms.find(({ name }) => name === provider);
      if (crm === undefined) return [];
      return readCurrent(deps, crm, record, CRM_LIMIT_MS).then((current) => ({ provider, record, current }));
    }),
  );
}

function links({ reader, now }: Visit, { entity, links: all }: Timeline): Markup {
  if (all.length === 0) return html`<p class="quiet">${reader.text('company.noLinks', { entity })}</p>`;
  const columns = ['record', 'state', 'monitoring', 'synced'] as const;
  return table({
    label: reader.text('company.links'),
    columns: columns.map((column) => reader.text(`company.${column}`)),
    rows: all.map((link) => [
      recordName(link),
      html`${state(signOf(link.state), linkState(reader, link.state))}
        ${link.reason !== null && html`<div class="quiet" lang="en">${link.reason}</div>`}`,
      html`${reader.text('company.desired', { desired: link.desired, observed: link.observed })}
        ${link.observedError !== null && html`<div class="quiet" lang="en">${link.observedError}</div>`}`,
      link.syncedAt === null ? reader.text('company.never') : timeOf(reader, link.syncedAt, now),
    ]),
  });
}

const signOf = (link: string): 'ok' | 'bad' | 'idle' =>
  link === 'active' ? 'ok' : link === 'conflict' ? 'bad' : 'idle';

const recordName = ({ provider, record }: { readonly provider: string; readonly record: string }): VNode =>
  html`<span>${provider} <code>${record}</code></span>`;

const LANE_SIGNS = { parked: 'bad', running: 'ok', due: 'idle', waiting: 'idle' } as const;

function lanes({ reader, now }: Visit, { lanes: all }: Timeline): VNode {
  return html`<ul class="lines">
    ${all.map(
      ({ queue, key, state: is, dueAt, since, error }) => html`<li>
        ${state(LANE_SIGNS[is], reader.text(`lane.${is}`))} <code>${queue} ${key}</code>,
        ${is === 'waiting' && dueAt !== null ? html`${reader.text('company.until')} ${timeOf(reader, dueAt)}` : timeOf(reader, since, now)}
        ${error !== null && html`<div class="quiet" lang="en">${error}</div>`}
      </li>`,
    )}
  </ul>`;
}

const overrides = (reader: Reader, { overrides: all }: Timeline): VNode => html`<ul class="lines">
  ${all.map(
    (each) => html`<li>
      ${recordName(each)}
      ${each.property === ALL_PROPERTIES ? reader.text('company.allProperties') : html`<code>${each.property}</code>`}:
      ${reader.text(`override.${each.kind}`)}
      ${each.until !== null && html` ${reader.text('company.until')} ${timeOf(reader, each.until)}`}
      <span class="quiet"> ${timeOf(reader, each.createdAt)} ${each.reason}</span>
    </li>`,
  )}
</ul>`;

const setAside = (
  { crms }: CompanyDeps,
  { reader, visitor }: Visit,
  { setAside: all }: Timeline,
): VNode => html`<ul class="lines">
  ${all.map(
    (each) => html`<li>
      ${recordName(each)} <code>${each.property}</code>: 
      ${shownProperty({ reader, role: visitor.role }, fieldOfProperty(crms, each.provider, each.property), each.value)}
      <div class="quiet" lang="en">${each.reason}</div>
    </li>`,
  )}
</ul>`;
