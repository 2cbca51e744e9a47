import type { VNode } from 'preact';
import type { Server } from '../http/server/server.ts';
import type { CsvRow } from '../runtime/files/csv-text.ts';
import { type AuditFilter, type AuditRow, readAudit } from '../runtime/operators/audit.ts';
import type { Db } from '../store/store.ts';
import { sendCsv } from './page/csv.ts';
import { html, type Markup } from './page/html.ts';
import { brief, table, textFilter, timeOf } from './page/parts.ts';
import { said } from './page/said.ts';
import type { Visit } from './page/visit.ts';
import { addPage, type RouteDeps } from './routes/routes.ts';

const SHOWN = 50;
/** A file is read in pages, so that it is never in memory as a whole. */
const FILE_PAGE = 500;

const VIA = ['page', 'command', 'api'] as const;
const FILTERS = ['actor', 'action', 'subject'] as const;

export function addAudit(app: Server, deps: RouteDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/audit',
    async show(visit) {
      const { reader, query } = visit;
      const filter = filterOf(visit);
      const before = /^\d{1,15}$/.test(query('before')) ? Number(query('before')) : undefined;
      const found = await readAudit(store.db, { ...filter, before }, SHOWN + 1);
      const rows = found.slice(0, SHOWN);
      const last = found.length > SHOWN ? rows.at(-1)?.id : undefined;
      return {
        title: reader.text('nav.audit'),
        body: html`<p>${reader.text('audit.help')}</p>
          ${filterForm(visit)} ${rows.length === 0 ? nothing(visit) : auditTable(visit, rows)}
          <p class="actions">
            ${before !== undefined && html`<a href=${addressOf(visit, '/audit')}>${reader.text('list.newest')}</a>`}
            ${last !== undefined && html`<a rel="next" href=${addressOf(visit, '/audit', { before: String(last) })}>${reader.text('list.older')}</a>`}
            ${rows.length > 0 && html`<a href=${addressOf(visit, '/audit.csv')} download>${reader.text('list.csv')}</a>`}
          </p>`,
      };
    },
  });

  addPage(app, deps, {
    path: '/audit.csv',
    show: async (visit) => sendCsv('audit.csv', csvPages(store.db, visit)),
  });
}

function filterOf({ query }: Visit): AuditFilter {
  const given = (name: string): string | undefined => query(name).trim() || undefined;
  return {
    actor: given('actor'),
    action: given('action'),
    subject: given('subject'),
    via: VIA.find((via) => via === query('via')),
  };
}

/** Keeps the chosen filter. */
function addressOf({ query }: Visit, path: string, more: Readonly<Record<string, string>> = {}): string {
  const chosen = [...FILTERS, 'via'].map((name) => [name, query(name).trim()] as const);
  const wanted = new URLSearchParams(
    [...chosen, ...Object.entries(more)].filter(([, value]) => value !== '').map((pair) => [...pair]),
  );
  return wanted.size === 0 ? path : `${path}?${wanted}`;
}

function filterForm({ reader, query }: Visit): VNode {
  return html`<form class="filters" action="/audit">
    ${FILTERS.map((name) => textFilter({ name, label: reader.text(`audit.${name}`), value: query(name) }))}
    <div>
      <label for="via">${reader.text('audit.via')}</label>
      <select id="via" name="via">
        <option value="">${reader.text('audit.anyVia')}</option>
        ${VIA.map(
          (via) => html`<option value=${via} selected=${query('via') === via}>${reader.text(`via.${via}`)}</option>`,
        )}
      </select>
    </div>
    <button>${reader.text('list.filter')}</button>
    <a href="/audit">${reader.text('list.all')}</a>
  </form>`;
}

const nothing = (visit: Visit): Markup =>
  html`<p>${visit.reader.text(addressOf(visit, '') === '' ? 'audit.empty' : 'audit.noMatch')}</p>`;

function auditTable({ reader }: Visit, rows: readonly AuditRow[]): VNode {
  const columns = ['at', 'actor', 'via', 'action', 'subject', 'detail', 'result'] as const;
  return table({
    label: reader.text('nav.audit'),
    columns: columns.map((column) => reader.text(`audit.${column}`)),
    rows: rows.map(({ at, actor, via, action, subject, detail, result }) => [
      timeOf(reader, at),
      html`${actor.name} <span class="quiet">${reader.text(`actor.${actor.kind}`)}</span>`,
      reader.text(`via.${via}`),
      html`<code>${action}</code>`,
      subject && brief(subject),
      detail && html`<code>${brief(JSON.stringify(detail))}</code>`,
      said(reader, result, brief),
    ]),
  });
}

async function* csvPages(db: Db, visit: Visit): AsyncGenerator<readonly CsvRow[]> {
  const filter = filterOf(visit);
  yield [['time', 'kind', 'who', 'via', 'action', 'subject', 'detail', 'result']];
  for (let before: number | undefined; ; ) {
    const rows = await readAudit(db, { ...filter, before }, FILE_PAGE);
    yield rows.map((row) => csvRowOf(row));
    before = rows.at(-1)?.id;
    if (rows.length < FILE_PAGE) return;
  }
}

const csvRowOf = ({ at, actor, via, action, subject, detail, result }: AuditRow): CsvRow => [
  new Date(at).toISOString(),
  actor.kind,
  actor.name,
  via,
  action,
  subject ?? '',
  detail === undefined ? '' : JSON.stringify(detail),
  result,
];
