/** The page of the register and the other sources: how far each is read, what failed, and the results. */
import type { VNode } from 'preact';
import { countReview } from '../../connector/review/review-list.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Server } from '../../http/server/server.ts';
import { readSources } from '../../operations/installation/status/read-status.ts';
import {
  differsTooMuch,
  readDifferences,
  type SourceDifferences,
} from '../../service/register/watch/origins/second-readings.ts';
import { BEHIND_MS, type RegisterPart, readProgress } from '../../service/register/watch/progress.ts';
import { readWithheld } from '../../service/register/watch/withheld.ts';
import { countDueFilings } from '../../service/reports/store-filing.ts';
import { aboutRows } from '../../store/count.ts';
import { sourceTable } from '../overview/sources.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { livePart, state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { fetchSection } from './fetch.ts';

export interface RegisterPageDeps extends ServicePageDeps {
  readonly metrics: Pick<Metrics, 'documents' | 'changes' | 'filings' | 'articles'>;
}

export function addRegister(app: Server, deps: RegisterPageDeps): void {
  addPage(app, deps, {
    path: '/register',
    show: async (visit) => registerPage(deps, visit),
  });
}

async function registerPage(deps: RegisterPageDeps, visit: Visit): Promise<PageBody> {
  const { reader, now } = visit;
  const { register } = deps.management;
  const { db } = deps.store;
  const progress = await readProgress(db, register.sources);
  const losses = await readWithheld(db, now);
  return {
    title: reader.text('nav.register'),
    body: html`${livePart(
      visit,
      { id: 'register' },
      html`${losses.isOpen && html`<p class="notice bad"><a href="/inbox?kind=lane">${reader.text('register.withheld')}</a></p>`}
        <dl class="facts">
          <dt>${reader.text('register.from')}</dt>
          <dd><code>${register.from}</code></dd>
        </dl>
        ${
          progress === undefined
            ? html`<p>${reader.text('register.notYet')}</p>`
            : html`${progress.errors.map(({ error }) => html`<p class="notice bad">${said(reader, error)}</p>`)}
              ${partTable(visit, progress.parts)}`
        }
        ${await figures(deps, visit)}
        <h2>${reader.text('overview.sources')}</h2>
        ${sourceTable(visit, await readSources(db))}
        <h2>${reader.text('register.counted')}</h2>
        ${await counters(deps, reader)}`,
    )}
      <h2>${reader.text('fetch.title')}</h2>
      ${await fetchSection(deps, visit)}`,
  };
}

function partTable({ reader, now }: Visit, parts: readonly RegisterPart[]): VNode {
  const isOne = new Set(parts.map(({ source }) => source)).size < 2;
  const columns = ['part', 'state', 'readAt', 'loadedUntil'] as const;
  const partName = (name: string): string =>
    name === 'companies' || name === 'production units' || name === 'documents' ? reader.text(`part.${name}`) : name;
  return table({
    label: reader.text('nav.register'),
    columns: columns.map((column) => reader.text(`register.${column}`)),
    rows: parts.map(({ name, source, readAt, loadedUntil, more = false }) => [
      isOne ? partName(name) : html`<code>${source}</code> ${partName(name)}`,
      partState(reader, { readAt, more, now }),
      readAt === 0 ? reader.text('register.never') : timeOf(reader, readAt, now),
      loadedUntil === undefined || loadedUntil === 0 ? null : timeOf(reader, loadedUntil),
    ]),
  });
}

function partState(
  reader: Reader,
  { readAt, more, now }: { readonly readAt: number; readonly more: boolean; readonly now: number },
): VNode {
  if (readAt === 0) return state('idle', reader.text('register.waits'));
  if (now - readAt > BEHIND_MS) return state('bad', reader.text('overview.behind'));
  if (more) return state('idle', reader.text('register.loading'));
  return state('ok', reader.text('overview.upToDate'));
}

const MOST_COUNTED = 1_000;

async function figures({ store: { db } }: RegisterPageDeps, { reader, now }: Visit): Promise<VNode> {
  const known = await aboutRows(db, 'snapshot');
  const unreadable = await countReview(db, now, { kinds: ['document'], limit: MOST_COUNTED + 1 });
  const filings = await countDueFilings(db, MOST_COUNTED + 1);
  const upTo = (count: number): string =>
    count > MOST_COUNTED ? reader.text('overview.moreThan', { number: MOST_COUNTED }) : reader.number(count);
  const shown: readonly (readonly [label: string, value: Markup])[] = [
    [
      reader.text('register.known'),
      known.isAbout ? reader.text('overview.about', { number: known.count }) : reader.number(known.count),
    ],
    [
      reader.text('register.unreadable'),
      unreadable === 0 ? reader.number(0) : html`<a href="/inbox?kind=document">${upTo(unreadable)}</a>`,
    ],
    [reader.text('register.filings'), upTo(filings)],
    ...(await readDifferences(db, now)).map((each) => differenceOf(reader, each)),
  ];
  return html`<dl class="figures">${shown.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** How often a source states another value than the leading one. */
const differenceOf = (reader: Reader, differences: SourceDifferences): readonly [label: string, value: Markup] => {
  const { origin, compared, differing } = differences;
  const text = reader.text('register.ofCompared', {
    differing: reader.number(differing),
    compared: reader.number(compared),
  });
  return [
    reader.text('register.differing', { source: origin }),
    differsTooMuch(differences) ? state('warn', text) : text,
  ];
};

/** The counters of this daemon since it started, as in /metrics. */
async function counters({ metrics }: RegisterPageDeps, reader: Reader): Promise<Markup> {
  const names = ['documents', 'changes', 'filings', 'articles'] as const;
  const rows = await Promise.all(
    names.map(async (name) =>
      (await metrics[name].get()).values.map(({ labels, value }) => [
        reader.text(`counted.${name}`),
        html`<span lang="en">${Object.values(labels).join(', ')}</span>`,
        reader.number(value),
      ]),
    ),
  );
  if (rows.flat().length === 0) return html`<p class="quiet">${reader.text('register.nothingCounted')}</p>`;
  const columns = ['what', 'result', 'count'] as const;
  return table({
    label: reader.text('register.counted'),
    columns: columns.map((column) => reader.text(`register.${column}`)),
    numeric: [2],
    rows: rows.flat(),
  });
}
