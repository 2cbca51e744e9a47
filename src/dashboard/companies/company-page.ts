/** A company's page: its values, the values of each CRM, and its history. */

import type { VNode } from 'preact';
import type { Crm } from '../../connector/crm/crm.ts';
import { readCurrent } from '../../connector/explain/current.ts';
import { readKnown } from '../../connector/explain/known.ts';
import { readTimeline, type Timeline, type TimelineOverride } from '../../connector/explain/timeline.ts';
import type { TimelineLink } from '../../connector/explain/timeline-links.ts';
import { ALL_PROPERTIES } from '../../connector/overrides/override.ts';
import type { Server } from '../../http/server/server.ts';
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addPage } from '../routes/routes.ts';
import { type CompanyDeps, CRM_LIMIT_MS } from './company-deps.ts';
import { comparison } from './comparison.ts';
import { history } from './history.ts';
import { addLinkActions } from './link-actions.ts';
import { addOverrideActions } from './override-actions.ts';
import { placedText } from './placed-text.ts';
import { actionAddress, type RecordAction } from './record-action.ts';
import { recordLink } from './record-link.ts';
import { linkState } from './search.ts';
import { stateLine } from './state-line.ts';
import { fieldOfProperty, shownFact, shownProperty } from './values/shown-value.ts';
import type { ComparedRecord } from './values/verdict.ts';

const SHOWN = 30;
/** A page has at least this many entries, if there are that many. */
const LEAST = 10;
/** The most entries to read of the last moment. */
const MOST_READ = 2_560;
/** A page does not read the records of a company that has more. */
const MOST_RECORDS = 5;

export function addCompany(app: Server, deps: CompanyDeps): void {
  addOverrideActions(app, deps);
  addLinkActions(app, deps);
  addPage(app, deps, {
    path: '/companies/:entity',
    async show(visit) {
      const entity = canonicalEntityId(visit.param('entity'));
      if (entity === undefined) return undefined;
      const part = await readPart(deps, visit, entity);
      return part && companyPage(deps, visit, part);
    },
  });
}

/** A company with the part of its timeline that fits on a page. */
interface Part extends Timeline {
  /** The page shows everything later than this; undefined if it also shows everything older. */
  readonly after: number | undefined;
  /** Where the page begins; undefined for the newest. */
  readonly until: number | undefined;
}

/** Reads until the last moment is complete: a company's records are written together, in many decisions. */
async function readPart(deps: CompanyDeps, { now, query }: Visit, entity: string): Promise<Part | undefined> {
  const until = /^\d{1,15}$/.test(query('until')) ? Number(query('until')) : undefined;
  for (let limit = SHOWN; ; limit *= 2) {
    const timeline = await readTimeline(deps.store.db, entity, { ...deps, now, limit, until });
    if (timeline === undefined) return undefined;
    const after = cutOf(timeline, limit);
    if (after === undefined || countAfter(timeline, after) >= LEAST) return { ...timeline, after, until };
    if (limit >= MOST_READ) return { ...timeline, after: after - 1, until };
  }
}

/** The entries later than a moment; all decisions of one record at one time are one entry. */
function countAfter({ receipts, history: decisions, notes, actions }: Timeline, after: number): number {
  const later = <T extends { readonly at: number }>(some: readonly T[]): readonly T[] =>
    some.filter(({ at }) => at > after);
  const together = new Set(later(decisions).map(({ at, provider, record }) => `${at} ${provider} ${record}`));
  const events = receipts.filter(({ receivedAt }) => receivedAt > after);
  return events.length + together.size + later(notes).length + later(actions).length;
}

/** The last moment that may be incomplete. */
function cutOf({ receipts, history: decisions, notes, actions }: Timeline, limit: number): number | undefined {
  const ends = [
    ...(receipts.length < limit ? [] : [Math.min(...receipts.map(({ receivedAt }) => receivedAt))]),
    ...[decisions, notes, actions].flatMap((some) =>
      some.length < limit ? [] : [Math.min(...some.map(({ at }) => at))],
    ),
  ];
  return ends.length === 0 ? undefined : Math.max(...ends);
}

async function companyPage(deps: CompanyDeps, visit: Visit, part: Part): Promise<PageBody> {
  const { reader, visitor } = visit;
  const { entity, until, after } = part;
  const spectator = { ...visitor, reader };
  const address = companyAddress(entity);
  return {
    title: titleOf(reader, part),
    body: html`${until === undefined ? await standing(deps, visit, part) : html`<p><code>${entity}</code></p>`}
      ${section(reader.text('company.timeline'), history(spectator, part))}
      <p class="actions">
        ${until !== undefined && html`<a href=${address}>${reader.text('list.newest')}</a>`}
        ${after !== undefined && html`<a rel="next" href=${`${address}?until=${after}`}>${reader.text('list.older')}</a>`}
      </p>`,
  };
}

/** The current state of the company and its records. */
async function standing(deps: CompanyDeps, visit: Visit, timeline: Timeline): Promise<Markup> {
  const { reader, visitor } = visit;
  const records = await readRecords(deps, timeline);
  return html`${await stateLine(deps, reader, timeline, records)}
    ${section(reader.text('company.values'), comparison({ ...visitor, reader }, timeline, records))}
    ${section(reader.text('company.links'), await links(deps, visit, timeline))}
    ${timeline.lanes.length > 0 && section(reader.text('company.lanes'), lanes(visit, timeline))}
    ${timeline.overrides.length > 0 && section(reader.text('company.overrides'), overrides(visit, timeline))}
    ${timeline.setAside.length > 0 && section(reader.text('company.setAside'), setAside(deps, visit, timeline))}`;
}

const section = (title: string, body: Markup): VNode => html`<section><h2>${title}</h2>${body}</section>`;

/** A company's name counts as public, even if it names a person: the register publishes it. */
function titleOf(reader: Reader, { entity, facts }: Timeline): string {
  const name = facts.find(({ field }) => field === 'name');
  return (name && shownFact({ reader, role: 'admin', seesPersons: true }, 'name', name.value)) ?? entity;
}

/** The current values of the linked records, read all at once; for those that cannot be compared, the known values. */
function readRecords(deps: CompanyDeps, timeline: Timeline): Promise<readonly ComparedRecord[]> {
  const active = timeline.links.filter((link) => link.state === 'active').slice(0, MOST_RECORDS);
  return Promise.all(
    active.flatMap(({ provider, record: id }) => {
      const crm = deps.crms.find(({ name }) => name === provider);
      if (crm === undefined) return [];
      return readRecord(deps, crm, id);
    }),
  );
}

async function readRecord(deps: CompanyDeps, crm: Crm, id: string): Promise<ComparedRecord> {
  const current = await readCurrent(deps, crm, { id }, CRM_LIMIT_MS);
  const record = { provider: crm.name, recordId: id, current };
  const isOut = current.kind === 'silent' || current.kind === 'hold' || current.kind === 'contested';
  return isOut ? { ...record, known: await readKnown(deps.store.db, crm, id) } : record;
}

async function links(deps: CompanyDeps, visit: Visit, { entity, links: all }: Timeline): Promise<Markup> {
  const { reader, now, visitor } = visit;
  const mayAct = includesRole(visitor.role, 'operator');
  const more = mayAct && html`<p><a href=${actionAddress(entity, 'link', {})}>${reader.text('action.link')}</a></p>`;
  if (all.length === 0) return html`<p class="quiet">${reader.text('company.noLinks', { entity })}</p>${more}`;
  const columns = ['record', 'state', 'monitoring', 'synced', ...(mayAct ? (['actions'] as const) : [])] as const;
  const names = await Promise.all(all.map(({ provider, record }) => recordLink(deps, { provider, recordId: record })));
  const shown = table({
    label: reader.text('company.links'),
    columns: columns.map((column) => reader.text(`company.${column}`)),
    rows: all.map((link, at) => [
      names[at],
      html`${state(signOf(link.state), linkState(reader, link.state))}
        ${link.reason !== null && html`<div class="quiet">${said(reader, link.reason)}</div>`}`,
      html`${monitoring(reader, link)}
        ${link.observedError !== null && html`<div class="quiet">${said(reader, link.observedError)}</div>`}`,
      link.syncedAt === null ? reader.text('company.never') : timeOf(reader, link.syncedAt, now),
      ...(mayAct ? [actionLinks(reader, entity, link)] : []),
    ]),
  });
  return html`${shown}${more}`;
}

const OBSERVED = ['on', 'off', 'unknown', 'refused'] as const;

function observedWord(reader: Reader, observed: string): string {
  const known = OBSERVED.find((each) => each === observed);
  return known === undefined ? observed : reader.text(`observed.${known}`);
}

/** The state of monitoring for a record; one word if the desired state is reached. */
const monitoring = (reader: Reader, { desired, observed }: TimelineLink): string =>
  desired === observed
    ? reader.text(desired === 'on' ? 'monitor.on' : 'monitor.off')
    : reader.text('company.desired', {
        desired: observedWord(reader, desired),
        observed: observedWord(reader, observed),
      });

/** The actions for a record, by the state of its link. */
function actionLinks(reader: Reader, entity: string, { provider, record, state: is }: TimelineLink): Markup {
  const names: readonly RecordAction['name'][] =
    is === 'active'
      ? ['hold', 'release', 'update', 'unlink']
      : is === 'conflict'
        ? ['hold', 'release', 'unlink']
        : is === 'merged'
          ? []
          : ['hold', 'release', 'link'];
  return html`<span class="actions">
    ${names.map((name) => html`<a href=${actionAddress(entity, name, { provider, record })}>${reader.text(`action.${name}`)}</a>`)}
  </span>`;
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
        ${state(LANE_SIGNS[is], reader.text(`lane.${is}`))} <code>${queue} ${key}</code>, ${is === 'waiting' && dueAt !== null ? html`${reader.text('company.until')} ${timeOf(reader, dueAt)}` : timeOf(reader, since, now)}
        ${error !== null && html`<div class="quiet">${said(reader, error)}</div>`}
      </li>`,
    )}
  </ul>`;
}

const overrides = ({ reader, visitor }: Visit, { entity, overrides: all }: Timeline): VNode => html`<ul class="lines">
  ${all.map(
    (each) => html`<li>
      ${recordName(each)} ${each.property === ALL_PROPERTIES ? reader.text('company.allProperties') : html`<code>${each.property}</code>`}: ${reader.text(`override.${each.kind}`)}
      ${each.until !== null && html` ${reader.text('company.until')} ${timeOf(reader, each.until)}`}
      <span class="quiet"> ${timeOf(reader, each.createdAt)}, ${placedText(reader, each)}${each.reason !== null && `: ${each.reason}`}</span>
      ${includesRole(visitor.role, 'operator') && html` <a href=${endAddress(entity, each)}>${reader.text('action.end')}</a>`}
    </li>`,
  )}
</ul>`;

const endAddress = (entity: string, { provider, record, property }: TimelineOverride): string =>
  actionAddress(entity, 'end', { provider, record, property });

const setAside = (
  { crms }: CompanyDeps,
  { reader, visitor }: Visit,
  { setAside: all }: Timeline,
): VNode => html`<ul class="lines">
  ${all.map(
    (each) => html`<li>
      ${recordName(each)} <code>${each.property}</code>: ${shownProperty({ ...visitor, reader }, fieldOfProperty(crms, each.provider, each.property), each.value)}
      <div class="quiet">${said(reader, each.reason)}</div>
    </li>`,
  )}
</ul>`;
