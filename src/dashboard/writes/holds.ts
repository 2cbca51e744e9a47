/** The page of all holds: found by a filter, and ended in bulk after a confirmation with their count. */
import type { VNode } from 'preact';
import { countHolds, type Hold, listHolds } from '../../connector/overrides/hold-list.ts';
import type { Server } from '../../http/server/server.ts';
import { endHolds } from '../../operations/records.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { table, textFilter, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage } from '../routes/routes.ts';
import type { WritesDeps } from './writes-page.ts';

const PATH = '/holds';
const SHOWN = 100;
const DAY_MS = 86_400_000;
const FIELDS = ['provider', 'property', 'reason', 'days'] as const;
type HoldTexts = Readonly<Record<(typeof FIELDS)[number], string>>;

/** Adds the page, and the action that ends what its filter finds. */
export function addHolds(app: Server, deps: WritesDeps): void {
  addPage(app, deps, { path: PATH, show: async (visit) => holdsPage(deps, visit, textsOf(visit.query)) });
  const chosen = (fields: Fields): HoldTexts => textsOf((name) => fieldValue(fields, name));
  // Only what the person was shown: what was placed since stays.
  const shownAt = (fields: Fields, now: number): number => Math.min(Number(fieldValue(fields, 'shownAt')) || now, now);
  addForm(app, deps, endHolds, {
    path: `${PATH}/end`,
    input({ now }, fields) {
      const { before, ...filter } = filterOf(chosen(fields), shownAt(fields, now));
      return { ...filter, before: new Date(before).toISOString() };
    },
    confirm: (visit, { count }, fields) =>
      confirmationPage(visit, {
        title: visit.reader.text('holds.title'),
        help: html`<p>${visit.reader.text('holds.confirm', { count })}</p>`,
        action: `${PATH}/end`,
        fields: { ...chosen(fields), confirmed: 'yes', shownAt: String(shownAt(fields, visit.now)) },
        submit: visit.reader.text('holds.end', { count }),
        back: addressOf(chosen(fields)),
      }),
    next: (_visit, _ended, fields) => addressOf(chosen(fields)),
  });
}

function textsOf(given: (name: string) => string): HoldTexts {
  const [provider = '', property = '', reason = '', days = ''] = FIELDS.map((name) => given(name).trim().slice(0, 200));
  return { provider, property, reason, days };
}

/** Holds that were placed before a time, and as many days before it as the filter says. */
const filterOf = ({ provider, property, reason, days }: HoldTexts, before: number) => ({
  provider: provider || undefined,
  property: property || undefined,
  reason: reason || undefined,
  before: before + 1 - (/^\d{1,4}$/u.test(days) ? Number(days) * DAY_MS : 0),
});

function addressOf(texts: HoldTexts): string {
  const pairs = Object.entries(texts).filter(([, text]) => text !== '');
  return pairs.length === 0 ? PATH : `${PATH}?${new URLSearchParams(pairs)}`;
}

async function holdsPage({ store }: WritesDeps, visit: Visit, texts: HoldTexts): Promise<PageBody> {
  const { reader, visitor, now, formToken } = visit;
  const filter = filterOf(texts, now);
  const holds = await listHolds(store.db, now, filter, SHOWN);
  const count = holds.length < SHOWN ? holds.length : await countHolds(store.db, now, filter);
  const mayEnd = count > 0 && includesRole(visitor.role, 'operator');
  return {
    title: reader.text('holds.title'),
    body: html`<p>${reader.text('holds.help')}</p>
      <form class="filters" action=${PATH}>
        ${FIELDS.map((name) => textFilter({ name, label: reader.text(`holds.${name}`), value: texts[name] }))}
        <button>${reader.text('list.filter')}</button>
        <a href=${PATH}>${reader.text('list.all')}</a>
      </form>
      ${
        mayEnd &&
        html`<form method="post" action=${`${PATH}/end`} class="actions">
          ${hidden({ [FORM_TOKEN]: formToken, ...texts, shownAt: String(now) })}
          <button>${reader.text('holds.ask', { count })}</button>
        </form>`
      }
      ${count === 0 ? html`<p>${reader.text('holds.none')}</p>` : holdTable(visit, holds)}
      ${count > holds.length && html`<p class="quiet">${reader.text('run.more', { count: holds.length })}</p>`}`,
  };
}

function holdTable({ reader }: Visit, holds: readonly Hold[]): VNode {
  return table({
    label: reader.text('holds.title'),
    columns: (['record', 'property', 'company', 'since', 'until', 'reason'] as const).map((name) =>
      reader.text(`holds.${name}`),
    ),
    rows: holds.map(({ provider, recordId, property, entity, since, until, reason }) => [
      html`<span class="together">${provider} <code>${recordId}</code></span>`,
      html`<code>${property}</code>`,
      entity !== undefined && html`<a href=${companyAddress(entity)}><code>${entity}</code></a>`,
      timeOf(reader, since),
      until === null ? reader.text('holds.forever') : timeOf(reader, until),
      reason,
    ]),
  });
}
