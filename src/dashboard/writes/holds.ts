/** The page of all holds: filtered by facets, and ended in bulk after a preview. */
import type { VNode } from 'preact';
import { type Hold, type HoldFilter, listHolds } from '../../connector/overrides/hold-list.ts';
import type { Server } from '../../http/server/server.ts';
import { endHolds, holdPlaceText, MOST_CHOSEN, readHoldPlace } from '../../operations/connector/holds.ts';
import { invalid } from '../../operations/definition/operation.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { type HoldTexts, holdFilterOf, holdsAddress, readHoldTexts } from '../addresses/holds.ts';
import { placedText } from '../companies/placed-text.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { type Fields, FORM_TOKEN, fieldValue, fieldValues } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { brief, noDefaultAnswer, table, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage } from '../routes/routes.ts';
import { holdEffects, propertyName, recordName } from './hold-effects.ts';
import { holdFacets, holdsIn, MOST_HOLDS, readHoldCounts } from './hold-facets.ts';
import type { WritesDeps } from './writes-page.ts';

const END = '/holds/end';
const SHOWN = 50;
/** The holds that the preview shows one by one. */
const PREVIEWED = 20;
/** The field of a chosen hold. */
const CHOICE = 'hold';

/** Adds the page, and the action that ends the chosen holds or all that match. */
export function addHolds(app: Server, deps: WritesDeps): void {
  addPage(app, deps, { path: '/holds', show: async (visit) => holdsPage(deps, visit, readHoldTexts(visit.query)) });
  addForm(app, deps, endHolds, {
    path: END,
    input({ now }, fields) {
      const { before, endsBefore, provider, property, origin, chosen } = endedBy(fields, now);
      const holds = chosen?.map(({ recordId: record, ...ref }) => ({ ...ref, record }));
      const by = holds === undefined ? { provider, property, origin, endsBefore: timeText(endsBefore) } : { holds };
      return { ...by, before: timeText(before) };
    },
    async confirm(visit, { count }, fields) {
      const { now } = visit;
      const holds = await listHolds(deps.store.db, now, endedBy(fields, now), PREVIEWED);
      const texts = textsIn(fields);
      return confirmationPage(visit, {
        title: visit.reader.text('holds.title'),
        help: html`${await holdEffects(deps, visit, holds, count)}
          ${fieldValues(fields, CHOICE).map((value) => html`<input type="hidden" name=${CHOICE} value=${value} />`)}`,
        action: END,
        fields: {
          ...texts,
          what: fieldValue(fields, 'what'),
          confirmed: 'yes',
          shownAt: String(shownAt(fields, now)),
        },
        submit: visit.reader.text('holds.end', { count }),
        back: holdsAddress(texts),
      });
    },
    next: (_visit, _ended, fields) => holdsAddress(textsIn(fields)),
  });
}

const timeText = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

const textsIn = (fields: Fields): HoldTexts => readHoldTexts((name) => fieldValue(fields, name));

/** Only holds that the person saw end: later ones stay. */
const shownAt = (fields: Fields, now: number): number => Math.min(Number(fieldValue(fields, 'shownAt')) || now, now);

/** What a form ends: the chosen holds, or all that match. Refuses a form without a choice. */
function endedBy(fields: Fields, now: number): HoldFilter {
  const at = shownAt(fields, now);
  const before = at + 1;
  if (fieldValue(fields, 'what') === 'all') return { ...holdFilterOf(textsIn(fields), at), before };
  const chosen = fieldValues(fields, CHOICE).flatMap((text) => readHoldPlace(text) ?? []);
  if (chosen.length === 0 || chosen.length > MOST_CHOSEN) throw invalid('/holds', 'no hold was chosen');
  return { chosen: chosen.map(({ provider, recordId, property }) => ({ provider, recordId, property })), before };
}

async function holdsPage(deps: WritesDeps, visit: Visit, texts: HoldTexts): Promise<PageBody> {
  const { reader, visitor, now, query } = visit;
  const { db } = deps.store;
  const counts = await readHoldCounts(db, now, texts);
  const count = holdsIn(counts, texts);
  const place = { ...holdFilterOf(texts, now), after: readHoldPlace(query('after')) };
  const found = count === 0 ? [] : await listHolds(db, now, place, SHOWN + 1);
  const holds = found.slice(0, SHOWN);
  const last = found.length > SHOWN ? holds.at(-1) : undefined;
  const mayEnd = holds.length > 0 && includesRole(visitor.role, 'operator');
  const shown = html`${holds.length === 0 ? html`<p>${reader.text('holds.none')}</p>` : holdTable(visit, holds, mayEnd)}
    <p class="actions">
      ${query('after') !== '' && html`<a href=${holdsAddress(texts)}>${reader.text('review.first')}</a>`}
      ${last !== undefined && html`<a rel="next" href=${holdsAddress(texts, { after: holdPlaceText(last) })}>${reader.text('review.next')}</a>`}
    </p>`;
  return {
    title: reader.text('holds.title'),
    body: html`<p>${reader.text('holds.help')}</p>
      ${holdFacets(visit, texts, counts)} ${mayEnd ? endForm(visit, texts, count, shown) : shown}`,
  };
}

/** The list with its boxes, and the actions for the chosen ones or for all. */
function endForm({ reader, formToken, now, query }: Visit, texts: HoldTexts, count: number, shown: VNode): VNode {
  const isChosen = query('chosen') === 'page';
  const page = holdsAddress(texts, { after: query('after'), chosen: isChosen ? undefined : 'page' });
  const all = count > MOST_HOLDS ? `${reader.number(MOST_HOLDS)}+` : reader.number(count);
  return html`<form method="post" action=${END}>
    ${hidden({ [FORM_TOKEN]: formToken, ...texts, shownAt: String(now) })} ${noDefaultAnswer()}
    <p class="actions">
      <a href=${page}>${reader.text(isChosen ? 'inbox.chooseNone' : 'inbox.choosePage')}</a>
      <button name="what" value="chosen" autofocus=${isChosen}>${reader.text('holds.endChosen')}</button>
      <button name="what" value="all">${reader.text('holds.endAll', { count: all })}</button>
    </p>
    ${shown}
  </form>`;
}

function holdTable(visit: Visit, holds: readonly Hold[], mayEnd: boolean): VNode {
  const { reader, query } = visit;
  const isChosen = query('chosen') === 'page';
  const names = ['record', 'property', 'company', 'placed', 'until', 'reason'] as const;
  return table({
    label: reader.text('holds.title'),
    columns: names.map((name) => reader.text(`holds.${name}`)),
    rows: holds.map((hold) => [
      html`${mayEnd && choiceBox(reader, hold, isChosen)} ${recordName(hold)}`,
      propertyName(visit, hold),
      hold.entity !== undefined && html`<a href=${companyAddress(hold.entity)}><code>${hold.entity}</code></a>`,
      html`${timeOf(reader, hold.since)} <span class="quiet">${placedText(reader, hold)}</span>`,
      hold.until === null ? reader.text('holds.forever') : timeOf(reader, hold.until),
      hold.reason !== null && brief(hold.reason),
    ]),
  });
}

const choiceBox = (reader: Visit['reader'], hold: Hold, isChosen: boolean): VNode => {
  const { provider, recordId, property } = hold;
  const id = `${provider}:${recordId} ${property}`;
  return html`<input type="checkbox" name=${CHOICE} value=${holdPlaceText({ ...hold, until: null })} checked=${isChosen} aria-label=${reader.text('review.choose', { id })} />`;
};
