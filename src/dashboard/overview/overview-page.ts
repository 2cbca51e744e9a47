/** The overview shows within ten seconds whether all is well. */

import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { countThings, MOST_COUNTED, waitingOf, workOf } from '../../operations/installation/status/read-status.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { samplesFolder } from '../../setup/config-of.ts';
import { valueAt } from '../../setup/questions.ts';
import { CONFIGURATION, SETTINGS } from '../addresses/addresses.ts';
import { deliveriesAddress } from '../addresses/deliveries.ts';
import { connectionsTable } from '../connections/table.ts';
import { html, type Markup } from '../page/html.ts';
import { ageOf, livePart, state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';
import { kindLink, needsYou } from './needs-you.ts';
import { type Overview, type OverviewDeps, openOverview } from './read-overview.ts';
import { sourceTable } from './sources.ts';
import { shareBar, trendCharts } from './trends.ts';

export function addOverview(
  app: Server,
  deps: RouteDeps & OverviewDeps & { readonly installation: ShownInstallation },
): void {
  const read = openOverview(deps);
  addPage(app, deps, {
    path: '/',
    async show(visit) {
      const overview = await read(visit.query('span') === 'day' ? 'day' : 'hour');
      const { connector, service } = deps.halves;
      return {
        title: visit.reader.text('nav.overview'),
        body: livePart(
          visit,
          { id: 'overview', isAged: false },
          html`${standing(visit, overview)}
          <div class="columns">
            ${section(visit.reader.text('overview.decide'), needsYou(visit, overview.counts, deps.halves))}
            ${service && section(visit.reader.text('overview.sources'), html`${isSample(deps.installation) && sampleNotice(visit)} ${sourceTable(visit, overview.sources)}`)}
          </div>
          ${connector && section(visit.reader.text('overview.connections'), connectionsTable(visit, overview.connections, overview.calls))}
          ${connector && shares(visit.reader, overview)}
          ${trendCharts(visit.reader, overview.trends, deps.halves)} ${failing(visit.reader, overview)}
          ${section(visit.reader.text('overview.queues'), queues(visit, overview))}`,
        ),
      };
    },
  });
}

interface ShownInstallation {
  /** The configuration in force. */
  shownConfig(): object;
}

/** Whether the register is the sample register of this package. */
const isSample = (installation: ShownInstallation): boolean =>
  valueAt({ ...installation.shownConfig() }, ['config', 'service', 'register', 'path']) === samplesFolder();

/** With the sample register, records of real companies rightly stay blank. */
const sampleNotice = ({ reader, visitor }: Visit): VNode =>
  html`<p class="notice warn">
    ${reader.text('setup.sampleOnly')}
    ${includesRole(visitor.role, 'admin') && html` <a href=${`${SETTINGS}/source`}>${reader.text('setup.toSource')}</a>`}
  </p>`;

const section = (title: string, body: Markup): VNode => html`<section><h2>${title}</h2>${body}</section>`;

/** One sentence, and below it the problems. */
function standing({ reader, now }: Visit, overview: Overview): VNode {
  const { conditions, differences, connections: all } = overview;
  const since = (at: number | undefined): Markup =>
    at !== undefined && html` (${reader.text('overview.since')} ${timeOf(reader, at)})`;
  const broken = [
    ...conditions.map(
      ({ key, what, advice, since: at }) => html`${linked(key, said(reader, what))}${since(at)}.
        <span class="quiet"> ${said(reader, advice)}</span>`,
    ),
    ...all.map(({ name, state: each }) =>
      each.kind === 'silent'
        ? html`${name} ${reader.text('overview.silent')}${since(each.since)}: ${said(reader, each.failure)}`
        : undefined,
    ),
  ].filter((line) => line !== undefined);
  const waiting = waitingOf(overview).map((each) => kindLink(reader, each));
  const lines = [...broken, ...waiting];
  const aged = (words: string): VNode =>
    html`<strong>${words}</strong>, ${reader.text('overview.checked')} ${ageOf(reader, now)}`;
  if (lines.length === 0 && overview.first !== undefined) {
    const { first } = overview;
    return html`<div class="notice">
      <p>${state('idle', aged(reader.text(`overview.first-${first}`)))}</p>
      <p><a href=${first === 'link' ? '/backfill' : '/register'}>${reader.text(`overview.firstHelp-${first}`)}</a></p>
    </div>`;
  }
  if (lines.length === 0) {
    const words = differences === 0 ? 'well' : 'onlyDifferences';
    return html`<div class="notice ok">
      <p>${state('ok', aged(reader.text(`overview.${words}`)))}</p>
      <p class="quiet">${reader.text(`overview.${words}Help`)}</p>
    </div>`;
  }
  const kind = broken.length > 0 ? 'bad' : 'warn';
  const count = countThings(overview);
  const trouble = count > MOST_COUNTED ? 'overview.troubleMore' : 'overview.trouble';
  return html`<div class=${`notice ${kind}`}>
    <p>${state(kind, aged(reader.text(trouble, { count: Math.min(count, MOST_COUNTED) })))}</p>
    <ul class="lines">
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>
  </div>`;
}

/** The text of a condition, with a link to its subject. */
const linked = (key: string, what: Markup): Markup =>
  key.startsWith('rules:') ? html`<a href=${CONFIGURATION}>${what}</a>` : what;

/** How many records of each connection are in sync. */
function shares(reader: Reader, { shares: all }: Overview): Markup {
  const shown = all.filter(({ linked }) => linked > 0);
  if (shown.length === 0) return undefined;
  return section(
    reader.text('share.title'),
    html`<dl class="shares">
      ${shown.map((share) => html`<dt>${share.provider}</dt><dd>${shareBar(reader, share)}</dd>`)}
    </dl>`,
  );
}

function failing(reader: Reader, { failing: count }: Overview): Markup {
  if (count === 0) return undefined;
  const number =
    count > MOST_COUNTED ? reader.text('overview.moreThan', { number: MOST_COUNTED }) : reader.number(count);
  return html`<p>
    ${state('warn', html`<a href=${deliveriesAddress({ state: 'failing' })}>${reader.text('overview.failing')}: ${number}</a>`)}
  </p>`;
}

function queues({ reader, now }: Visit, overview: Overview): Markup {
  const rows = workOf(overview);
  if (rows.length === 0) return html`<p class="quiet">${reader.text('overview.noWork')}</p>`;
  const columns = ['queue', 'ready', 'leased', 'waiting', 'parked', 'oldest'] as const;
  return table({
    label: reader.text('overview.queues'),
    columns: columns.map((column) => reader.text(`overview.${column}`)),
    numeric: [1, 2, 3, 4, 5],
    rows: rows.map(({ queue, ready, leased, waiting, parked, oldestSince }) => [
      html`<code>${queue}</code>`,
      reader.number(ready),
      reader.number(leased),
      reader.number(waiting),
      parked === 0 ? reader.number(0) : state('bad', reader.number(parked)),
      // Work that waits for its time is not behind before that.
      oldestSince === undefined || oldestSince > now ? '–' : reader.duration(now - oldestSince),
    ]),
  });
}
