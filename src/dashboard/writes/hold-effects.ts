/** The effect of ending holds: how many end, and what the next sync of their first records would decide. */
import type { VNode } from 'preact';
import type { Planned } from '../../connector/decide/planned.ts';
import { type CurrentRecord, readCurrents } from '../../connector/explain/current.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import type { Hold } from '../../connector/overrides/hold-list.ts';
import { ALL_PROPERTIES } from '../../connector/overrides/override.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { briefProperty } from '../companies/values/shown-value.ts';
import { blank, differs, remark, verdict } from '../companies/values/verdict.ts';
import { html, type Markup } from '../page/html.ts';
import { table } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import type { WritesDeps } from './writes-page.ts';

/** Says how many holds end, and shows the effect on the given ones, which are the first. */
export async function holdEffects(
  deps: WritesDeps,
  visit: Visit,
  holds: readonly Hold[],
  count: number,
): Promise<Markup> {
  const { reader } = visit;
  const currents = await readWithout(deps, visit, holds);
  const columns = ['record', 'property', 'effect'] as const;
  return html`<p>${reader.text('holds.confirm', { count })}</p>
    ${
      count > 0 &&
      table({
        label: reader.text('holds.effect'),
        columns: columns.map((name) => reader.text(`holds.${name}`)),
        rows: holds.map((hold) => [
          recordName(hold),
          propertyName(visit, hold),
          effect(visit, hold, currents.get(keyOf(hold)) ?? { kind: 'unlinked' }),
        ]),
      })
    }
    ${count > holds.length && html`<p class="quiet">${reader.text('holds.more', { count: count - holds.length })}</p>`}`;
}

export const recordName = ({ provider, recordId }: Hold): VNode =>
  html`<span class="together">${provider} <code>${recordId}</code></span>`;

export const propertyName = ({ reader }: Visit, { property }: Hold): Markup =>
  property === ALL_PROPERTIES ? reader.text('company.allProperties') : html`<code>${property}</code>`;

const keyOf = ({ provider, recordId }: RecordRef): string => `${provider} ${recordId}`;

/** The records as cvrsync would decide them without these holds; one call for each connection. */
async function readWithout(
  { store, crms }: WritesDeps,
  { now }: Visit,
  holds: readonly Hold[],
): Promise<ReadonlyMap<string, CurrentRecord>> {
  const found = new Map<string, CurrentRecord>();
  for (const crm of crms) {
    const own = Map.groupBy(
      holds.filter(({ provider }) => provider === crm.name),
      ({ recordId }) => recordId,
    );
    const records = [...own].map(([id, some]) => ({
      id,
      overrides: some.map(({ property }) => ({ property, to: null })),
    }));
    if (records.length === 0) continue;
    const currents = await readCurrents({ store, now: () => now }, crm, records, CRM_LIMIT_MS);
    for (const [at, current] of currents.entries())
      found.set(keyOf({ provider: crm.name, recordId: records[at]?.id ?? '' }), current);
  }
  return found;
}

function effect(visit: Visit, hold: Hold, current: CurrentRecord): Markup {
  const { reader } = visit;
  if (current.kind !== 'compared') return remark(reader, { ...hold, current });
  const isMeant = ({ property }: Planned): boolean => hold.property === ALL_PROPERTIES || property === hold.property;
  const different = current.planned.filter((planned) => isMeant(planned) && differs(planned));
  if (different.length === 0) return html`<span class="quiet">${reader.text('outlook.same')}</span>`;
  return html`<ul class="lines">
    ${different.map((planned) => html`<li>${change(visit, hold, planned)}</li>`)}
  </ul>`;
}

function change({ reader, visitor }: Visit, hold: Hold, planned: Planned): Markup {
  const value = (each: unknown): Markup => briefProperty({ ...visitor, reader }, planned.field, each) ?? blank(reader);
  return html`${hold.property === ALL_PROPERTIES && html`<code>${planned.property}</code> `}${value(planned.old)} ${'→'} ${value(planned.now)} ${verdict(reader, planned)}`;
}
