/** What links would write into the records of one page of a plan: each property that differs, old → new. */
import { isLinked } from '../../connector/backfill/plan/edit-row.ts';
import type { PlanRow } from '../../connector/backfill/rows/scan-rows.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import type { Planned } from '../../connector/decide/planned.ts';
import { type CurrentRecord, readCurrents } from '../../connector/explain/current.ts';
import { readFacts } from '../../connector/facts/facts.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { briefProperty } from '../companies/values/shown-value.ts';
import { html, type Markup } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import type { BackfillPageDeps } from './filter.ts';

/** The properties to show at once; others are folded. */
const UNFOLDED = 3;

/** The text above the table, and the text for the row of each record that can be linked. */
export interface OutlookColumn {
  readonly notice: Markup;
  readonly cells: ReadonlyMap<string, Markup>;
}

/** Reads in one call the records of a page whose companies are known, for as long as a page may wait. */
export async function readOutlook(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  rows: readonly PlanRow[],
): Promise<OutlookColumn> {
  const { reader } = visit;
  const open = rows.flatMap((row) =>
    row.entity === null || isLinked(row) || row.verdict === 'linked' ? [] : [{ id: row.record_id, entity: row.entity }],
  );
  const facts = await readFacts(deps.store.db, [...new Set(open.map(({ entity }) => entity))]);
  const told = new Set(facts.map(({ entity }) => entity));
  const known = open.filter(({ entity }) => told.has(entity));
  const currents = known.length === 0 ? [] : await readCurrents(deps, crm, known, CRM_LIMIT_MS);
  const silent = currents.find((current) => current.kind === 'silent');
  const why = silent && reader.text('company.silent', { provider: crm.name, reason: silent.reason });
  const notice = why !== undefined && html`<p class="notice warn">${why}</p>`;
  if (currents.length > 0 && currents.every(({ kind }) => kind === 'silent')) return { notice, cells: new Map() };
  const untold = html`<span class="quiet">${reader.text('outlook.untold')}</span>`;
  const cells = new Map<string, Markup>(open.map(({ id }) => [id, untold]));
  for (const [at, current] of currents.entries()) cells.set(known[at]?.id ?? '', cellOf(visit, current));
  return { notice, cells };
}

function cellOf(visit: Visit, current: CurrentRecord): Markup {
  const { reader } = visit;
  if (current.kind === 'silent') return null;
  if (current.kind !== 'compared') return reader.text(`company.${current.kind}`);
  const written = current.planned.filter(({ action }) => action === 'write');
  const kept = current.planned.filter(({ action }) => action === 'keep');
  if (written.length + kept.length === 0) return html`<span class="quiet">${reader.text('outlook.nothing')}</span>`;
  const lines = [
    ...written.map((each) => lineOf(visit, each)),
    ...kept.map((each) => html`${lineOf(visit, each)} <span class="quiet">${reader.text('company.keep')}</span>`),
  ].map((line) => html`<div>${line}</div>`);
  const more = lines.slice(UNFOLDED);
  return html`<div class="wide">
    ${lines.slice(0, UNFOLDED)}
    ${
      more.length > 0 &&
      html`<details>
        <summary>${reader.text('outlook.more', { count: more.length })}</summary>
        ${more}
      </details>`
    }
  </div>`;
}

function lineOf({ reader, visitor }: Visit, { property, field, old, now }: Planned): Markup {
  const value = (each: Planned['old']): Markup =>
    briefProperty({ ...visitor, reader }, field, each) ??
    html`<span class="quiet">${reader.text('company.blank')}</span>`;
  return html`<code>${property}</code>: ${value(old)} ${'→'} ${value(now)}`;
}
